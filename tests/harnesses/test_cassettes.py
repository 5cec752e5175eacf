"""Tests of every program on its cassette: no model answers, and every request must be the recorded.

What is read out of the program afterwards is compared with what lies on the cassette.
"""

from __future__ import annotations

import json
import platform
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.gateway.cassette import CassetteUpstream
from bench_loop.programs.check import BROKEN, COPY, FILE, LAST_WORDS, MENDED, TASK
from tests.harnesses.conftest import Find
from tests.harnesses.live import adapter, programs
from tests.harnesses.playing import FOLDER, WORDS, Played, cassette, play

MOST_BYTES = 100_000
"""So much can be reviewed."""

_PLAYED: dict[str, Played] = {}
"""One trial of each program is enough for all that is asked about it."""


@pytest.fixture(params=programs())
def harness(request: pytest.FixtureRequest) -> HarnessAdapter:
    return adapter(request.param)


@pytest.fixture
def played(harness: HarnessAdapter, find_installed: Find) -> Played:
    if harness.name not in _PLAYED:
        program = find_installed(harness)
        _PLAYED[harness.name] = play(harness, program, cassette(harness))
    return _PLAYED[harness.name]


def has_tools(harness: HarnessAdapter) -> bool:
    return "native_tools" in harness.capabilities


# --- With the programs ----------------------------------------------------------------------------


@pytest.mark.real
def test_it_asks_as_it_was_recorded(played: Played) -> None:
    assert played.mismatch is None
    assert played.tried.result.failure is None
    assert {request.status for request in played.tried.requests} == {200}


@pytest.mark.real
def test_the_workspace_is_what_the_recorded_calls_make(
    harness: HarnessAdapter, played: Played
) -> None:
    copied = {COPY: MENDED.encode()} if "run_commands" in harness.capabilities else {}
    assert played.tried.result.files == {FILE: MENDED.encode(), **copied}
    assert sorted(played.tried.result.files_changed) == sorted([FILE, *copied])
    assert "-    return a - b\n+    return a + b" in (played.tried.result.diff or "")


@pytest.mark.real
def test_the_final_text_is_the_last_reply(harness: HarnessAdapter, played: Played) -> None:
    last = "".join(said for said, _ in answers(harness)[-1:])
    assert last.endswith(LAST_WORDS)
    assert played.tried.result.final_text == last


@pytest.mark.real
def test_the_tool_calls_are_those_of_the_replies(harness: HarnessAdapter, played: Played) -> None:
    recorded = [call for _, calls in answers(harness) for call in calls]
    made = [(one.name, json.loads(one.arguments)) for one in played.tried.result.tool_calls]
    assert made == recorded
    assert len(made) == (3 if has_tools(harness) else 0)


@pytest.mark.real
def test_the_transcript_goes_from_the_question_to_the_answer(
    harness: HarnessAdapter, played: Played
) -> None:
    steps = ["assistant", "tool"] * 3 if has_tools(harness) else []
    transcript = played.tried.result.transcript
    assert [message.role for message in transcript] == ["user", *steps, "assistant"]
    assert transcript[0].content == TASK.messages[0].content
    assert [m.tool_call_id for m in transcript if m.role == "tool"] == [
        call.id for m in transcript for call in m.tool_calls
    ]


@pytest.mark.real
def test_what_it_read_came_back_to_the_model(harness: HarnessAdapter, played: Played) -> None:
    reads = [m.content for m in played.tried.result.transcript if m.role == "tool"][:1]
    assert [BROKEN.splitlines()[-1].strip() in text for text in reads] == (
        [True] if has_tools(harness) else []
    )


@pytest.mark.real
def test_the_gateway_counts_what_lies_on_the_cassette(
    harness: HarnessAdapter, played: Played
) -> None:
    usages = [usage_of(exchange) for exchange in exchanges(harness)]
    seen = [request.tokens for request in played.tried.requests]
    assert [(one.prompt, one.completion) for one in seen] == usages


@pytest.mark.real
def test_another_question_is_refused_and_the_difference_named(
    harness: HarnessAdapter, find_installed: Find
) -> None:
    (message,) = TASK.messages
    asked = message.model_copy(update={"content": message.content.replace("Mend", "Repair")})
    other = TASK.model_copy(update={"messages": (asked,)})
    played = play(harness, find_installed(harness), cassette(harness), other, requests=1)
    assert played.mismatch is not None
    assert played.mismatch.startswith(f"{cassette(harness).name}: request 1: body.messages[")
    assert re.search(r"content.* is '<text of .*>', recorded was '<text of .*>'", played.mismatch)
    assert (played.tried.result.files or {})[FILE] == BROKEN.encode()
    assert {request.status for request in played.tried.sent} == {None}


# --- Of the cassettes themselves ------------------------------------------------------------------


def test_there_is_one_of_every_pinned_version_and_no_other() -> None:
    wanted = {cassette(adapter(name)).name for name in programs()}
    assert {file.name for file in FOLDER.iterdir()} == wanted, "record them: make cassettes"


def test_it_can_be_read_and_reviewed(harness: HarnessAdapter) -> None:
    CassetteUpstream(cassette(harness), WORDS)
    assert cassette(harness).stat().st_size < MOST_BYTES


def test_it_tells_no_machine_and_no_day(harness: HarnessAdapter) -> None:
    text = cassette(harness).read_text("utf-8")
    facts = (platform.release(), socket.gethostname(), str(Path.home()))
    told = [fact for fact in facts if re.search(rf"(?<![\w-]){re.escape(fact)}(?![\w-])", text)]
    assert told == []
    assert re.findall(r"\b20[23]\d-\d\d-\d\d\b", text) == []


# --- What lies on one -----------------------------------------------------------------------------


def exchanges(harness: HarnessAdapter) -> list[dict[str, Any]]:
    """Those for replies of the model, without questions for the list of models."""
    lines = cassette(harness).read_text("utf-8").split("\n")
    recorded = [json.loads(line) for line in lines if line][1:]
    return [exchange for exchange in recorded if exchange["method"] == "POST"]


def events(exchange: dict[str, Any]) -> list[dict[str, Any]]:
    text = "".join(exchange["pieces"])
    data = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(one) for one in data if one != "[DONE]"]


def usage_of(exchange: dict[str, Any]) -> tuple[int, int]:
    (usage,) = [event["usage"] for event in events(exchange) if event.get("usage")]
    return usage["prompt_tokens"], usage["completion_tokens"]


def answers(harness: HarnessAdapter) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Of each recorded reply its text and its calls, put together from the pieces."""
    found = []
    for exchange in exchanges(harness):
        deltas = [event["choices"][0]["delta"] for event in events(exchange) if event["choices"]]
        text = "".join(delta.get("content") or "" for delta in deltas)
        parts = [call["function"] for delta in deltas for call in delta.get("tool_calls", ())]
        name = "".join(part.get("name") or "" for part in parts)
        arguments = "".join(part.get("arguments") or "" for part in parts)
        found.append((text, [(name, json.loads(arguments))] if name else []))
    return found
