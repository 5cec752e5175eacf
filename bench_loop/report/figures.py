"""Figures without fake precision: how a number becomes text in terminal, pages and reports.

The half-width of the interval decides: it is rounded to one significant digit (two if it starts
with 1), and the value is rounded to that place. 40.31 with 0.6 is `40.3 ±0.6`. Scores are whole
points, or tenths where the interval is that narrow: one of four tasks is 25, never 30. A rate keeps
two digits however wide its interval: 5.2 with 21 is `5.2 ±20`, never 10.
Absence is never a figure: what is unknown is None here and a word on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

MINUS = "\N{MINUS SIGN}"
EN_DASH = "\N{EN DASH}"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
NOT_RUN = "not run"
UNKNOWN = EN_DASH
"""Stands where a value is unknown; the page says why in its title."""

_SIGNIFICANT = 3
"""Digits of a value whose interval is unknown."""
_FINEST = 4
"""Digits of a rate or time at most."""
_COARSEST = 2
"""Digits of a rate or time at least."""
_EVERY_DIGIT = Context(prec=700)
"""Of any float before its point, and of any place behind it."""
_LONGEST = 32
"""Characters of a number; a longer one, which only made up results hold, is told by its power."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as text: rounded value, its interval, and the full value for the title."""

    value: str
    interval: str | None
    exact: str

    def __str__(self) -> str:
        """In a sentence: `72 (67–77)`, `40.3 ±0.6`, `−6.4 (−11 to −2)`."""
        if self.interval is None:
            return self.value
        if self.interval.startswith("±"):
            return f"{self.value} {self.interval}"
        return f"{self.value} ({self.interval})"


def place(half_width: float) -> int:
    """Decimals that a half-width allows: 5 gives 0, 0.6 gives 1, 140 gives -1.

    Raises ValueError unless `half_width` is positive.
    """
    if half_width <= 0:
        raise ValueError("a half-width is positive")
    starts_with_one = Decimal(repr(float(half_width))).as_tuple().digits[0] == 1
    return -_exponent(half_width) + (1 if starts_with_one else 0)


@lru_cache(maxsize=4096)
def number(value: float, decimals: int) -> str:
    """`value` at `decimals` places (negative: tens, hundreds), halves up, thousands by comma."""
    written, place_ = Decimal(repr(float(value))), Decimal(1).scaleb(-decimals)
    rounded = written.quantize(place_, ROUND_HALF_UP, _EVERY_DIGIT)
    text = f"{abs(rounded):,.{max(decimals, 0)}f}"
    if len(text) > _LONGEST:
        text = f"{abs(rounded):.1e}"
    return f"{MINUS}{text}" if rounded < 0 else text


def significant(value: float, digits: int = _SIGNIFICANT) -> str:
    """`value` at `digits` significant digits, for a value whose interval is unknown."""
    if value == 0:
        return "0"
    return number(value, digits - 1 - _exponent(value))


def count(value: int) -> str:
    """A count with thousands by comma: 4,812."""
    return f"{value:,}"


def counted(value: int, one: str, several: str | None = None) -> str:
    """A count with its noun: `1 trial`, `4,812 trials`, `2 harnesses`."""
    return f"{count(value)} {one if value == 1 else several or f'{one}s'}"


def score(value: float, interval: Sequence[float] | None) -> Figure:
    """A score or rate of passing, 0 to 100: `72` and `67–77`."""
    half_width = (interval[1] - interval[0]) / 2 if interval else 0
    decimals = min(max(place(half_width), 0), 1) if half_width > 0 else 0
    ends = (
        f"{number(interval[0], decimals)}{EN_DASH}{number(interval[1], decimals)}"
        if interval
        else None
    )
    return Figure(number(value, decimals), ends, exact(value, interval))


def rate(value: float, half_width: float | None) -> Figure:
    """A rate or a time: `40.3` and `±0.6`; three significant digits where no spread is known.

    Never more than four digits: no clock here tells more, and a smaller half-width is given as one
    unit of the last of them. Never fewer than two: it may stand without its half-width.
    """
    if half_width is None or half_width <= 0 or value <= 0:
        return Figure(significant(value), None, exact(value, None))
    finest, coarsest = (digits - 1 - _exponent(value) for digits in (_FINEST, _COARSEST))
    decimals = min(place(half_width), finest)
    shown = number(max(half_width, 10.0**-decimals), decimals)
    interval = (value - half_width, value + half_width)
    return Figure(number(value, max(decimals, coarsest)), f"±{shown}", exact(value, interval))


def deviation(stdev: float, value: float) -> str:
    """A standard deviation at two digits, never finer than the fourth digit of its `value`."""
    if stdev <= 0 or value <= 0:
        return "0"
    return number(stdev, min(1 - _exponent(stdev), _FINEST - 1 - _exponent(value)))


def difference(value: float, interval: Sequence[float] | None) -> Figure:
    """A difference in points, always signed: `−6.4` and `−11 to −2`."""
    ends = None
    if interval:
        half_width = (interval[1] - interval[0]) / 2
        decimals = min(max(place(half_width), 0), 1) if half_width > 0 else 0
        ends = f"{signed(interval[0], decimals)} to {signed(interval[1], decimals)}"
    return Figure(signed(value, 1), ends, exact(value, interval))


