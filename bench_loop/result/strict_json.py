"""JSON from strangers, read strictly: no key twice, no number that JSON cannot keep exactly."""

from __future__ import annotations

import json
from typing import Any

MAX_KEYS = 1_000
"""Keys of one object: every unknown one becomes an error message."""
MAX_INTEGER = 2**53 - 1
MAX_INTEGER_DIGITS = 19


class JSONError(ValueError):
    """What is wrong, as a sentence; `field` is the key that it was found at, or empty."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.field = field


def loads(text: str, *, most_keys: int = MAX_KEYS, is_finite: bool = True) -> Any:
    """The JSON value in `text`.

    Without `is_finite`, NaN and infinities come through as floats, for a reader that names the
    field they stand in. Raises JSONError, json.JSONDecodeError, and RecursionError for a document
    that is nested too deeply.
    """

    def whole(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > most_keys:
            raise JSONError(f"An object may have {most_keys:,} keys.")
        document: dict[str, Any] = {}
        for name, value in pairs:
            if name in document:
                raise JSONError("An object has this key twice.", name)
            document[name] = value
        return document

    return json.loads(
        text,
        object_pairs_hook=whole,
        parse_constant=_no_constant if is_finite else float,
        parse_int=_integer,
        parse_float=_finite if is_finite else float,
    )


def _no_constant(text: str) -> float:
    raise JSONError(f"{text} is not a JSON number.")


def _integer(text: str) -> int:
    # The length comes first: reading a million digits takes minutes.
    if len(text) > MAX_INTEGER_DIGITS or abs(value := int(text)) > MAX_INTEGER:
        raise JSONError("An integer is beyond 2^53 - 1, the largest that JSON keeps exactly.")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise JSONError("A number is too large.")
    return value
