"""Tests of what the adapter of OpenCode writes, and reads out of recordings of the real program."""

from __future__ import annotations

import json
import time
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

RECORDED = Path(__file__).parent / "recorded" / "opencode"
QUESTION = "What is asked"
DONE = "The sign was wrong.\nANSWER: calc.py"
ACCESS = ModelAccess("http://127.0.0.1:4000/v1", "the-key", "org/model", 32_768, 2_048, 60.0)
STREAM_ERROR = (
    b'timestamp=2026-11-30T16:29:36.636Z level=ERROR run=d24a00bb message="stream error" '
    b"providerID=bench modelID=scripted session.id=ses_1 small=false agent=build mode=primary "
    b'error.error="AI_APICallError: simulated trouble"\n'
)

adapter = load("harness", bundled("harnesses"), "opencode")


def told(stdout: bytes, stderr: bytes = b"", *, exit_status: int | None = 0) -> Said:
    """What the adapter makes of an output and a log."""
    ended = Ended(exit_status, stdout, stderr, 1.0, is_timed_out=exit_status is None)
    said = adapter.read(ended, QUESTION)
    assert isinstance(said, Said)
    return said


def recorded(case: str) -> Said:
    return told((RECORDED / f"{case}.jsonl").read_bytes())


def event(kind: str, message_id: str = "msg_1", **part: object) -> bytes:
    """One line of its output."""
    return json.dumps({"type": kind, "part": {"messageID": message_id, **part}}).encode() + b"\n"


def error(name: str, message: str) -> bytes:
    told_error = {"name": name, "data": {"message": message}}
    return json.dumps({"type": "error", "error": told_error}).encode() + b"\n"


def test_the_final_text_is_that_of_the_last_reply() -> None:
    assert recorded("done").final_text == DONE


def test_texts_of_earlier_replies_are_no_part_of_the_answer() -> None:
    output = event("text", text="I begin.") + event("text", "msg_2", text="ANSWER: 4")
    assert told(output).final_text == "ANSWER: 4"


def test_the_pieces_of_one_reply_belong_together() -> None:
    output = event("text", text="The sum:\n") + event("text", text="ANSWER: 4")
    assert told(output).final_text == "The sum:\nANSWER: 4"


def test_thinking_is_kept_apart() -> None:
    said = told(event("reasoning", text="Let me see. ") + event("text", text="ANSWER: 4"))
    assert (said.thinking, said.final_text) == ("Let me see. ", "ANSWER: 4")


def test_the_transcript_holds_question_calls_and_what_the_tools_answered() -> None:
    question, read, read_reply, wrote, _, ran, run_reply, answer = recorded("done").transcript
    assert question == Message(role="user", content=QUESTION)
    calls = [*read.tool_calls, *wrote.tool_calls, *ran.tool_calls]
    assert [call.name for call in calls] == ["read", "write", "bash"]
    assert "return a - b" in read_reply.content
    assert read_reply.tool_call_id == read.tool_calls[0].id
    assert "Ran 1 test" in run_reply.content
    assert answer == Message(role="assistant", content=DONE)


def test_every_call_has_the_turn_that_made_it() -> None:
    assert [call.turn for call in recorded("done").tool_calls] == [1, 2, 3]


def test_a_good_run_has_no_failure() -> None:
    assert recorded("done").failure is None


def test_the_tokens_of_all_replies_are_added() -> None:
    steps = (
        event("step_finish", tokens={"input": 10, "output": 2}),
        event("step_finish", "msg_2", tokens={"input": 30, "output": 4}),
    )
    metadata = told(b"".join(steps)).metadata
    assert (metadata["input_tokens"], metadata["output_tokens"]) == (40, 6)


def test_calls_side_by_side_take_their_time_once() -> None:
    def call(start: int, end: int) -> bytes:
        return event("tool_use", tool="read", state={"time": {"start": start, "end": end}})

    said = told(call(1_000, 3_000) + call(2_000, 4_000) + call(9_000, 9_500))
    assert said.tools_s == pytest.approx(3.5)


