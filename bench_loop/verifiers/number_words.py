"""English numbers in words, as digits: "ninety-six labels" is "96 labels"."""

from __future__ import annotations

import re

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = {word: value for value, word in enumerate(_UNITS)}
_SMALL |= {word: 10 * tens for tens, word in enumerate(_TENS, 2)}
_SCALES = {"thousand": 1000, "million": 1_000_000}

_WORD = "|".join(sorted((*_SMALL, "hundred", *_SCALES), key=len, reverse=True))
_NUMBER = re.compile(
    rf"\b(?:{_WORD})(?:(?:-|\s{{1,3}}|\s{{1,3}}and\s{{1,3}})(?:{_WORD})){{0,20}}\b", re.IGNORECASE
)
_HAS_DIGIT = re.compile(r"\d")


def spelled_out(line: str) -> str:
    """`line` with its numbers in digits; as it is where it has digits, which then are what counts.

    Words that make no number together ("five six", "twenty eleven") stay as they are.
    """
    if _HAS_DIGIT.search(line):
        return line
    return _NUMBER.sub(lambda found: _digits(found[0]), line)


def _digits(words: str) -> str:
    if (alone := _SMALL.get(words.casefold())) is not None:
        return str(alone)  # by far the most, and a hostile text has thousands
    total = group = 0
    last = 10**9
    for word in re.findall(r"[a-z]+", words.casefold()):
        if word in _SCALES:
            if not group or _SCALES[word] >= last:
                return words
            last = _SCALES[word]
            total, group = total + group * last, 0
        elif word == "hundred":
            if not 0 < group < 10:
                return words
            group *= 100
        elif word != "and":
            if not _fits(group, _SMALL[word]):
                return words
            group += _SMALL[word]
    return str(total + group)


def _fits(group: int, value: int) -> bool:
    """Whether a word of `value` can follow words that make `group` so far."""
    if group == 0:
        return True
    rest = group % 100
    return value > 0 and (rest == 0 or (rest >= 20 and rest % 10 == 0 and value < 10))