def amount(value: float, interval: Sequence[float] | None) -> Figure:
    """An amount with an interval that need not be even: `8,900` and `8,700–9,200`."""
    decimals = _decimals(value, interval)
    ends = EN_DASH.join(number(end, decimals) for end in interval) if interval else None
    return Figure(number(value, decimals), ends, exact(value, interval))


def added(value: float, interval: Sequence[float] | None) -> Figure:
    """What came on top, always signed: `+7.3` and `+6.9 to +7.8`."""
    decimals = _decimals(value, interval)
    ends = " to ".join(signed(end, decimals) for end in interval) if interval else None
    return Figure(signed(value, decimals), ends, exact(value, interval))


def _decimals(value: float, interval: Sequence[float] | None) -> int:
    """Places of an amount: those of the half-width, but two to four digits of the value; three
    where no interval is known, and none where it is whole."""
    half_width = (interval[1] - interval[0]) / 2 if interval else 0
    if value == 0:
        return max(place(half_width), 0) if half_width > 0 else 0
    digits = -1 - _exponent(value)
    if half_width <= 0:
        return 0 if value == int(value) and value < 1000 else digits + _SIGNIFICANT
    return min(max(place(half_width), digits + _COARSEST), digits + _FINEST)


MOST_TELLING_RATIO = 1000.0
"""Between the ends of an interval of a ratio; beyond it nobody learns anything from them."""


def ratio(value: float, low: float | None, high: float | None) -> Figure:
    """How many times as much: `1.52×` and `1.40–1.65`; of ends that say nothing, that they do."""
    ends = None if low is None or high is None else (low, high)
    words = f"{significant(ends[0], 3)}–{significant(ends[1], 3)}" if ends else None
    if ends and ends[1] > MOST_TELLING_RATIO * ends[0]:
        words = "too few to say"
    return Figure(f"{significant(value, 3)}×", words, exact(value, ends))


def signed(value: float, decimals: int) -> str:
    """`+1.6` or `−6.4`; what rounds to zero has no sign."""
    text = number(value, decimals)
    is_zero = not any(digit in text for digit in "123456789")
    if is_zero:
        return text.removeprefix(MINUS)
    return text if text.startswith(MINUS) else f"+{text}"


def percent(share: float, decimals: int = 0) -> str:
    """A share from 0 to 1 as `62 %`, with a narrow no-break space."""
    return f"{number(100 * share, decimals)}{NARROW_SPACE}%"


def seconds(value: float) -> str:
    """A measured time without its unit: `0.40`, `9.1`, `41.8`, `104`."""
    if value >= 100:
        return number(value, 0)
    return number(value, 1 if value >= 1 else 2 if value >= 0.1 else 3)


def duration(value: float) -> str:
    """How long something took, in words: `0.40 s`, `95 s`, `63 min`, `2 h 5 min`."""
    if value < 120:
        return f"{seconds(value)} s" if value < 10 else f"{number(value, 0)} s"
    minutes = int(Decimal(repr(float(value) / 60)).quantize(Decimal(1), ROUND_HALF_UP))
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def known_duration(value: float | None) -> str:
    """`duration`, or that it is not known: an import may not state it."""
    return "a time not stated" if value is None else duration(value)


def time_left(low_s: float, high_s: float) -> str:
    """An estimate of time to come is a range: `24 to 33 min`, `10 to 40 s`."""
    if high_s < 1:
        return "less than 1 s"
    if high_s < 90:
        return f"{number(low_s, 0)} to {number(high_s, 0)} s"
    low, high = number(low_s / 60, 0), number(high_s / 60, 0)
    if low == "0":
        return f"{number(low_s, 0)} s to {high} min"
    return f"about {high} min" if low == high else f"{low} to {high} min"


def moment(when: datetime) -> str:
    """A point in time: `2026-11-29 14:02 UTC`."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def memory(gigabytes: float) -> str:
    """Gibibytes as people say them: `24`, `7.5`, `0.5`; the unit stands beside."""
    return f"{gigabytes:.1f}".removesuffix(".0")


def tokens(value: int) -> str:
    """A size of a prompt or window in tokens: `128`, `1K`, `4K`, `32K`."""
    return f"{value // 1024}K" if value >= 1024 and value % 1024 == 0 else count(value)


def exact(value: float, interval: Sequence[float] | None) -> str:
    """The value as stored, to six decimals, with its interval: for titles."""
    text = _plain(value)
    return f"{text} [{_plain(interval[0])}, {_plain(interval[1])}]" if interval else text


def _exponent(value: float) -> int:
    """Power of ten of the first digit: 2 for 140, -1 for 0.6."""
    return Decimal(repr(float(value))).adjusted()


def _plain(value: float) -> str:
    """Six decimals at most, and none that says nothing."""
    text = number(value, 6)
    text = text if "e" in text else text.rstrip("0").rstrip(".")
    return "0" if text == f"{MINUS}0" else text
