"""Sizes written in model names: totals, active and effective sizes, experts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NUMBER = r"(\d+(?:\.\d+)?)"
_TOTAL = re.compile(rf"{_NUMBER}([bmt])$")
_ACTIVE = re.compile(rf"a{_NUMBER}([bm])$")
_TOTAL_AND_ACTIVE = re.compile(rf"{_NUMBER}([bm])a{_NUMBER}([bm])$")
_EFFECTIVE = re.compile(rf"e{_NUMBER}(b)$")
_EXPERTS_BY_SIZE = re.compile(rf"\d+x{_NUMBER}[bm]$")
_EXPERTS = re.compile(r"\d+e$")

MOST_BILLIONS = 100_000.0
"""A larger number in a name is no size."""

_IN_BILLIONS = {"b": 1.0, "m": 0.001, "t": 1000.0}


@dataclass(frozen=True, slots=True)
class WrittenSize:
    """What the words of a name say of a size, in billions of parameters; None: nothing.

    `key` is how the size is written ('8b', 'e4b', '8x7b', '' for nothing): the table of published
    sizes goes by it. In `8x7b` neither number is a total, since experts share weights; in
    `17b-16e` the number is the active size.
    """

    key: str = ""
    total_b: float | None = None
    active_b: float | None = None


def is_size(word: str) -> bool:
    """Whether a word of a name is a size or a number of experts."""
    forms = (_TOTAL, _ACTIVE, _TOTAL_AND_ACTIVE, _EFFECTIVE, _EXPERTS_BY_SIZE, _EXPERTS)
    return any(form.match(word) for form in forms)


def read_size(words: Iterable[str]) -> WrittenSize:
    """The size that the lower-case words of a name give; the first total counts."""
    key, total, active = "", None, None
    has_experts = False
    for word in words:
        if both := _TOTAL_AND_ACTIVE.match(word):
            key, total = both[1] + both[2], _billions(both[1], both[2])
            active = _billions(both[3], both[4])
        elif found := _ACTIVE.match(word):
            active = _billions(found[1], found[2])
        elif _EXPERTS_BY_SIZE.match(word):
            key = key or word
        elif found := _EFFECTIVE.match(word):
            key, active = key or word, _billions(found[1], found[2])
        elif (found := _TOTAL.match(word)) and not key:
            key, total = word, _billions(found[1], found[2])
        elif _EXPERTS.match(word):
            has_experts = True
    if has_experts and active is None:
        return WrittenSize(key, None, total)
    return WrittenSize(key, total, active)


def billions(words: str | None) -> float | None:
    """A server's own words for a size (`7.6B`, `137M`) in billions; None when it is none."""
    found = _TOTAL.match((words or "").strip().lower())
    return _billions(found[1], found[2]) if found else None


def _billions(number: str, unit: str) -> float | None:
    value = float(number) * _IN_BILLIONS[unit]
    return round(value, 6) if 0 < value < MOST_BILLIONS else None
