"""Talking to a program that serves HTTP: its start, and the events that it streams."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from bench_loop.contracts.place import Command, Ended, Place, Service
from bench_loop.errors import HarnessError

START_S = 180.0
"""The slowest of the programs takes 8 to 18 seconds, several times that on a busy machine."""

STOP_S = 15.0
"""Beyond the deadline, in which a program is told to stop before it is ended."""

MOST_EVENT_BYTES = 8 * 1024 * 1024
_PAUSE_S = 0.2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Served(Generic[T]):
    """What came of a program that was started to be asked once."""

    ended: Ended
    told: T | None
    """Its answer; None: the deadline passed before there was one."""
    start_s: float | None
    """Until it answered at all; None: it did not."""


@dataclass(frozen=True, slots=True)
class Server:
    """How a program is made to serve."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    port: int
    ready: str
    """Path that it answers with 200 when it is ready."""
    headers: Mapping[str, str]


def ask_once(
    place: Place, server: Server, wall_s: float, ask: Callable[[Service, float], T]
) -> Served[T]:
    """Start a program, `ask` it when it is ready, and end it; all that within `wall_s` seconds.

    `ask` is told the time at which it must be over, on the monotonic clock. Raises HarnessError
    when the program ends early, or is not ready within START_S, and as `ask` does in time.
    """
    started = time.monotonic()
    deadline = started + wall_s
    start_s: float | None = None
    told: T | None = None
    command = Command(server.argv, wall_s + STOP_S, server.env)
    with place.serve(command, server.port) as service:
        try:
            _wait_until_ready(service, server, min(deadline, started + START_S))
            start_s = time.monotonic() - started
            told = ask(service, deadline)
        except HarnessError:
            if time.monotonic() < deadline:
                raise
        ended = service.stop()
    return Served(replace(ended, is_timed_out=told is None), told, start_s)


def _wait_until_ready(service: Service, server: Server, deadline: float) -> None:
    while True:
        left_s = seconds_left(deadline)
        status, _ = service.request("GET", server.ready, headers=server.headers, wall_s=left_s)
        if status == 200:
            return
        if time.monotonic() > deadline:
            raise HarnessError(f"The service still answers {server.ready} with {status}.")
        time.sleep(_PAUSE_S)


def seconds_left(deadline: float) -> float:
    """Until `deadline` on the monotonic clock; a little where it has passed."""
    return max(0.1, deadline - time.monotonic())


def events(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name ("" where it has none) and data of each server-sent event whose data is a JSON object.

    Anything else in the stream is passed over: comments, `[DONE]`, what is no JSON, what is longer
    than MOST_EVENT_BYTES.
    """
    name, data = "", b""
    for line in lines:
        field, _, value = line.rstrip(b"\r\n").partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data" and len(data) + len(value) <= MOST_EVENT_BYTES:
            data += value
        elif not field and not value:
            if (read := _object(data)) is not None:
                yield name, read
            name, data = "", b""


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
