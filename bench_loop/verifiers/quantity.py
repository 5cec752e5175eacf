"""Reads one quantity, a number with its unit, out of an answer line.

Pure; no input raises. Accepted: separators (1,200 or 1 200), a sign, decimals, a decimal comma
where it can be nothing else (6,50; but 1,200 is 1200), powers of ten, fractions and mixed numbers,
numbers in words, a currency sign, percent, units of one measure that belong together ("1 h
20 min"), one value said twice ("0.75 or 3/4"), an equation (what follows its last `=` counts), a
remark in brackets or after "because". Refused: a range, a choice, a bound, a negation, an
exponent. Of several numbers that stand for themselves the last counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from bench_loop.verifiers.extraction import right_side
from bench_loop.verifiers.number_words import spelled_out


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in the task's base unit, or the reason why there is none."""

    value: Fraction | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a line, the unit that follows it, and how far the two reach."""

    value: Fraction
    start: int
    end: int
    unit: str
    factor: Fraction | None

    @property
    def total(self) -> Fraction | None:
        return None if self.factor is None else self.value * self.factor


_NUMBER = re.compile(
    r"(?<![\w.^/])(?P<sign>[-+]\s?|minus\s)?(?P<currency>[$€£¥]\s?)?(?:"
    r"(?:(?P<mixed>\d{1,9})\s{1,3})?(?P<over>\d{1,12})\s?/\s?(?P<under>\d{1,12})(?![\d/])"
    r"|(?P<comma>(?:\d{1,3}(?:\.\d{3}){1,12}|\d{1,40}),(?:\d{1,2}|\d{4,40})|0,\d{1,40})(?![\d,])"
    r"|(?P<plain>(?:\d{1,3}(?:(?P<mark>[,\s'_])\d{3})(?:(?P=mark)\d{3})*(?!\d)|\d{1,40})"
    r"(?:\.\d{1,40})?|\.\d{1,40})"
    r"(?:\s?[×x·*]\s?10\s?\^\s?\{?(?P<power>[-+]?\d{1,2})\}?|e(?P<exponent>[-+]?\d{1,2}))?)",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"(?<=[\w%>])\s*\([^()]*\)|[,;]?\s(?:because|since|i\.e\.|that is)[\s,:].*", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not|never|cannot)\b|n't\b", re.IGNORECASE)
_BOUND = re.compile(
    r"(?:\b(?:at least|at most|more than|less than|fewer than|greater than|up to|over|under|above|"
    r"below|not|isn't)|[≥≤±])\s*$",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(?:or|versus|vs)\b", re.IGNORECASE)
_JOINED = re.compile(r"(?:\b(?:to|and|through|until)|[-–—~…&/,+*×·±]|\.\.)\s*$", re.IGNORECASE)
_BROKEN = re.compile(r"\d\s*(?:\.{2,}|/\s*\d+\s*/|\.\d+\.)\s*\d|\d:\d")
_TOGETHER = re.compile(r"\s*(?:,|\band\b)?\s*", re.IGNORECASE)
_UNIT_GOES_ON = re.compile(r"[\w/^*·]|\s*(?:per\b|/)")


def read_quantity(line: str, units: Mapping[str, Fraction]) -> Quantity:
    """The quantity that `line` states, in the unit whose factor in `units` is 1.

    `units` maps lower-case unit texts to factors; the unit `""` stands for a bare number, which is
    refused where it is missing. `line` and the unit texts have been through `extraction.plain`.
    Reasons: `no_single_answer`, `unknown_unit`.
    """
    line = spelled_out(line)
    everything = _numbers(line, units)
    if not everything or _BROKEN.search(line):
        return Quantity(None, "no_single_answer")
    if _is_same_twice(everything):
        return _judged(line, everything)
    between = line[everything[0].end : everything[-1].start]
    if _CHOICE.search(between):
        return Quantity(None, "no_single_answer")
    line = right_side(_REMARK.sub("", line))
    numbers = _numbers(line, units)
    if not numbers:
        return Quantity(None, "no_single_answer")
    if (total := _sum_of_units(line, numbers)) is not None:
        return Quantity(total)
    if any(_JOINED.search(line[a.end : b.start]) for a, b in pairwise(numbers)):
        return Quantity(None, "no_single_answer")
    return _judged(line, numbers)


def _judged(line: str, numbers: list[_Number]) -> Quantity:
    """The last of `numbers`, unless it is a bound, a negation or of an unknown unit."""
    last = numbers[-1]
    before = line[: last.start]
    is_bound = _BOUND.search(before) or _is_compared(before, line[last.start :])
    if is_bound or _DENIED.search(line, last.end):
        return Quantity(None, "no_single_answer")
    return Quantity(None, "unknown_unit") if last.total is None else Quantity(last.total)


def _is_compared(before: str, rest: str) -> bool:
    """Whether `<` or `>` stands before the number, and not as half of a placeholder's `<...>`."""
    before = before.rstrip()
    return before.endswith(">") or (before.endswith("<") and ">" not in rest)


