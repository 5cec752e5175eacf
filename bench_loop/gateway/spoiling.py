"""Spoils the first tool call of an answer, and leaves everything else of it as it is.

Pure: bytes of a chat completion, streamed or whole, to bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench_loop.gateway.events import data_of, deltas_of, with_data
from bench_loop.providers._text import as_dict, as_dicts, parse_json

UNKNOWN_TOOL = "no_such_tool"

NO_FILE = "/dev/null/no-such-file"
"""A path below what is no folder: nothing can be read from it, and nothing written to it."""

FAILING_COMMAND = "echo 'the device is busy' >&2; exit 75"

_PATHS = ("path", "filepath", "file_path", "filename", "file")
_COMMANDS = ("command", "cmd", "script")


@dataclass(frozen=True, slots=True)
class Made:
    """A tool call as the model made it; `arguments` is JSON text."""

    name: str
    arguments: str


Spoil = Callable[[Made], Made | None]
"""Another call in its place; None: this one cannot be spoilt in that way."""


def with_malformed_arguments(call: Made) -> Made:
    """The first half of its arguments: no JSON, as when a model loses its way."""
    text = call.arguments.strip()
    return Made(call.name, text[: max(1, len(text) // 2)] if text else "{")


def with_unknown_tool(call: Made) -> Made:
    return Made(UNKNOWN_TOOL, call.arguments)


def with_failing_tool(call: Made) -> Made | None:
    """A call of the same tool that it can only answer with an error.

    None: the call has neither a path nor a command.
    """
    try:
        arguments = parse_json(call.arguments)
    except ValueError:
        return None
    changes = {name: _failing(name, value) for name, value in as_dict(arguments).items()}
    known = {name: value for name, value in changes.items() if value is not None}
    if not known:
        return None
    return Made(call.name, json.dumps(arguments | known, ensure_ascii=False))


def _failing(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        return None
    if name.lower() in _COMMANDS:
        return FAILING_COMMAND
    return NO_FILE if name.lower() in _PATHS else None


def spoil_events(events: Sequence[bytes], spoil: Spoil) -> list[bytes] | None:
    """The events with their first call spoilt; None: there is none, or it cannot be."""
    values = [data_of(event) for event in events]
    changed = _spoilt(values, spoil)
    if changed is None:
        return None
    return [
        with_data(event, value) if at in changed else event
        for at, (event, value) in enumerate(zip(events, values, strict=True))
    ]


def spoil_whole(body: bytes, spoil: Spoil) -> bytes | None:
    """The same of an answer in one piece."""
    try:
        value = as_dict(parse_json(body))
    except ValueError:
        return None
    changed = _spoilt([value], spoil)
    return None if changed is None else json.dumps(value, ensure_ascii=False).encode()


def _spoilt(values: Sequence[dict[str, Any]], spoil: Spoil) -> set[int] | None:
    """Spoil the first call that lies in these values; the places of those that were changed."""
    parts = list(_first_call(values))
    made = Made(
        "".join(str(part.get("name") or "") for _, part in parts),
        "".join(_as_text(part.get("arguments")) for _, part in parts),
    )
    spoilt = spoil(made) if made.name else None
    if spoilt is None:
        return None
    for _, part in parts:
        part.pop("name", None)
        part["arguments"] = ""
    parts[0][1].update(name=spoilt.name, arguments=spoilt.arguments)
    return {at for at, _ in parts}


def _as_text(arguments: object) -> str:
    """Arguments, or a part of them, as JSON text; some servers give an object."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False) if arguments is not None else ""


def _first_call(values: Sequence[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """The functions that make up the first call, each with the place of its value."""
    parts: list[tuple[int, dict[str, Any]]] = []
    first: tuple[object, object] | None = None
    for at, call, position in _calls(values):
        key = (call.get("index", position), call.get("id"))
        first = first or key
        function = call.get("function")
        if key[0] == first[0] and key[1] in (first[1], None, "") and isinstance(function, dict):
            parts.append((at, function))
    return parts


def _calls(values: Sequence[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Every part of a call: the place of its value, itself, and its place in its list."""
    for at, value in enumerate(values):
        for delta in deltas_of(value):
            for position, call in enumerate(as_dicts(delta.get("tool_calls"))):
                yield at, call, position
