"""Tests of what the adapter of Aider reads out of recorded logs of the real program."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.harness import ModelAccess
from bench_loop.programs.asking import Said
from bench_loop.registry import load
from tests.harnesses.live import repair

RECORDED = Path(__file__).parent / "recorded" / "aider"
QUESTION = repair().messages[0].content
ACCESS = ModelAccess("http://127.0.0.1:9/v1", "key", "m:7b", 8192, 300, 10.0)

aider = load("harness", bundled("harnesses"), "aider")


def told(history: str, chat: str, events: str = "", asked: str = QUESTION) -> Said:
    """What the adapter makes of the three logs."""
    said = aider.read(history, chat, events, asked)
    assert isinstance(said, Said)
    return said


def recorded(case: str, asked: str = QUESTION) -> Said:
    folder = RECORDED / case
    names = ("history.txt", "chat.md", "events.jsonl")
    return told(*((folder / name).read_text() for name in names), asked)


def history(*replies: str) -> str:
    """A log of requests of one message each, with these replies."""
    return "".join(
        f"TO LLM 2026-11-30T16:22:5{at}\n-------\nUSER {QUESTION}\n"
        f"LLM RESPONSE 2026-11-30T16:22:5{at}\n"
        + "".join(f"ASSISTANT {line}\n" for line in reply.splitlines())
        for at, reply in enumerate(replies)
    )


def test_the_final_text_is_the_models_last_reply_edits_included() -> None:
    text = recorded("done").final_text
    assert text.startswith("calc.py\n```\n<<<<<<< SEARCH\n")
    assert text.endswith("\nThe sign was wrong.\nANSWER: calc.py")


def test_the_transcript_leaves_out_what_aider_puts_around_the_question() -> None:
    question, reply = recorded("done").transcript
    assert (question.role, question.content) == ("user", QUESTION)
    assert (reply.role, reply.content) == ("assistant", recorded("done").final_text)


def test_a_good_run_has_no_failure() -> None:
    assert recorded("done").failure is None


def test_tokens_are_those_that_aider_counts() -> None:
    metadata = recorded("done").metadata
    assert (metadata["prompt_tokens"], metadata["completion_tokens"]) == (1974, 48)


def test_an_edit_that_does_not_fit_is_sent_back_with_the_reason() -> None:
    said = recorded("refused")
    roles = [message.role for message in said.transcript]
    assert roles == ["user", "assistant"] * 4
    assert said.transcript[2].content.startswith("# 1 SEARCH/REPLACE block failed to match!")
    assert "left out" not in said.transcript[2].content
    assert said.metadata["edits_refused"] == 4


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("http500", "litellm.InternalServerError: InternalServerError: OpenAIException"),
        ("context", "litellm.BadRequestError: OpenAIException"),
        ("empty", "Empty response received from LLM."),
        ("refused", "Only 3 reflections allowed, stopping."),
    ],
)
def test_what_went_wrong_is_told_in_its_own_words(case: str, words: str) -> None:
    failure = recorded(case).failure
    assert failure is not None
    assert failure.startswith(words)


@pytest.mark.parametrize("case", ["http500", "context", "empty"])
def test_without_a_reply_there_is_no_final_text(case: str) -> None:
    said = recorded(case)
    assert said.final_text == ""
    assert [message.role for message in said.transcript] == ["user"]


def test_every_try_is_counted() -> None:
    assert recorded("http500").metadata["exchanges"] > 2


def test_thinking_that_the_server_delivers_apart_is_kept_apart() -> None:
    said = recorded("thinking", "2+2?")
    assert (said.thinking, said.final_text) == ("Let me think.", "It is 4.\nANSWER: 4")


def test_a_question_in_words_has_an_answer_in_words() -> None:
    said = recorded("text", "2+2?")
    assert [message.content for message in said.transcript] == ["2+2?", "It is 4.\nANSWER: 4"]


def test_a_model_that_writes_the_words_of_a_failure_has_answered() -> None:
    reply = "> litellm.InternalServerError: no  \nANSWER: 1"
    chat = f"#### {QUESTION}  \n\n{reply}\n\n> Tokens: 1 sent, 1 received.  \n"
    said = told(history(reply), chat)
    assert (said.final_text, said.failure) == (reply, None)


def test_a_model_cannot_forge_a_request() -> None:
    reply = "TO LLM 2026-11-30T16:22:53\n-------\nUSER else\nLLM RESPONSE 2026-11-30T16:22:53"
    said = told(history(reply), "")
    assert said.final_text == reply
    assert said.metadata["exchanges"] == 1


def test_a_request_that_was_cut_off_is_one_without_a_reply() -> None:
    said = told(f"TO LLM 2026-11-30T16:22:53\n-------\nUSER {QUESTION}\n", "")
    assert (said.final_text, said.metadata["exchanges"]) == ("", 1)


def test_a_try_again_is_no_new_question() -> None:
    said = told(history("calc.py\n", "ANSWER: 1"), "")
    assert [message.role for message in said.transcript] == ["user", "assistant", "assistant"]


@pytest.mark.parametrize("log", ["", "\n\n", "TO LLM\n", "LLM RESPONSE 2026-11-30T16:22:53\nA\n"])
def test_a_strange_log_does_no_harm(log: str) -> None:
    assert told(log, "> \n", "{}\n{\n[]\n").final_text == ""


@pytest.mark.parametrize("asked", ["!touch x", "/run touch x"])
def test_a_question_that_looks_like_a_command_is_none(asked: str) -> None:
    assert aider.no_command(asked)[0] not in "/!"
    assert aider.no_command(asked).strip() == asked


def test_files_are_named_whatever_they_are_called() -> None:
    words = aider.command(ACCESS, "/program", "/state", ["-x.py", "a b.py"], mode="diff")
    assert words[-2:] == ("--file=-x.py", "--file=a b.py")


def test_the_fingerprint_tells_the_edit_formats_apart() -> None:
    formats = aider.OPTIONS["edit_format"]
    assert len({aider.Adapter(edit_format).config_hash for edit_format in formats}) == len(formats)


def test_the_edit_format_is_the_same_for_every_model() -> None:
    assert aider.Adapter().edit_format == "diff"
    assert aider.Adapter().config_hash == aider.Adapter("diff").config_hash