def _is_same_twice(numbers: list[_Number]) -> bool:
    totals = {number.total for number in numbers}
    return len(numbers) > 1 and len(totals) == 1 and None not in totals


def _sum_of_units(line: str, numbers: list[_Number]) -> Fraction | None:
    """The sum of "1 h 20 min": named units, each smaller than the one before; None: no such."""
    if len(numbers) < 2 or any(n.total is None or not n.unit or n.value < 0 for n in numbers):
        return None
    factors = [number.factor or Fraction(0) for number in numbers]
    if any(a <= b for a, b in pairwise(factors)):
        return None
    if any(not _TOGETHER.fullmatch(line[a.end : b.start]) for a, b in pairwise(numbers)):
        return None
    return sum((number.total or Fraction(0) for number in numbers), Fraction(0))


def _numbers(line: str, units: Mapping[str, Fraction]) -> list[_Number]:
    matches = list(_NUMBER.finditer(line))
    if not matches:
        return []
    ends = [*(match.start() for match in matches[1:]), len(line)]
    return [
        number
        for match, end in zip(matches, ends, strict=True)
        if (number := _number(line, match, end, units)) is not None
    ]


def _number(
    line: str, match: re.Match[str], end: int, units: Mapping[str, Fraction]
) -> _Number | None:
    """The number of one match, its unit read up to `end`; None where it divides by zero."""
    if match["under"] and int(match["under"]) == 0:
        return None
    value, start = _value(match), match.start()
    if match["sign"]:
        if _is_operator(line, match):
            start = match.end("sign")
        elif not match["sign"].startswith("+"):
            value = -value
    unit, factor, length = _unit(line[match.end() : end], (match["currency"] or "").strip(), units)
    return _Number(value, start, match.end() + length, unit, factor)


def _value(match: re.Match[str]) -> Fraction:
    if match["over"]:
        return int(match["mixed"] or 0) + Fraction(int(match["over"]), int(match["under"]))
    if match["comma"]:
        return Fraction(match["comma"].replace(".", "").replace(",", "."))
    digits = re.sub(r"[,\s'_]", "", match["plain"])
    return Fraction(digits) * Fraction(10) ** int(match["power"] or match["exponent"] or 0)


def _is_operator(line: str, match: re.Match[str]) -> bool:
    """Whether the sign is a minus or a dash between two numbers and no sign of this one."""
    before = line[: match.start()]
    stands_apart = match["sign"][-1:].isspace() and match["sign"][0] in "+-"
    return bool(before.strip()) and (before.rstrip()[-1] in "0123456789%)" or stands_apart)


def _unit(
    text: str, currency: str, units: Mapping[str, Fraction]
) -> tuple[str, Fraction | None, int]:
    """(unit, factor, characters used) at the start of `text`; factor None: not one of `units`."""
    rest = text.lstrip(" )}>]").casefold()
    skipped = len(text) - len(text.lstrip(" )}>]"))
    fitting = [
        unit
        for unit in units
        if unit and rest.startswith(unit) and not _UNIT_GOES_ON.match(rest, len(unit))
    ]
    if fitting:
        unit = max(fitting, key=len)
        return unit, units[unit], skipped + len(unit)
    names_a_unit = rest[:1].isalpha() or rest.startswith(("%", "°", "$", "€", "£", "¥", "^"))
    if not names_a_unit or _is_joining_word(rest):
        return currency, units.get(currency), 0
    return "", None, 0


def _is_joining_word(rest: str) -> bool:
    return re.match(r"(?:to|and|or|through|until|versus|vs)\b", rest) is not None
