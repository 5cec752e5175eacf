"""Tests of how Hermes is configured and asked, and what is read of what it tells and keeps."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.chat import CallRecord, Message
from bench_loop.contracts.place import Ended
from bench_loop.errors import HarnessError
from bench_loop.programs.databases import Row
from bench_loop.registry import load
from tests.harnesses.doubles import ACCESS, RecordedPlace, RecordedService

hermes = load("harness", bundled("harnesses"), "hermes")

RUN = "run_1a6b4896d9ad4fb5b064df80a6f4db6b"
READY = {"/health": [(200, b"{}")], "/v1/runs": [(202, json.dumps({"run_id": RUN}).encode())]}

READ = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"p": 1}'}}
SAID = ("assistant", "ANSWER: 42", None, None, None, None, None)
ASKED = ("user", "How much?", None, None, None, None, None)


def event(name: str, **more: Any) -> bytes:
    return b"data: " + json.dumps({"event": name, "run_id": RUN, **more}).encode()


def streamed(*happened: bytes) -> list[bytes]:
    """The lines of a stream of events."""
    return [line for one in happened for line in (one, b"")]


def heard(rows: Sequence[Row] | None, **told: Any) -> Any:
    return hermes.heard(hermes.Told(**told), rows, {"path": "runs"})


# --- Its configuration ---


def test_it_is_told_the_window_of_the_model() -> None:
    assert hermes.configuration(ACCESS, "/work")["model"]["context_length"] == 131_072


def test_a_window_too_small_is_told_as_the_smallest_that_it_starts_with() -> None:
    small = replace(ACCESS, context_window=8192)
    assert hermes.configuration(small, "/work")["model"]["context_length"] == 64_000


@pytest.mark.parametrize(
    ("group", "setting"),
    [
        ("lsp", "enabled"),
        ("security", "allow_lazy_installs"),
        ("security", "tirith_enabled"),
        ("model_catalog", "enabled"),
    ],
)
def test_nothing_is_fetched_while_it_runs(group: str, setting: str) -> None:
    assert hermes.configuration(ACCESS, "/work")[group][setting] is False


def test_nobody_is_asked_to_approve_a_command() -> None:
    assert hermes.configuration(ACCESS, "/work")["approvals"]["mode"] == "off"


def test_each_path_has_a_fingerprint_of_its_own() -> None:
    fingerprints = {hermes.Adapter(path).config_hash for path in hermes.OPTIONS["path"]}
    assert len(fingerprints) == len(hermes.OPTIONS["path"])


def test_a_run_is_what_is_chosen_where_nothing_is() -> None:
    assert hermes.Adapter().path == hermes.OPTIONS["path"][0] == "runs"


# --- By a run of its API server ---


def test_a_run_tells_its_text_and_its_tokens(tmp_path: Path) -> None:
    usage = {"input_tokens": 9, "output_tokens": 2}
    lines = streamed(
        event("message.delta", delta="42"), event("run.completed", output="42", usage=usage)
    )
    place = RecordedPlace(tmp_path, service=RecordedService(READY, lines))
    _, told = hermes.by_run(place, ACCESS, "How much?")
    assert (told.output, told.failure, told.metadata["usage"]) == ("42", None, usage)


def test_the_question_is_sent_as_it_is(tmp_path: Path) -> None:
    service = RecordedService(READY, streamed(event("run.completed", output="42")))
    hermes.by_run(RecordedPlace(tmp_path, service=service), ACCESS, "/init is what?")
    assert ("POST", "/v1/runs", {"input": "/init is what?"}) in service.asked


def test_the_time_in_tools_is_the_sum_of_what_each_took(tmp_path: Path) -> None:
    lines = streamed(
        event("tool.completed", tool="read_file", duration=0.25, error=False),
        event("tool.completed", tool="terminal", duration=1.5, error=True),
        event("run.completed", output="42"),
    )
    place = RecordedPlace(tmp_path, service=RecordedService(READY, lines))
    assert hermes.by_run(place, ACCESS, "?")[1].tools_s == 1.75


@pytest.mark.parametrize("odd", [None, "soon", -1, 1e300, float("nan"), [1]])
def test_a_duration_that_is_none_counts_nothing(tmp_path: Path, odd: object) -> None:
    lines = streamed(event("tool.completed", duration=odd), event("run.completed", output="42"))
    place = RecordedPlace(tmp_path, service=RecordedService(READY, lines))
    assert hermes.by_run(place, ACCESS, "?")[1].tools_s == 0.0


def test_a_failed_run_tells_why(tmp_path: Path) -> None:
    lines = streamed(event("run.failed", error="HTTP 500: trouble"))
    place = RecordedPlace(tmp_path, service=RecordedService(READY, lines))
    _, told = hermes.by_run(place, ACCESS, "?")
    assert (told.output, told.failure) == ("", "HTTP 500: trouble")


def test_a_run_whose_events_break_off_is_stopped(tmp_path: Path) -> None:
    service = RecordedService(READY, streamed(event("tool.started")), breaks=True)
    with pytest.raises(HarnessError):
        hermes.by_run(RecordedPlace(tmp_path, service=service), ACCESS, "?")
    assert service.asked[-1][:2] == ("POST", f"/v1/runs/{RUN}/stop")


def test_events_that_end_before_the_run_are_an_error(tmp_path: Path) -> None:
    service = RecordedService(READY, streamed(event("tool.started")))
    with pytest.raises(HarnessError, match="before the run"):
        hermes.by_run(RecordedPlace(tmp_path, service=service), ACCESS, "?")


@pytest.mark.parametrize("answer", [(429, b'{"run_id": "r"}'), (202, b'{"run_id": "../x"}')])
def test_a_run_that_is_not_taken_is_an_error(tmp_path: Path, answer: tuple[int, bytes]) -> None:
    service = RecordedService({**READY, "/v1/runs": [answer]})
    with pytest.raises(HarnessError, match="took no run"):
        hermes.by_run(RecordedPlace(tmp_path, service=service), ACCESS, "?")


# --- By its one-shot command ---


def one_shot(tmp_path: Path, usage: object, output: bytes = b"ANSWER: 42\n", **more: Any) -> Any:
    place = RecordedPlace(tmp_path, Ended(0, output, b"", 1.0, **more))
    if usage is not None:
        (place.state.here / "usage.json").write_text(json.dumps(usage))
    return hermes.by_one_shot(place, ACCESS, "?")[1]


def test_one_shot_tells_its_text_and_its_tokens(tmp_path: Path) -> None:
    usage = {"failed": False, "completed": True, "input_tokens": 9, "api_calls": 4}
    told = one_shot(tmp_path, usage)
    assert (told.output, told.failure, told.metadata["api_calls"]) == ("ANSWER: 42", None, 4)


def test_a_failure_is_known_though_it_exits_0(tmp_path: Path) -> None:
    usage = {"failed": True, "completed": False}
    told = one_shot(tmp_path, usage, b"API call failed after 3 retries: HTTP 500\n")
    assert (told.output, told.failure) == ("", "API call failed after 3 retries: HTTP 500")


def test_a_run_that_it_calls_incomplete_has_failed(tmp_path: Path) -> None:
    told = one_shot(tmp_path, {"failed": False, "completed": False}, b"Response truncated\n")
    assert told.failure == "Response truncated"


def test_its_own_word_for_a_failure_is_kept(tmp_path: Path) -> None:
    told = one_shot(tmp_path, {"failed": True, "failure": "the window is too small"}, b"")
    assert told.failure == "the window is too small"


def test_one_that_was_ended_has_timed_out(tmp_path: Path) -> None:
    assert one_shot(tmp_path, None, b"", is_timed_out=True).is_timed_out


def test_one_that_ended_without_a_usage_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="no usage file"):
        one_shot(tmp_path, None)


def test_a_question_longer_than_an_argument_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError) as caught:
        hermes.by_one_shot(RecordedPlace(tmp_path), ACCESS, "x" * 130_000)
    assert caught.value.remedy == "Choose --harness-option path=runs."


def test_a_question_that_looks_like_an_option_stays_a_question(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, Ended(0, b"", b"", 1.0, is_timed_out=True))
    hermes.by_one_shot(place, ACCESS, "--version")
    assert "--oneshot=--version" in place.commands[0].argv


# --- What it kept ---


def test_the_transcript_is_what_its_database_holds() -> None:
    rows = [
        ASKED,
        ("assistant", "", json.dumps([READ]), None, None, None, None),
        ("tool", "text", None, "c1", "read_file", None, None),
        ("session_meta", "its own", None, None, None, None, None),
        SAID,
    ]
    said = heard(rows, output="ANSWER: 42")
    assert [message.role for message in said.transcript] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert said.transcript[2] == Message(
        role="tool", content="text", tool_call_id="c1", name="read_file"
    )
    assert said.tool_calls == (CallRecord(id="c1", name="read_file", arguments='{"p": 1}', turn=1),)


def test_content_that_is_kept_in_parts_becomes_text() -> None:
    parts = '\x00json:[{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]'
    (message,) = heard([("user", parts, *[None] * 5)]).transcript
    assert message.content == "one\ntwo"


@pytest.mark.parametrize("odd", ["[", "3", '{"a": 1}', "[" * 100_000, b"x", '[{"function": 1}]'])
def test_calls_that_are_none_do_no_harm(odd: object) -> None:
    said = heard([ASKED, ("assistant", "", odd, None, None, None, None)])
    assert all(call.name == "" for call in said.tool_calls)


def test_words_of_its_own_are_a_failure_and_no_answer() -> None:
    rows = [ASKED, ("assistant", "", json.dumps([READ]), None, None, None, None)]
    said = heard(rows, output="Response truncated due to output length limit")
    assert said.failure == "Response truncated due to output length limit"
    assert said.final_text == ""


def test_a_sentence_in_place_of_the_models_words_is_a_failure() -> None:
    said = heard([ASKED, SAID], output="Stopping: 90 turns are used up.")
    assert (said.final_text, said.failure) == ("ANSWER: 42", "Stopping: 90 turns are used up.")


def test_no_answer_at_all_is_a_failure() -> None:
    assert heard([ASKED], output="").failure == "it gave no answer"


def test_an_answer_whose_thinking_it_took_out_is_the_models() -> None:
    thought = ("assistant", "<think>hm</think>\n\nANSWER: 42", *[None] * 5)
    said = heard([ASKED, thought], output="ANSWER: 42")
    assert (said.final_text, said.failure) == ("ANSWER: 42", None)


def test_a_note_that_it_adds_is_no_part_of_the_answer() -> None:
    said = heard([ASKED, SAID], output="ANSWER: 42\n\nNot modified: `a.py`")
    assert (said.final_text, said.failure) == ("ANSWER: 42", None)
    assert said.metadata["note"] == "Not modified: `a.py`"


def test_what_the_model_said_before_it_failed_is_no_answer_without_its_failure() -> None:
    said = heard([ASKED, SAID], failure="HTTP 500: trouble")
    assert said.failure == "HTTP 500: trouble"


def test_one_that_timed_out_has_no_failure_of_its_own() -> None:
    assert heard([ASKED], is_timed_out=True).failure is None


def test_the_thinking_is_that_of_the_last_reply() -> None:
    rows = [ASKED, (*SAID[:5], None, "first"), (*SAID[:5], "second", None)]
    assert heard(rows, output="ANSWER: 42").thinking == "second"


def test_without_a_database_what_it_said_stands() -> None:
    said = heard(None, output="ANSWER: 42")
    assert (said.final_text, said.failure) == ("ANSWER: 42", None)
    assert said.metadata["transcript_read"] is False


def test_a_real_database_gives_the_rows(tmp_path: Path) -> None:
    columns = "role, content, tool_calls, tool_call_id, tool_name, reasoning_content, reasoning"
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute(f"CREATE TABLE messages (id INTEGER PRIMARY KEY, {columns})")
    connection.execute(f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", SAID)
    connection.commit()
    connection.close()
    assert hermes.read_rows(tmp_path, "state.db", hermes.ROWS) == [SAID]
