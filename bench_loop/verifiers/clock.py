"""Reads one time of day out of an answer line.

Pure; no input raises. Accepted: 19:42, 19.42, 19h42, 1942, 19:42:00, 7:42 pm, words around it, an
equation (what follows its last `=` counts), one time said twice, a remark in brackets. Refused:
a range, a choice, a bound, a negation.
"""

from __future__ import annotations

import re

from bench_loop.verifiers.extraction import right_side

_TIME = re.compile(
    r"(?<![\d:.,])(?:(?P<hour>\d{1,2})\s?(?:[:.]|h(?=\d))\s?(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
    r"|(?P<digits>\d{4}))(?![\d:])(?:\s?(?P<half>[ap])\.?\s?m\b)?",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<=[\w.>])\s*\([^()]*\)")
_DOUBT = re.compile(
    r"\b(?:or|before|after|until|till|by|from|between|not|never|earliest|latest|versus|vs)\b|n't\b"
    r"|[<>≤≥±]=?\s*\d|\d\s*(?:-|–|—|to|and)\s*\d",
    re.IGNORECASE,
)
MINUTES_OF_A_DAY = 24 * 60


def read_clock(line: str) -> int | None:
    """Minutes after midnight of the one time that `line` states; None: it states none, or several.

    `line` has been through `extraction.plain`.
    """
    line = right_side(_REMARK.sub("", line))
    times = {_minutes(found) for found in _TIME.finditer(line)}
    said = line.replace("<", "").replace(">", "") if re.search(r"<[^<>]*>", line) else line
    return times.pop() if len(times) == 1 and not _DOUBT.search(said) else None


def minutes(text: str) -> int:
    """Minutes after midnight of `HH:MM`."""
    hour, _, minute = text.partition(":")
    return 60 * int(hour) + int(minute)


def _minutes(found: re.Match[str]) -> int | None:
    """Minutes after midnight; None for what is no time of day, such as 25:00 or 19:42 am."""
    digits = found["digits"]
    hour = int(digits[:2] if digits else found["hour"])
    minute = int(digits[2:] if digits else found["minute"])
    half = (found["half"] or "").casefold()
    if hour > 23 or minute > 59 or int(found["second"] or 0):
        return None
    if half == "a" and hour > 12:
        return None
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return 60 * hour + minute
