"""A time of day is read in any usual way of writing it, and doubt is refused."""

from __future__ import annotations

import pytest

from bench_loop.verifiers.clock import read_clock
from bench_loop.verifiers.extraction import plain


@pytest.mark.parametrize(
    "line",
    [
        "19:42",
        "19.42",
        "19h42",
        "19:42h",
        "1942",
        "1942 hours",
        "19:42:00",
        "19 : 42",
        "１９：４２",
        "$19{:}42$",
        "**19:42**",
        "<19:42>",
        "[19:42]",
        "7:42 pm",
        "7:42 P.M.",
        "07:42pm",
        "19:42 p.m.",
        "19:42 Uhr",
        "19:42 o'clock",
        "At 19:42.",
        "the ride ends at 19:42",
        "about 19:42",
        "19:17 + 25 min = 19:42",
        "19:17 + 0:25 = 19:42",
        "19:17 → 19:42",
        "19:42 (7:42 pm)",
        "19:42, that is 7:42 pm",
        "HH:MM = 19:42",
    ],
)
def test_a_time_is_read(line: str) -> None:
    assert read_clock(plain(line)) == 19 * 60 + 42


@pytest.mark.parametrize(("line", "minutes"), [("0:05", 5), ("12:05 am", 5), ("12:05 pm", 725)])
def test_midnight_and_noon_are_told_apart(line: str, minutes: int) -> None:
    assert read_clock(line) == minutes


@pytest.mark.parametrize(
    "line",
    [
        "",
        "noon",
        "19",
        "19:4",
        "19:420",
        "119:42",
        "24:00",
        "19:60",
        "19:42:30",
        "19:42 am",
        "19:42 or 19:22",
        "19:42 or 7:42 pm",
        "19:22-19:42",
        "19:22 to 19:42",
        "between 19:22 and 19:42",
        "19:22, 19:42",
        "before 19:42",
        "after 19:42",
        "by 19:42",
        "until 19:42",
        "not 19:42",
        "19:42 isn't right",
        "< 19:42",
        ">= 19:42",
    ],
)
def test_doubt_is_refused(line: str) -> None:
    assert read_clock(plain(line)) is None
