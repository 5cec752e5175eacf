"""Reads one date out of an answer line.

Pure; no input raises. Accepted: 14 April, April 14th, the 14th of April 2026, 2026-04-14,
14.04.2026, 14/04/2026, its weekday beside it, words around it, an equation (what follows its last
`=` counts), one date said twice, a remark in brackets. Refused: a range, a choice, a bound, a
negation, a weekday or a year that the date does not have.
"""

from __future__ import annotations

import datetime as dt
import re

from bench_loop.verifiers.extraction import right_side

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MONTH = rf"(?P<month>{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in MONTHS)}|sept)\b\.?"
_DAY = r"(?<![\d:.,-])(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th)?\b\.?"
_YEAR = r"(?:,?\s{0,2}(?P<year>\d{4})(?!\d))?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_DAY}\s{{0,2}}(?:of\s)?{_MONTH}{_YEAR}",
        rf"\b{_MONTH}\s{{0,2}}(?:the\s)?{_DAY}{_YEAR}",
        r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\d-])",
        r"(?<![\d./])(?P<day>\d{1,2})(?P<mark>[./])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4})(?!\d)",
    )
)
_WEEKDAY = re.compile(
    rf"\b({'|'.join(f'{day[:3]}(?:{day[3:]})?' for day in WEEKDAYS)}|tues|thurs?)\b", re.IGNORECASE
)
_REMARK = re.compile(r"(?<=[\w.>])\s*\([^()]*\)")
_DOUBT = re.compile(
    r"\b(?:or|before|after|until|till|between|from|not|never|earliest|latest|versus|vs)\b|n't\b"
    r"|[<≤≥±]=?\s*\d",
    re.IGNORECASE,
)


def read_date(line: str, year: int) -> dt.date | None:
    """The one date that `line` states; None: it states none, or several.

    A date without a year is of `year`. `line` has been through `extraction.plain`.
    """
    line = right_side(_REMARK.sub("", line))
    if re.search(r"<[^<>]*>", line):
        line = line.replace("<", "").replace(">", "")
    found = {_date(match, year) for form in _FORMS for match in form.finditer(line)}
    if len(found) != 1 or _DOUBT.search(line):
        return None
    date = found.pop()
    if date is None:
        return None
    weekdays = {word[:3].casefold() for word in _WEEKDAY.findall(line)}
    return date if weekdays <= {WEEKDAYS[date.weekday()][:3]} else None


def _date(found: re.Match[str], year: int) -> dt.date | None:
    """None for what is no date, such as 31 April."""
    month = found["month"].casefold()
    names = [name[:3] for name in MONTHS]
    number = int(month) if month.isdigit() else names.index(month[:3]) + 1
    try:
        return dt.date(int(found["year"] or year), number, int(found["day"]))
    except ValueError:
        return None
