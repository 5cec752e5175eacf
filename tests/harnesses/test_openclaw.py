"""Tests of how OpenClaw is configured and asked, and what is read of what it tells and keeps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.chat import CallRecord, Message
from bench_loop.contracts.place import Ended
from bench_loop.errors import HarnessError
from bench_loop.registry import load
from tests.harnesses.doubles import ACCESS, RecordedPlace, RecordedService
from tests.harnesses.live import repair, task

openclaw = load("harness", bundled("harnesses"), "openclaw")

READY = {"/v1/models": [(200, b"{}")]}
ENVELOPE = {
    "ok": True,
    "status": "ok",
    "final": "ANSWER: 42",
    "usage": {"input": 9, "output": 2, "cost": {"total": 0}},
    "assistantTurns": 1,
    "toolSummary": {"calls": 2, "tools": ["read", "exec"], "failures": 1},
    "sessionId": "160fc06a",
}


def ended(envelope: object, exit_status: int = 0, **more: Any) -> Ended:
    return Ended(exit_status, json.dumps(envelope, indent=2).encode(), b"", 1.0, **more)


def chunk(text: str = "", finish_reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish_reason}
    return b"data: " + json.dumps({"choices": [choice], **more}).encode()


def streamed(*chunks: bytes) -> list[bytes]:
    """The lines of a streamed chat."""
    return [line for one in (*chunks, b"data: [DONE]") for line in (one, b"")]


def kept(role: str, content: object, second: int = 0, **more: Any) -> dict[str, Any]:
    """An event of its database: one message of a transcript."""
    message = {"role": role, "content": content, **more}
    date = f"2026-01-01T00:00:{second:02}.500Z"
    return {"type": "message", "timestamp": date, "message": message}


def calling(second: int = 0) -> dict[str, Any]:
    part = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "calc.py"}}
    return kept("assistant", [part], second, stopReason="toolUse")


def result_of_it(second: int = 0) -> dict[str, Any]:
    content = [{"type": "text", "text": "def add"}]
    return kept("toolResult", content, second, toolCallId="c1", toolName="read")


def heard(events: object, **told: Any) -> Any:
    return openclaw.heard(openclaw.Told(**told), events, {"path": "exec"})


# --- Its configuration ---


def test_it_is_told_the_window_and_the_budget_of_a_reply() -> None:
    provider = openclaw.configuration(ACCESS, "/work", "/state")["models"]["providers"]["bench"]
    (model,) = provider["models"]
    assert (model["contextWindow"], model["maxTokens"]) == (131_072, 2048)


def test_a_model_may_be_silent_as_long_as_the_trial_lasts() -> None:
    patient = replace(ACCESS, wall_s=3000.5)
    provider = openclaw.configuration(patient, "/work", "/state")["models"]["providers"]["bench"]
    assert provider["timeoutSeconds"] == 3001


def test_no_part_of_a_models_name_is_taken_for_an_account(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, ended(ENVELOPE))
    openclaw.by_exec(place, replace(ACCESS, model_id="org/model@q4"), "?")
    settings = json.loads((place.state.here / "openclaw.json").read_text())
    assert settings["agents"]["defaults"]["model"]["primary"] == "bench/org/model-q4"
    assert settings["models"]["providers"]["bench"]["models"][0]["id"] == "org/model-q4"
    assert "bench/org/model-q4" in place.commands[0].argv


def test_its_log_lies_in_the_state_folder() -> None:
    logging = openclaw.configuration(ACCESS, "/work", "/state")["logging"]
    assert logging["file"].startswith("/state/")


def test_it_has_no_memory() -> None:
    assert openclaw.configuration(ACCESS, "/work", "/state")["plugins"]["slots"]["memory"] == "none"


def test_only_its_gateway_serves(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, ended(ENVELOPE))
    openclaw.by_exec(place, ACCESS, "?")
    assert "gateway" not in json.loads((place.state.here / "openclaw.json").read_text())


def test_its_gateway_listens_on_loopback_with_a_token(tmp_path: Path) -> None:
    service = RecordedService(READY, streamed(chunk("42", "stop")))
    place = RecordedPlace(tmp_path, service=service)
    openclaw.by_gateway(place, ACCESS, "?")
    gateway = json.loads((place.state.here / "openclaw.json").read_text())["gateway"]
    assert (gateway["bind"], gateway["auth"]["mode"]) == ("loopback", "token")
    assert len(gateway["auth"]["token"]) >= 32


def test_each_path_has_a_fingerprint_of_its_own() -> None:
    fingerprints = {openclaw.Adapter(path).config_hash for path in openclaw.OPTIONS["path"]}
    assert len(fingerprints) == len(openclaw.OPTIONS["path"])


@pytest.mark.parametrize(
    ("choice", "of_a_question", "of_a_workspace"),
    [
        ("auto", "exec", "gateway"),
        ("exec", "exec", "exec"),
        ("gateway", "gateway", "gateway"),
    ],
)
def test_the_path_is_chosen_by_the_task_unless_it_is_given(
    choice: str, of_a_question: str, of_a_workspace: str
) -> None:
    adapter = openclaw.Adapter(choice)
    assert adapter.path_for(task("How much?")) == of_a_question
    assert adapter.path_for(repair()) == of_a_workspace


# --- By `agent exec` ---


def test_its_envelope_tells_the_text(tmp_path: Path) -> None:
    _, told = openclaw.by_exec(RecordedPlace(tmp_path, ended(ENVELOPE)), ACCESS, "?")
    assert (told.final_text, told.failure) == ("ANSWER: 42", None)


def test_what_it_tells_of_itself_is_kept_without_a_price() -> None:
    told = openclaw.told_by_envelope(ended(ENVELOPE))
    metadata = heard([], final_text="", metadata=told.metadata).metadata
    assert metadata["usage.input"] == 9
    assert metadata["toolSummary.tools"] == "read, exec"
    assert metadata["toolSummary.failures"] == 1
    assert not [name for name in metadata if "cost" in name or "session" in name]


def test_the_question_is_given_in_a_file(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, ended(ENVELOPE))
    openclaw.by_exec(place, ACCESS, "--help " + "x" * 200_000)
    argv = place.commands[0].argv
    file = argv[argv.index("--message-file") + 1].replace("/bench/state", str(place.state.here))
    assert Path(file).read_text().startswith("--help xxx")


def test_a_failure_is_its_kind_and_its_sentence() -> None:
    error = {"kind": "context_overflow", "message": "the prompt is too long"}
    told = openclaw.told_by_envelope(ended({"ok": False, "status": "error", "error": error}, 1))
    assert told.failure == "context_overflow: the prompt is too long"


def test_a_failure_without_a_kind_is_its_status() -> None:
    assert openclaw.told_by_envelope(ended({"ok": False, "status": "timeout"}, 2)).failure == (
        "timeout"
    )


def test_one_that_was_ended_has_timed_out() -> None:
    told = openclaw.told_by_envelope(Ended(None, b"", b"", 60.0, is_timed_out=True))
    assert (told.is_timed_out, told.failure) == (True, None)


def test_one_that_printed_no_envelope_is_an_error() -> None:
    refused = Ended(1, b"", b"openclaw: Node.js 24.16 or newer is needed\n", 1.0)
    with pytest.raises(HarnessError, match=r"Node\.js 24\.16"):
        openclaw.told_by_envelope(refused)


# --- By its gateway ---


def chatted(tmp_path: Path, *chunks: bytes) -> Any:
    service = RecordedService(READY, streamed(*chunks))
    return openclaw.by_gateway(RecordedPlace(tmp_path, service=service), ACCESS, "?")[1]


def test_the_pieces_of_a_chat_become_one_text(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    told = chatted(
        tmp_path, chunk("ANSWER"), chunk(": 42"), chunk(finish_reason="stop"), chunk(usage=usage)
    )
    assert (told.final_text, told.failure, told.metadata["usage"]) == ("ANSWER: 42", None, usage)


def test_the_chat_is_streamed_so_that_hanging_up_ends_it(tmp_path: Path) -> None:
    service = RecordedService(READY, streamed(chunk("42", "stop")))
    openclaw.by_gateway(RecordedPlace(tmp_path, service=service), ACCESS, "How much?")
    method, path, body = service.asked[-1]
    assert (method, path, body["stream"]) == ("POST", "/v1/chat/completions", True)
    assert body["messages"] == [{"role": "user", "content": "How much?"}]


def test_an_error_in_the_stream_is_a_failure(tmp_path: Path) -> None:
    error = b'data: {"error": {"message": "internal error", "type": "api_error"}}'
    assert chatted(tmp_path, chunk(""), error).failure == "internal error"


def test_its_transcript_says_why_where_its_gateway_does_not() -> None:
    why = "Provider returned an incomplete or malformed tool call"
    rows = [kept("assistant", [], stopReason="error", errorMessage=why)]
    assert heard(rows, failure="internal error").failure == f"internal error: {why}"


def test_an_error_of_an_earlier_reply_is_no_failure() -> None:
    rows = [kept("assistant", [], errorMessage="again"), kept("assistant", "ANSWER: 42")]
    assert heard(rows, final_text="ANSWER: 42").failure is None


def test_a_stream_that_ends_before_the_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="before it was whole"):
        chatted(tmp_path, chunk("ANS"))


# --- What it kept ---


def test_the_transcript_is_what_its_database_holds() -> None:
    rows = [
        {"type": "session", "version": 4},
        kept("user", "How much?"),
        calling(),
        result_of_it(),
        kept("assistant", [{"type": "text", "text": "ANSWER: 42"}]),
    ]
    said = heard(rows, final_text="ANSWER: 42")
    assert [(one.role, one.content) for one in said.transcript] == [
        ("user", "How much?"),
        ("assistant", ""),
        ("tool", "def add"),
        ("assistant", "ANSWER: 42"),
    ]
    assert said.transcript[2] == Message(
        role="tool", content="def add", tool_call_id="c1", name="read"
    )
    assert said.tool_calls == (
        CallRecord(id="c1", name="read", arguments='{"path": "calc.py"}', turn=1),
    )


def test_the_thinking_is_that_of_the_last_reply() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ANSWER: 42"}]
    said = heard([kept("assistant", parts)], final_text="ANSWER: 42")
    assert (said.thinking, said.transcript[0].content) == ("hm", "ANSWER: 42")


def test_the_time_in_tools_is_from_a_reply_to_the_last_result() -> None:
    rows = [calling(1), result_of_it(3), result_of_it(4), calling(10), result_of_it(11)]
    assert heard(rows).tools_s == 4.0


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"type": ["message"]}, id="another type"),
        pytest.param({"type": "message"}, id="no message"),
        pytest.param({"type": "message", "message": {"role": 3}}, id="no role"),
        pytest.param(kept("system", "x"), id="another role"),
    ],
)
def test_an_event_that_is_no_message_is_left_out(odd: dict[str, Any]) -> None:
    said = heard([odd, kept("user", "How much?")])
    assert [message.content for message in said.transcript] == ["How much?"]


def test_its_database_is_read_where_it_ran(tmp_path: Path) -> None:
    lines = b'{"type": "session"}\n{"type": "message"}\n'
    place = RecordedPlace(tmp_path, Ended(0, lines, b"", 0.1))
    assert openclaw.kept_events(place) == [{"type": "session"}, {"type": "message"}]
    assert place.commands[0].argv[0] == "node"
    assert place.commands[0].argv[-1] == f"/bench/state/{openclaw.DATABASE}"


def test_a_database_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, Ended(1, b"", b"no such table", 0.1))
    assert openclaw.kept_events(place) is None


@pytest.mark.parametrize("odd", [3, None, [3], [{"type": "toolCall"}], [{"type": "text"}], {}])
def test_content_of_another_shape_does_no_harm(odd: object) -> None:
    assert heard([kept("assistant", odd)]).transcript[0].content == ""


@pytest.mark.parametrize("date", [None, "soon", 3, "9999-12-31T23:59:59-23:59"])
def test_a_date_that_is_none_counts_nothing(date: object) -> None:
    message = {"role": "assistant", "content": []}
    odd = {"type": "message", "timestamp": date, "message": message}
    assert heard([odd, result_of_it(3)]).tools_s == 0.0


def test_without_a_database_nothing_is_made_up() -> None:
    said = heard(None, final_text="ANSWER: 42")
    assert (said.final_text, said.transcript, said.tools_s) == ("ANSWER: 42", (), None)
    assert said.metadata["transcript_read"] is False
