"""What the gateway changes in a request: the benchmark's own settings put in, each change told.

Pure. A body that needs no change stays as it is, to the byte (`passage.py` sends what came).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bench_loop.providers._text import storable
from bench_loop.result.records import RequestChange

Api = Literal["chat", "responses"]
"""`/v1/chat/completions` or `/v1/responses`."""

Value = str | float | bool | None

_BUDGET: dict[Api, str] = {"chat": "max_tokens", "responses": "max_output_tokens"}
"""The field that bounds a reply, and that every model server knows."""

_BUDGETS = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("n_predict", "max_new_tokens", "max_length"),
)
"""All that bound a reply somewhere; where a server knows two, either may be the one it obeys."""

_ONE_ANSWER = ("n", "n_cmpl", "best_of")
"""Fields that ask for several answers at once, of which only one would be read."""

_GUARDED = {*_BUDGETS, *_ONE_ANSWER, "background", "stream", "messages", "input", "tools"}
"""What the gateway reads or sets in every request, beside the pins."""

MOST_CHANGES = 50
"""Changes of one request that are told."""

_LONGEST = 200
_LARGEST = 1e15


@dataclass(frozen=True, slots=True)
class Pins:
    """What is the benchmark's to say in every request of a trial."""

    model_id: str
    answer_tokens: int
    """The most that one reply may be long, thinking included; a harness may ask for less."""
    fields: Mapping[str, Value] = field(default_factory=dict)
    """Value by field, in the server's own words: `temperature`, `seed`, `top_k`. A dot leads into
    an object (`chat_template_kwargs.enable_thinking`); None: the field is left out."""
    context_window: int | None = None
    """Tokens for prompt and reply; None: not known."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A request as it goes upstream."""

    body: dict[str, Any]
    changes: tuple[RequestChange, ...] = ()


def pin(body: Mapping[str, Any], pins: Pins, api: Api = "chat") -> Pinned:
    """`body` with everything in it that is the benchmark's to say."""
    wanted: dict[str, Value] = {"model": pins.model_id, **pins.fields}
    wanted |= _budgets(body, pins.answer_tokens, api)
    wanted |= {name: 1 for name in _ONE_ANSWER if body.get(name) is not None}
    if body.get("background"):  # it would be answered when nobody listens any more
        wanted["background"] = False
    if api == "chat" and body.get("stream") is True:
        wanted["stream_options.include_usage"] = True  # else nobody learns the token counts
    wanted |= dict.fromkeys(_misspelt(body, wanted))
    return _with(body, wanted)


def budget(body: Mapping[str, Any], most: int) -> int:
    """Tokens that the reply to `body` may have: what it asks for, at most `most`."""
    return min([most, *(int(body[name]) for name in _BUDGETS if _is_budget(body.get(name), most))])


def _with(body: Mapping[str, Any], wanted: Mapping[str, Value]) -> Pinned:
    """`body` with the values of `wanted`, by their paths."""
    pinned = dict(body)
    changes: list[RequestChange] = []
    for path, value in wanted.items():
        asked = _at(pinned, path)
        if _is_same(asked, value):
            continue
        _put(pinned, path, value)
        changes.append(RequestChange(field=path, asked=_told(asked), sent=value))
    return Pinned(pinned, tuple(changes[:MOST_CHANGES]))


def _misspelt(body: Mapping[str, Any], wanted: Mapping[str, Value]) -> Iterator[str]:
    """Fields that some servers (those in Go) take for one of ours, since they mind no case."""
    ours = _GUARDED | {path.partition(".")[0] for path in wanted}
    for name in body:
        if name not in ours and name.casefold() in ours:
            yield name


def _budgets(body: Mapping[str, Any], most: int, api: Api) -> dict[str, Value]:
    """The bounds of the reply, where they are to be lowered: without any it has no end."""
    asked = [name for name in _BUDGETS if body.get(name) is not None]
    budgets: dict[str, Value] = {n: most for n in asked if not _is_budget(body[n], most)}
    first = _BUDGET[api]
    if first not in asked:  # not all servers know the others
        budgets[first] = budget(body, most)
    return budgets


def _is_budget(value: Any, most: int) -> bool:
    """Whether it bounds a reply, and low enough: servers take zero and less for no bound."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 1 <= value <= most


def _at(body: Mapping[str, Any], path: str) -> Any:
    """The value at `path`; None where there is none."""
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _put(body: dict[str, Any], path: str, value: Value) -> None:
    """Set the value at `path`, without touching what `body` shares with others."""
    *parents, last = path.split(".")
    for name in parents:
        inner = body.get(name)
        body[name] = dict(inner) if isinstance(inner, Mapping) else {}
        body = body[name]
    if value is None:
        body.pop(last, None)
    else:
        body[last] = value


def _is_same(asked: Any, value: Value) -> bool:
    """Equal, and not only by being the number that stands for a truth value."""
    return isinstance(asked, bool) is isinstance(value, bool) and bool(asked == value)


def _told(asked: Any) -> Value:
    """`asked`, which may be anything, as a record can hold it."""
    if asked is None or isinstance(asked, bool):
        return asked
    if isinstance(asked, int | float) and abs(asked) <= _LARGEST and math.isfinite(asked):
        return asked
    text = asked if isinstance(asked, str) else json.dumps(asked)
    return storable(text)[:_LONGEST]
