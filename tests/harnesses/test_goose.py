"""Tests of what the adapter of Goose reads out of recorded outputs of the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import ModelAccess
from bench_loop.programs.asking import Said
from bench_loop.registry import load

RECORDED = Path(__file__).parent / "recorded" / "goose"
QUESTION = "What is asked"

goose = load("harness", bundled("harnesses"), "goose")


def told(output: bytes) -> Said:
    """What the adapter makes of an output."""
    said = goose.read(output, QUESTION)
    assert isinstance(said, Said)
    return said


def recorded(case: str) -> Said:
    return told((RECORDED / f"{case}.jsonl").read_bytes())


def own_words(text: str) -> bytes:
    """A message of Goose's own."""
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "metadata": {"userVisible": True}}
    return json.dumps({"type": "message", "message": message}).encode() + b"\n"


def model_words(text: str) -> bytes:
    """A piece of what the model says."""
    metadata = {"inference": {"provider": "openai", "requestedModel": "m"}}
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "metadata": metadata}
    return json.dumps({"type": "message", "message": message}).encode() + b"\n"


def test_the_pieces_of_a_reply_become_one_final_text() -> None:
    assert recorded("done").final_text == "The sign was wrong.\nANSWER: calc.py"


def test_the_transcript_holds_question_calls_and_what_the_tools_answered() -> None:
    question, wrote, write_reply, ran, run_reply, answer = recorded("done").transcript
    assert question == Message(role="user", content=QUESTION)
    assert [call.name for call in (*wrote.tool_calls, *ran.tool_calls)] == ["write", "shell"]
    assert write_reply == Message(
        role="tool", content="Wrote calc.py (2 lines)", tool_call_id=wrote.tool_calls[0].id
    )
    assert "Ran 1 test" in run_reply.content
    assert answer.content == "The sign was wrong.\nANSWER: calc.py"


def test_a_good_run_has_no_failure_and_no_limit() -> None:
    said = recorded("done")
    assert (said.failure, said.limit) == (None, None)


def test_tokens_are_those_that_goose_counts() -> None:
    metadata = recorded("done").metadata
    assert metadata["input_tokens"] > 3000
    assert metadata["output_tokens"] > 20


def test_calls_of_one_reply_have_the_same_turn() -> None:
    calls = recorded("wrong_calls").tool_calls
    assert [(call.turn, call.name) for call in calls[:2]] == [(1, "shell"), (1, "shell")]
    assert [call.turn for call in calls[2:]] == [2, 3]


def test_a_call_of_a_tool_that_was_not_offered_is_told_with_its_name() -> None:
    call = recorded("wrong_calls").tool_calls[2]
    assert (call.name, call.is_offered, call.is_well_formed) == ("teleport", False, None)


def test_a_call_whose_arguments_cannot_be_read_is_not_well_formed() -> None:
    call = recorded("wrong_calls").tool_calls[3]
    assert (call.is_offered, call.is_well_formed) == (None, False)


def test_thinking_is_kept_apart_from_the_answer() -> None:
    said = recorded("wrong_calls")
    assert (said.thinking, said.final_text) == ("Let me think.", "It is 4.\nANSWER: 4")


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("http500", "Ran into this error: Server error: Server error (500"),
        ("context", "Ran into this error trying to compact"),
        ("empty", "The model returned an empty response"),
        ("broken", "Network error: Stream decode error"),
    ],
)
def test_words_of_its_own_are_a_failure_and_no_answer(case: str, words: str) -> None:
    said = recorded(case)
    assert said.final_text == ""
    assert said.failure is not None
    assert said.failure.startswith(words)


def test_a_model_that_writes_the_words_of_a_failure_has_answered() -> None:
    said = told(model_words("Ran into this error: none."))
    assert (said.final_text, said.failure) == ("Ran into this error: none.", None)


def test_an_error_that_was_got_over_is_no_failure() -> None:
    assert told(own_words("Network error: once.") + model_words("Done.")).failure is None


def test_notices_are_kept_and_are_no_failure_by_themselves() -> None:
    assert "Context limit reached" in recorded("context").metadata["notices"]


def test_its_own_limit_of_replies_is_told_as_one() -> None:
    words = "I've reached the maximum number of actions I can do without user input."
    said = told(model_words("I go on.") + own_words(words))
    assert (said.limit, said.final_text) == ("turns", "I go on.")


def test_what_was_done_before_it_was_killed_is_known() -> None:
    said = recorded("killed")
    assert [call.name for call in said.tool_calls] == ["shell"]
    assert said.final_text == ""


def test_an_output_that_is_empty_says_nothing() -> None:
    said = told(b"")
    assert (said.final_text, said.failure, len(said.transcript)) == ("", None, 1)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"message","message":null}',
        b'{"type":"message","message":{"role":"assistant","content":"text"}}',
        b'{"type":"message","message":{"role":7,"content":[7,{"type":"toolRequest"}]}}',
        b'{"type":"message","message":{"role":"user","content":[{"type":"toolResponse"}]}}',
        b'{"type":"message","message":{"role":"assistant","metadata":{"inference":{}},'
        b'"content":[{"type":"toolRequest","id":9,"toolCall":{"value":{"arguments":[1]}}}]}}',
        b'{"type":"complete","input_tokens":-1,"output_tokens":1e400}',
        b"[" * 100_000,
        b"\xff\xfe not text",
    ],
)
def test_a_strange_line_does_no_harm(line: bytes) -> None:
    said = told(line + b"\n" + model_words("Done."))
    assert said.final_text == "Done."


def test_its_configuration_has_one_fingerprint_whatever_the_trial() -> None:
    assert goose.Adapter().config_hash == goose.Adapter().config_hash
    assert goose.Adapter().config_hash.startswith("sha256:")


def test_the_model_is_reached_only_through_the_gateway() -> None:
    access = ModelAccess("http://127.0.0.1:9/v1", "key", "model", 8192, 300, 10.0)
    env = goose.environment(access, "/state")
    assert env["OPENAI_HOST"] == "http://127.0.0.1:9"
    assert env["OPENAI_API_KEY"] == "key"
    assert (env["GOOSE_CONTEXT_LIMIT"], env["GOOSE_MAX_TOKENS"]) == ("8192", "300")