def test_a_call_of_a_tool_that_it_does_not_have_is_told() -> None:
    [call] = recorded("unknown-tool").tool_calls
    assert (call.name, call.is_offered, call.is_well_formed) == ("no_such_tool", False, None)


def test_a_call_with_arguments_that_are_no_json_is_told_with_them() -> None:
    spoilt, mended, *_ = recorded("malformed-arguments").tool_calls
    assert (spoilt.name, spoilt.arguments, spoilt.is_well_formed) == ("read", '{"filePath"', False)
    assert (mended.name, mended.is_well_formed) == ("read", None)


def test_an_error_event_is_the_failure() -> None:
    said = told(error("ContextOverflowError", "prompt exceeds context length"), exit_status=1)
    assert said.failure == "ContextOverflowError: prompt exceeds context length"


def test_an_error_after_which_the_model_answered_is_none() -> None:
    assert told(error("APIError", "busy") + event("text", text="ANSWER: 4")).failure is None


def test_the_log_tells_why_one_that_had_to_be_ended_came_to_no_end() -> None:
    said = told(b"", STREAM_ERROR * 3, exit_status=None)
    assert said.failure == "stream error: AI_APICallError: simulated trouble"


def test_an_error_in_the_log_of_one_that_came_to_its_end_was_got_over() -> None:
    assert told(event("text", text="ANSWER: 4"), STREAM_ERROR).failure is None


def test_an_answer_that_was_cut_again_and_again_is_the_failure() -> None:
    said = told(event("step_finish", reason="unknown"), exit_status=None)
    assert said.failure == "step finished: unknown"


def test_a_program_that_ends_without_an_event_has_broken_its_protocol() -> None:
    with pytest.raises(HarnessError, match=r"status 127.*not found"):
        told(b"", b"sh: opencode: not found\n", exit_status=127)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "part messageID tool callID state input output error time start end text reason "
                "tokens data name message".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(
    kind=st.sampled_from(["text", "tool_use", "reasoning", "step_finish", "error", "other"]),
    part=JSON,
    state=JSON,
)
def test_no_event_however_odd_makes_it_fail(kind: str, part: Any, state: Any) -> None:
    line = json.dumps({"type": kind, "part": part, "error": state}).encode() + b"\n"
    odd = event(kind, tool=part, state=state, text=part, tokens=state, callID=state)
    said = told(line + odd + event("text", "msg_last", text="words"))
    assert said.final_text == "words"


def test_its_model_is_the_one_of_the_trial() -> None:
    configuration = adapter.configuration(ACCESS)
    provider = configuration["provider"]["bench"]
    assert configuration["model"] == "bench/org/model"
    assert provider["options"]["baseURL"] == "http://127.0.0.1:4000/v1"
    assert provider["models"]["org/model"]["limit"] == {"context": 32_768, "output": 2_048}


def test_it_may_do_everything_but_go_to_the_web() -> None:
    permission = adapter.configuration(ACCESS)["permission"]
    assert permission.pop("*") == "allow"
    assert permission == {"webfetch": "deny", "websearch": "deny", "codesearch": "deny"}


def test_a_title_saves_the_request_for_one() -> None:
    assert "--title" in adapter.command("/p/opencode", "/p/rg", "m", "/s/question.txt")


def test_a_log_that_a_command_wrote_is_read_in_a_moment() -> None:
    log = b'level=ERROR message="stream error" ' * 50_000
    started = time.monotonic()
    said = told(b"", log, exit_status=None)
    assert said.failure is None
    assert time.monotonic() - started < 20


def test_an_error_that_a_command_made_up_is_read_in_a_moment() -> None:
    asked = {"tool": "read", "error": "Text: " * 100_000 + ".\nError message:"}
    started = time.monotonic()
    said = told(event("tool_use", tool="invalid", state={"input": asked}))
    assert time.monotonic() - started < 20
    assert said.tool_calls[0].arguments == ""
