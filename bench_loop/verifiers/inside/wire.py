"""Values as JSON that keeps their types: `["int", "7"]`, `["tuple", [...]]`, `["ref", 3, "Cart"]`.

Only exact types pass: an instance of a subclass, or of any other class, is no value. It becomes a
`ref` where the sender keeps objects, else an `object`, which equals nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

DEEPEST = 30
MOST_PARTS = 20_000
LONGEST_INTEGER_BITS = 20_000


class NotPlainError(Exception):
    """A value is too deep, too large, or written in a way that `encode` never writes."""


def encode(value: Any, keep: Callable[[Any], list[Any]] | None = None) -> list[Any]:
    """`value` with its types. `keep` makes the `ref` of an object. Raises NotPlainError."""
    return _Encoder(keep).encode(value, 0)


class _Encoder:
    def __init__(self, keep: Callable[[Any], list[Any]] | None) -> None:
        self._keep = keep
        self._parts = 0

    def encode(self, value: Any, depth: int) -> list[Any]:
        self._parts += 1
        if depth > DEEPEST or self._parts > MOST_PARTS:
            raise NotPlainError
        kind = type(value)
        if kind in (list, tuple):
            return [kind.__name__, [self.encode(part, depth + 1) for part in value]]
        if kind in (set, frozenset):
            parts = [self.encode(part, depth + 1) for part in value]
            return [kind.__name__, sorted(parts, key=repr)]
        if kind is dict:
            pairs = [
                [self.encode(k, depth + 1), self.encode(v, depth + 1)] for k, v in value.items()
            ]
            return ["dict", pairs]
        if (scalar := _scalar(value)) is not None:
            return scalar
        return ["object", kind.__name__] if self._keep is None else self._keep(value)


def _scalar(value: Any) -> list[Any] | None:
    kind = type(value)
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if kind is int:
        if value.bit_length() > LONGEST_INTEGER_BITS:
            raise NotPlainError
        return ["int", hex(value)]
    if kind is float:
        return ["float", repr(value)]
    if kind is str:
        return ["str", value]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is dt.date or (kind is dt.datetime and value.tzinfo is None):
        return [kind.__name__, value.isoformat()]
    return None


_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": lambda text: int(text, 16),
    "float": float,
    "str": str,
    "bytes": bytes.fromhex,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
}
_GROUPS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


def decode(wire: Any, find: Callable[[list[Any]], Any] | None = None) -> Any:
    """The value that `wire` stands for; `find` gives what a `ref` or an `object` stands for.

    Raises NotPlainError for anything else.
    """
    try:
        tag = wire[0]
        if tag == "none":
            return None
        if tag in _SIMPLE:
            return _SIMPLE[tag](wire[1])
        if tag in _GROUPS:
            return _GROUPS[tag](decode(part, find) for part in wire[1])
        if tag == "dict":
            return {decode(key, find): decode(value, find) for key, value in wire[1]}
    except (TypeError, ValueError, IndexError, KeyError, RecursionError) as error:
        raise NotPlainError from error
    if find is None or tag not in ("ref", "object"):
        raise NotPlainError
    return find(wire)
