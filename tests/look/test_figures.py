"""The rounding rules, against literals worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bench_loop.report import figures


@pytest.mark.parametrize(
    ("half_width", "decimals"),
    [(5, 0), (3, 0), (0.6, 1), (0.04, 2), (1.2, 1), (12, 0), (140, -1), (300, -2), (0.1, 2)],
)
def test_the_half_width_decides_the_place(half_width: float, decimals: int) -> None:
    assert figures.place(half_width) == decimals


def test_a_half_width_of_zero_has_no_place() -> None:
    with pytest.raises(ValueError, match="positive"):
        figures.place(0)


@pytest.mark.parametrize(
    ("value", "interval", "text"),
    [
        (72.33, (67.33, 77.33), "72 (67–77)"),
        (56.84, (56.4, 57.2), "56.8 (56.4–57.2)"),
        (25.0, (4.6, 69.9), "25 (5–70)"),
        (72.5, (60.0, 85.0), "73 (60–85)"),
        (0.0, (0.0, 48.99), "0 (0–49)"),
        (100.0, (51.0, 100.0), "100 (51–100)"),
        (56.8417, (56.83, 56.85), "56.8 (56.8–56.9)"),
        (50.0, (50.0, 50.0), "50 (50–50)"),
        (74.9, None, "75"),
    ],
)
def test_a_score_is_rounded_to_what_its_interval_allows(
    value: float, interval: tuple[float, float] | None, text: str
) -> None:
    assert str(figures.score(value, interval)) == text


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (40.31, 0.6, "40.3 ±0.6"),
        (172.4, 3, "172 ±3"),
        (40.312, 0.12, "40.31 ±0.12"),
        (2913.0, 140.0, "2,910 ±140"),
        (2913.0, 300.0, "2,900 ±300"),
        (0.397, 0.012, "0.397 ±0.012"),
        (0.3971, None, "0.397"),
        (1311.7, None, "1,310"),
        (40.31, 0.0, "40.3"),
        (0.17487679, 1e-15, "0.1749 ±0.0001"),
        (171.84, 0.002, "171.8 ±0.1"),
        (5.2157, 20.7, "5.2 ±20"),
        (14.63, 21.9, "15 ±20"),
        (5.2157, 3.1, "5.2 ±3"),
        (0.0, None, "0"),
    ],
)
def test_a_rate_carries_its_half_width(value: float, half_width: float | None, text: str) -> None:
    assert str(figures.rate(value, half_width)) == text


@pytest.mark.parametrize(
    ("value", "interval", "text"),
    [
        (-6.4, (-10.8, -2.0), "−6.4 (−11 to −2)"),
        (1.6, (-2.9, 6.1), "+1.6 (−3 to +6)"),
        (11.1, (2.6, 19.6), "+11.1 (+3 to +20)"),
        (-0.01, (-5.0, 5.0), "0.0 (−5 to +5)"),
        (0.0, (-0.3, 0.4), "0.0 (−0.3 to +0.4)"),
        (33.33, None, "+33.3"),
    ],
)
def test_a_difference_is_always_signed(
    value: float, interval: tuple[float, float] | None, text: str
) -> None:
    assert str(figures.difference(value, interval)) == text


def test_the_full_value_is_kept_for_the_title() -> None:
    assert figures.score(72.3312345, (67.0, 77.5)).exact == "72.331235 [67, 77.5]"


def test_halves_go_up_and_not_to_the_even_digit() -> None:
    assert [figures.number(value, 0) for value in (0.5, 1.5, 2.5)] == ["1", "2", "3"]


def test_binary_fractions_are_rounded_as_they_are_written() -> None:
    assert figures.number(2.675, 2) == "2.68"


def test_negative_places_round_to_tens_and_hundreds() -> None:
    assert figures.number(2955, -2) == "3,000"


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 5e-324, 1e28, 2.0**53])
def test_a_number_of_any_size_is_told_in_few_characters(value: float) -> None:
    """Products of what results may hold: a page must not fail by one of them."""
    for decimals in (-300, 0, 6, 20, 320):
        assert len(figures.number(value, decimals)) <= 33
    told = [
        *(figures.added(value, (-value, value)), figures.amount(value, (0.0, value))),
        *(figures.ratio(abs(value), 0.0, abs(value)), figures.rate(abs(value), abs(value))),
        *(figures.difference(value, (-1e300, 1e300)), figures.score(value, (0.0, 1e300))),
    ]
    for figure in told:
        assert len(f"{figure} {figure.exact}") < 300
    assert float(figures.ratio(abs(value), None, None).value.rstrip("×").replace(",", "")) == (
        pytest.approx(abs(value), rel=0.05)
    )


def test_negative_numbers_have_a_true_minus_sign() -> None:
    assert figures.number(-6.44, 1) == "\u22126.4"


def test_counts_have_thousands_by_comma() -> None:
    assert figures.count(1234567) == "1,234,567"


def test_a_percent_sign_stands_after_a_no_break_space() -> None:
    assert figures.percent(0.6179) == "62\u202f%"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0312, "0.031"), (0.4, "0.40"), (9.14, "9.1"), (41.83, "41.8"), (104.2, "104")],
)
def test_seconds_keep_what_a_clock_can_tell(value: float, text: str) -> None:
    assert figures.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4, "0.40 s"), (95.2, "95 s"), (3780, "63 min"), (7500, "2 h 5 min"), (7200, "2 h")],
)
def test_durations_use_the_unit_people_use(value: float, text: str) -> None:
    assert figures.duration(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1440, 1980, "24 to 33 min"),
        (10, 40, "10 to 40 s"),
        (170, 185, "about 3 min"),
        (19, 118, "19 s to 2 min"),
        (0, 0.4, "less than 1 s"),
    ],
)
def test_time_left_is_a_range(low: float, high: float, text: str) -> None:
    assert figures.time_left(low, high) == text


def test_a_moment_is_given_in_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    assert figures.moment(datetime(2026, 11, 29, 15, 2, tzinfo=berlin)) == "2026-11-29 14:02 UTC"
    assert figures.moment(datetime(2026, 1, 2, 3, 4, tzinfo=UTC)) == "2026-01-02 03:04 UTC"


def test_memory_is_told_without_needless_decimals() -> None:
    assert [figures.memory(value) for value in (24.0, 7.5, 15.51)] == ["24", "7.5", "15.5"]


def test_windows_are_told_in_k_only_where_that_is_exact() -> None:
    assert [figures.tokens(value) for value in (128, 1024, 40960, 1000)] == [
        "128",
        "1K",
        "40K",
        "1,000",
    ]


@pytest.mark.parametrize(
    ("stdev", "value", "text"),
    [(0.486, 121.3, "0.5"), (3.14159, 40.3, "3.1"), (6e-17, 0.4, "0.0000"), (0.0, 40.3, "0")],
)
def test_a_deviation_is_no_finer_than_its_value(stdev: float, value: float, text: str) -> None:
    assert figures.deviation(stdev, value) == text


@pytest.mark.parametrize(
    ("value", "interval", "shown", "ends"),
    [
        (8_912.0, (8_700.0, 9_200.0), "8,900", "8,700–9,200"),
        (7.31, (6.9, 7.8), "7.3", "6.9–7.8"),
        (41_230.0, None, "41,200", None),
        (8.0, None, "8", None),
        (0.0, None, "0", None),
        (2.0, (-40.0, 44.0), "2.0", "−40.0–44.0"),
    ],
)
def test_an_amount_has_the_digits_that_its_interval_allows(
    value: float, interval: tuple[float, float] | None, shown: str, ends: str | None
) -> None:
    figure = figures.amount(value, interval)
    assert (figure.value, figure.interval) == (shown, ends)


def test_what_comes_on_top_is_signed_with_both_ends() -> None:
    assert str(figures.added(7.31, (6.9, 7.8))) == "+7.3 (+6.9 to +7.8)"
    assert str(figures.added(-0.42, (-1.1, 0.3))) == "−0.42 (−1.10 to +0.30)"
    assert str(figures.added(13.4, None)) == "+13.4"


def test_ends_of_a_ratio_that_say_nothing_are_not_printed() -> None:
    assert figures.ratio(0.721, 8e-9, 6e7).interval == "too few to say"
    assert figures.ratio(2.0, 0.1, 40.0).interval == "0.100–40.0"
