"""What a program tells of itself, made flat: a result keeps plain values under names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

Plain = str | int | float | bool | None

MOST = 40
DEEPEST = 4


def flat(told: Mapping[str, object]) -> dict[str, Plain]:
    """The plain values of nested objects, each under its path: `{"usage": {"input": 3}}` becomes
    `{"usage.input": 3}`; a list of plain values becomes one text. At most MOST of them.
    """
    return dict(list(_values(told, "", DEEPEST))[:MOST])


def _values(told: Mapping[str, object], above: str, depth: int) -> Iterator[tuple[str, Plain]]:
    for key, value in told.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping) and depth > 1:
            yield from _values(value, f"{name}.", depth - 1)
        elif isinstance(value, list):
            yield name, ", ".join(str(one) for one in value[:MOST] if _is_plain(one))
        elif _is_plain(value):
            yield name, value


def _is_plain(value: object) -> TypeGuard[Plain]:
    return value is None or isinstance(value, str | int | float)
