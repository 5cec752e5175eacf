"""Compares a value that came out of a sandbox with the one that is expected, outside of it.

Expected values stand in task files as YAML; what YAML has no word for is `{$tuple: [...]}`,
`{$set: [...]}`, `{$bytes: hex}`, `{$date: 2025-01-31}`, `{$datetime: ...}`.
"""

from __future__ import annotations

import math
from typing import Any

from bench_loop.verifiers.inside.wire import NotPlainError, decode, encode

TOLERANCE = 1e-9
"""Two floats may differ by this share of the greater one, or by this much."""

_SPECIAL = frozenset({"$tuple", "$set", "$bytes", "$date", "$datetime"})


def meant(value: Any) -> Any:
    """The Python value that `value`, out of a task file, stands for. Raises NotPlainError."""
    if isinstance(value, dict):
        if len(value) == 1 and (name := next(iter(value))) in _SPECIAL:
            return _special(name.removeprefix("$"), value[name])
        return {key: meant(part) for key, part in value.items()}
    if isinstance(value, list):
        return [meant(part) for part in value]
    return value


def _special(tag: str, value: Any) -> Any:
    if tag in ("tuple", "set"):
        if not isinstance(value, list):
            raise NotPlainError
        return decode([tag, [encode(meant(part)) for part in value]])
    return decode([tag, value])


def is_equal(got: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether `got`, as `encode` writes it, is `expected`. `got` may be anything at all.

    Types count: a tuple is no list, 1 is not True; but 2.0 is 2. An `object` equals nothing.
    """
    try:
        return _is_same(decode(got), expected, tolerance)
    except (NotPlainError, RecursionError):
        return False


def _is_same(got: Any, expected: Any, tolerance: float) -> bool:
    if type(got) in (int, float) and type(expected) in (int, float):
        return _is_same_number(got, expected, tolerance)
    if type(got) is not type(expected):
        return False
    if isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(
            _is_same(a, b, tolerance) for a, b in zip(got, expected, strict=True)
        )
    if isinstance(expected, dict):
        return _is_same_mapping(got, expected, tolerance)
    return bool(got == expected)


def _is_same_mapping(got: Any, expected: Any, tolerance: float) -> bool:
    """Keys are compared with their types, values by `_is_same`, the order not at all."""
    keyed = {(type(key), key): value for key, value in got.items()}
    return len(keyed) == len(expected) and all(
        (type(key), key) in keyed and _is_same(keyed[type(key), key], value, tolerance)
        for key, value in expected.items()
    )


def _is_same_number(got: float, expected: float, tolerance: float) -> bool:
    if type(got) is int and type(expected) is int:
        return got == expected
    try:
        return math.isclose(got, expected, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:
        return False
