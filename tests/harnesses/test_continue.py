"""Tests of what the adapter of Continue writes, and reads out of recordings of the real program."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.config import bundled
from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import ModelAccess
from bench_loop.contracts.place import Ended
from bench_loop.errors import HarnessError
from bench_loop.programs.asking import Said
from bench_loop.registry import load

RECORDED = Path(__file__).parent / "recorded" / "continue"
QUESTION = "What is asked"
DONE = "The sign was wrong.\nANSWER: calc.py"
ACCESS = ModelAccess("http://127.0.0.1:4000/v1", "the-key", "org/model", 32_768, 2_048, 60.0)

adapter = load("harness", bundled("harnesses"), "continue")


def told(
    session: Any = None, stdout: bytes = b"", stderr: bytes = b"", *, exit_status: int | None = 0
) -> Said:
    """What the adapter makes of what a program left."""
    ended = Ended(exit_status, stdout, stderr, 1.0, is_timed_out=exit_status is None)
    said = adapter.read(ended, session or {}, QUESTION)
    assert isinstance(said, Said)
    return said


def recorded(case: str, stdout: bytes = DONE.encode() + b"\n") -> Said:
    return told(json.loads((RECORDED / f"{case}.json").read_bytes()), stdout)


def test_the_final_text_is_what_it_prints() -> None:
    assert recorded("done").final_text == DONE


def test_an_answer_in_json_is_kept_as_the_model_wrote_it() -> None:
    assert told(stdout=b'{"response": 4}\n').final_text == '{"response": 4}'


def test_the_transcript_holds_question_calls_and_what_the_tools_answered() -> None:
    question, read, read_reply, wrote, _, ran, run_reply, answer = recorded("done").transcript
    assert question == Message(role="user", content=QUESTION)
    calls = [*read.tool_calls, *wrote.tool_calls, *ran.tool_calls]
    assert [call.name for call in calls] == ["Read", "Write", "Bash"]
    assert "return a - b" in read_reply.content
    assert read_reply.tool_call_id == read.tool_calls[0].id
    assert "Ran 1 test" in run_reply.content
    assert answer == Message(role="assistant", content=DONE)


def test_every_call_has_the_turn_that_made_it() -> None:
    assert [call.turn for call in recorded("done").tool_calls] == [1, 2, 3]


def test_a_good_run_has_no_failure() -> None:
    assert recorded("done").failure is None


def test_the_tokens_that_it_counted_are_kept() -> None:
    metadata = recorded("done").metadata
    assert metadata["input_tokens"] > metadata["output_tokens"] > 0


def test_a_call_of_a_tool_that_it_does_not_have_is_told() -> None:
    [call] = recorded("unknown-tool").tool_calls
    assert (call.name, call.is_offered, call.is_well_formed) == ("no_such_tool", False, None)


def test_a_call_with_arguments_that_are_no_json_is_told() -> None:
    spoilt, mended, *_ = recorded("malformed-arguments").tool_calls
    assert (spoilt.name, spoilt.is_well_formed) == ("Read", False)
    assert (mended.name, mended.is_well_formed) == ("Read", None)


def test_a_command_that_it_refuses_ends_its_work_and_is_the_failure() -> None:
    said = recorded("refused", b"")
    assert said.failure == "Bash: Command blocked by security policy"
    assert said.final_text == ""


def test_an_error_of_the_server_is_the_failure() -> None:
    error = b'{"status":"error","message":"400 prompt exceeds context length 4096"}\n'
    said = told(stderr=error, exit_status=1)
    assert said.failure == "400 prompt exceeds context length 4096"


def test_its_tool_exit_leaves_nothing_but_the_status() -> None:
    failure = told(exit_status=1).failure
    assert failure is not None
    assert "status 1" in failure


def test_one_that_had_to_be_ended_has_told_nothing_and_did_not_fail() -> None:
    said = told(exit_status=None)
    assert (said.final_text, said.failure) == ("", None)


def test_an_empty_answer_is_one() -> None:
    asked = {"message": {"role": "user", "content": QUESTION}, "contextItems": []}
    said = told({"history": [asked]})
    assert (said.final_text, said.failure) == ("", None)


def test_a_program_that_ends_without_a_word_has_broken_its_protocol() -> None:
    with pytest.raises(HarnessError, match=r"127.*node: not found"):
        told(stderr=b"env: node: not found\n", exit_status=127)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "history message role content toolCallStates toolCall function name arguments "
                "status output usage promptTokens parsedArgs toolCallId text".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(history=JSON, usage=JSON)
def test_no_session_however_odd_makes_it_fail(history: Any, usage: Any) -> None:
    item = {"message": {"role": "assistant", "content": history}, "toolCallStates": history}
    said = told({"history": [item, history], "usage": usage}, b"words")
    assert said.final_text == "words"


def test_it_is_not_told_to_make_the_model_answer_in_json() -> None:
    assert "--format" not in adapter.command("/p/cn", "/p/rg", "/s", "/s/question.txt")


def test_the_tools_that_change_files_are_offered_and_those_for_a_person_are_not() -> None:
    words = adapter.command("/p/cn", "/p/rg", "/s", "/s/question.txt")
    pairs = set(pairwise(words))
    assert {("--allow", "Write"), ("--allow", "Edit"), ("--allow", "MultiEdit")} <= pairs
    assert {("--exclude", "AskQuestion"), ("--exclude", "Fetch")} <= pairs
    assert "--auto" not in words  # it would undo the exclusions


def test_its_model_is_the_one_of_the_trial() -> None:
    [model] = adapter.configuration(ACCESS)["models"]
    assert (model["model"], model["apiBase"]) == ("org/model", "http://127.0.0.1:4000/v1")
    assert model["defaultCompletionOptions"] == {"contextLength": 32_768, "maxTokens": 2_048}


def test_a_reply_gets_a_part_of_a_small_window_at_most() -> None:
    small = ModelAccess("http://127.0.0.1:4000/v1", "k", "m", 4_096, 8_192, 60.0)
    [model] = adapter.configuration(small)["models"]
    assert model["defaultCompletionOptions"]["maxTokens"] == 1_024
