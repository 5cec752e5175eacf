"""Server-sent events as bytes: a stream cut into them, and the JSON that one carries."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

from bench_loop.gateway.upstream import UpstreamFailedError
from bench_loop.providers._text import as_dict, as_dicts, parse_json

MOST_BYTES = 32 * 2**20
"""The largest event, or answer without events, that is looked into."""

_END = re.compile(rb"\r?\n\r?\n")


async def events_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in other pieces: one for each event, its end included, and one for the rest.

    Raises UpstreamFailedError as `pieces` does, after what came before, and for an endless event.
    """
    rest = b""
    try:
        async for piece in pieces:
            rest += piece
            while end := _END.search(rest):
                yield rest[: end.end()]
                rest = rest[end.end() :]
            _bounded(rest)
    except UpstreamFailedError:
        if rest:
            yield rest
        raise
    if rest:
        yield rest


async def whole_of(pieces: AsyncIterator[bytes]) -> bytes:
    """All bytes of an answer. Raises UpstreamFailedError as `pieces` does, and for too many."""
    body = b""
    async for piece in pieces:
        body += piece
        _bounded(body)
    return body


def _bounded(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        raise UpstreamFailedError(f"it sent more than {MOST_BYTES // 2**20} MiB without an end")


def data_of(event: bytes) -> dict[str, Any]:
    """The JSON object that an event carries in one line; empty where it carries none."""
    found = [line for line in event.splitlines() if line.startswith(b"data:")]
    if len(found) != 1:
        return {}
    try:
        return as_dict(parse_json(found[0].removeprefix(b"data:")))
    except ValueError:
        return {}


def with_data(event: bytes, value: dict[str, Any]) -> bytes:
    """An event with another JSON object in the place of its own."""
    lines = event.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if line.startswith(b"data:"):
            end = line[len(line.rstrip(b"\r\n")) :]
            lines[at] = b"data: " + json.dumps(value, ensure_ascii=False).encode() + end
    return b"".join(lines)


def deltas_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What an event adds to the message of each choice, or the messages of a whole answer."""
    choices = as_dicts(data.get("choices"))
    return [as_dict(choice.get("delta") or choice.get("message")) for choice in choices]


def says_something(event: bytes) -> bool:
    """Whether an event brings anything that the model generated."""
    data = data_of(event)
    if str(data.get("type")).endswith(".delta"):
        return True
    said = ("content", "reasoning_content", "reasoning", "tool_calls")
    return any(delta.get(name) for delta in deltas_of(data) for name in said)


def has_call(event: bytes) -> bool:
    """Whether an event brings a part of a tool call."""
    return any(delta.get("tool_calls") for delta in deltas_of(data_of(event)))
