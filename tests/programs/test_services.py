"""A program that serves is asked once: when it is ready, and until its deadline."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.contracts.place import Service
from bench_loop.errors import HarnessError
from bench_loop.programs.services import STOP_S, Server, ask_once, events
from tests.harnesses.doubles import RecordedPlace, RecordedService

SERVER = Server(("program", "serve"), {"A": "1"}, 4002, "/ready", {})


def _answer(service: Service, deadline: float) -> str:
    return "told"


def _never(service: Service, deadline: float) -> str:
    raise HarnessError("It broke off.")


def test_it_is_asked_only_when_it_answers_with_200(tmp_path: Path) -> None:
    service = RecordedService({"/ready": [(503, b""), (401, b""), (200, b"")]})
    served = ask_once(RecordedPlace(tmp_path, service=service), SERVER, 60.0, _answer)
    assert served.told == "told"
    assert len(service.asked) == 3


def test_its_start_is_measured(tmp_path: Path) -> None:
    service = RecordedService({"/ready": [(503, b""), (200, b"")]})
    served = ask_once(RecordedPlace(tmp_path, service=service), SERVER, 60.0, _answer)
    assert served.start_s is not None
    assert served.start_s > 0


def test_it_gets_some_seconds_beyond_the_deadline_to_end_by_itself(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, service=RecordedService({"/ready": [(200, b"")]}))
    ask_once(place, SERVER, 60.0, _answer)
    assert [command.wall_s for command in place.commands] == [60.0 + STOP_S]


def test_one_that_breaks_in_time_is_an_error(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, service=RecordedService({"/ready": [(200, b"")]}))
    with pytest.raises(HarnessError, match="It broke off"):
        ask_once(place, SERVER, 60.0, _never)


def test_one_that_breaks_at_the_deadline_has_timed_out(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, service=RecordedService({"/ready": [(200, b"")]}))
    served = ask_once(place, SERVER, 0.0, _never)
    assert (served.told, served.ended.is_timed_out) == (None, True)


def test_one_that_is_never_ready_before_its_deadline_has_timed_out(tmp_path: Path) -> None:
    place = RecordedPlace(tmp_path, service=RecordedService({"/ready": [(503, b"")]}))
    served = ask_once(place, SERVER, 0.3, _answer)
    assert (served.told, served.start_s, served.ended.is_timed_out) == (None, None, True)


def test_events_have_a_name_and_an_object() -> None:
    lines = [b"event: progress", b'data: {"tool": "read"}', b"", b'data: {"x": 1}\r', b"\r"]
    assert list(events(lines)) == [("progress", {"tool": "read"}), ("", {"x": 1})]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"data: [DONE]", id="the end mark"),
        pytest.param(b": keepalive", id="a comment"),
        pytest.param(b'data: {"cut', id="no whole JSON"),
        pytest.param(b"data: " + b"[" * 100_000, id="too deep"),
        pytest.param(b"data: 3", id="no object"),
    ],
)
def test_what_is_no_event_is_passed_over(line: bytes) -> None:
    assert list(events([line, b"", b'data: {"x": 1}', b""])) == [("", {"x": 1})]
