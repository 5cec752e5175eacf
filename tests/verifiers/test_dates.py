"""A date is read in any usual way of writing it, and doubt is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from bench_loop.verifiers.dates import read_date
from bench_loop.verifiers.extraction import plain


@pytest.mark.parametrize(
    "line",
    [
        "14 April",
        "14 april 2026",
        "14. April 2026",
        "14th April",
        "the 14th of April, 2026",
        "April 14",
        "April 14th, 2026",
        "Apr. 14",
        "14 Apr",
        "2026-04-14",
        "14.04.2026",
        "14/4/2026",
        "Tuesday, 14 April",
        "Tue 14 April",
        "Tuesday, April 14, 2026",
        "14 April (a Tuesday)",
        "<14> <April>",
        "**14 April**",
        "The drill is due on 14 April.",
        "the drill is due by 14 April",
        "9 April + 5 days = 14 April",
        "9 April → 14 April",
        "14 April, that is 2026-04-14",
    ],
)
def test_a_date_is_read(line: str) -> None:
    assert read_date(plain(line), 2026) == dt.date(2026, 4, 14)


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("2 Sept", dt.date(2026, 9, 2)),
        ("1 May", dt.date(2026, 5, 1)),
        ("31 March 2027", dt.date(2027, 3, 31)),
    ],
)
def test_months_and_years_are_told_apart(line: str, date: dt.date) -> None:
    assert read_date(line, 2026) == date


@pytest.mark.parametrize(
    "line",
    [
        "",
        "April",
        "14",
        "31 April",
        "14 April or 15 April",
        "14 or 15 April",
        "14 April to 16 April",
        "13 April, 14 April",
        "after 14 April",
        "not 14 April",
        "not before 14 April",
        "Monday, 14 April",
        "114 April",
        "2026-04-140",
        "14:04:2026",
    ],
)
def test_what_is_no_single_date_is_refused(line: str) -> None:
    assert read_date(plain(line), 2026) is None
