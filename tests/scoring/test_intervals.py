"""Interval estimates against published values."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.scoring.intervals import (
    Variance,
    combined,
    incomplete_beta,
    score_interval,
    stdev,
    strata_interval,
    stratum_variance,
    t_cdf,
    t_quantile,
    wilson,
)


@pytest.mark.parametrize(
    ("x", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_intervals_published_by_newcombe_1998(
    x: float, n: int, low: float, high: float
) -> None:
    assert wilson(x, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_claims_no_certainty_at_none_and_all() -> None:
    assert wilson(0, 12) == (0.0, pytest.approx(0.2425, abs=5e-5))
    assert wilson(12, 12) == (pytest.approx(0.7575, abs=5e-5), 1.0)


def test_wilson_takes_a_fractional_x() -> None:
    # At one half: 0.5 -+ z / (2 sqrt(n + z^2)).
    low, high = wilson(2.5, 5)
    assert (low, high) == (pytest.approx(0.170424, abs=5e-6), pytest.approx(0.829576, abs=5e-6))


@given(st.integers(1, 500), st.floats(0, 1))
def test_wilson_always_holds_the_share_itself(n: int, share: float) -> None:
    low, high = wilson(share * n, n)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


@pytest.mark.parametrize(
    ("df", "expected"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (7, 2.365),
        (10, 2.228),
        (15, 2.131),
        (20, 2.086),
        (30, 2.042),
        (60, 2.000),
        (120, 1.980),
        (1e9, 1.960),
    ],
)
def test_t_quantile_gives_the_printed_table_at_0_975(df: float, expected: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("df", "expected"), [(1, 63.657), (5, 4.032), (10, 3.169), (30, 2.750)])
def test_t_quantile_gives_the_printed_table_at_0_995(df: float, expected: float) -> None:
    assert t_quantile(0.995, df) == pytest.approx(expected, abs=5e-4)


def test_t_quantile_is_exact_where_there_is_a_closed_form() -> None:
    # df 1: tan(pi (p - 1/2)); df 2: (2p - 1) sqrt(2 / (1 - (2p - 1)^2)).
    assert t_quantile(0.975, 1) == pytest.approx(12.706204736174707, rel=1e-12)
    assert t_quantile(0.975, 2) == pytest.approx(4.302652729749464, rel=1e-12)


def test_t_quantile_is_odd_around_one_half() -> None:
    assert t_quantile(0.025, 6.5) == -t_quantile(0.975, 6.5)


@given(st.floats(1, 300), st.floats(0.51, 0.999))
def test_t_quantile_undoes_the_distribution_function(df: float, probability: float) -> None:
    assert t_cdf(t_quantile(probability, df), df) == pytest.approx(probability, abs=1e-12)


def test_incomplete_beta_gives_its_closed_forms() -> None:
    # I_x(1, b) = 1 - (1 - x)^b; I_x(2, 3) = 6x^2 - 8x^3 + 3x^4.
    assert incomplete_beta(1, 2.5, 0.3) == pytest.approx(1 - 0.7**2.5, rel=1e-14)
    assert incomplete_beta(2, 3, 0.4) == pytest.approx(0.5248, rel=1e-14)


@given(st.floats(0.5, 200), st.floats(0.5, 200), st.floats(0, 1))
def test_incomplete_beta_is_a_probability_and_symmetric(a: float, b: float, x: float) -> None:
    value = incomplete_beta(a, b, x)
    assert 0 <= value <= 1 + 1e-12
    assert value == pytest.approx(1 - incomplete_beta(b, a, 1 - x), abs=1e-9)


def test_a_stratum_has_the_variance_of_its_mean() -> None:
    # Means 1, 0, 1, 0: s^2 = 1/3, divided by 4.
    assert stratum_variance([1, 0, 1, 0]) == Variance(pytest.approx(1 / 12), 3)


def test_a_stratum_without_spread_is_not_certain() -> None:
    # 0 of 4: p = 0.5 / 5 = 0.1, variance 0.1 x 0.9 / 5 = 0.018. 4 of 4: the same by symmetry.
    assert stratum_variance([0, 0, 0, 0]) == Variance(pytest.approx(0.018), 3)
    assert stratum_variance([1, 1, 1, 1]) == Variance(pytest.approx(0.018), 3)


def test_a_stratum_of_one_task_is_almost_unknown() -> None:
    # 1 of 1: p = 1.5 / 2 = 0.75, variance 0.75 x 0.25 / 2.
    assert stratum_variance([1]) == Variance(pytest.approx(0.09375), 1)


def test_suites_without_spread_are_as_sure_as_their_tasks_and_no_surer() -> None:
    # 0 of 3 x 6: n* is 18, df 15, t = 2.131450: t^2 / (18 + t^2) = 0.201529.
    assert strata_interval([[0.0] * 6] * 3) == (0.0, pytest.approx(0.201529, abs=1e-6))
    assert strata_interval([[1.0] * 6] * 3) == (pytest.approx(0.798471, abs=1e-6), 1.0)


def test_trials_that_agree_on_a_middling_share_make_a_stratum_surer() -> None:
    # Means 1/3, 2/3 (three of each): s^2 = 1 / 30, SE^2 = 1 / 180, n* = 0.25 x 180 = 45, df 5,
    # t = 2.570582: 0.5 -+ t / (2 sqrt(45 + t^2)).
    low, high = strata_interval([[1 / 3, 2 / 3] * 3])
    assert (low, high) == (pytest.approx(0.321086, abs=1e-6), pytest.approx(0.678914, abs=1e-6))


def test_a_single_task_says_almost_nothing() -> None:
    # v = 0.75 x 0.25 / 2, so n* = 2; df 1, t = 12.7062: 2 / (2 + t^2) = 0.012236.
    assert strata_interval([[1.0]]) == (pytest.approx(0.012236, abs=1e-6), 1.0)


strata = st.lists(
    st.lists(st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0]), min_size=1, max_size=8),
    min_size=1,
    max_size=5,
)


@given(strata)
def test_the_interval_of_strata_holds_their_mean_and_mirrors_it(means: list[list[float]]) -> None:
    low, high = strata_interval(means)
    centre = sum(sum(each) / len(each) for each in means) / len(means)
    assert 0 <= low <= centre + 1e-12
    assert centre - 1e-12 <= high <= 1
    mirrored = strata_interval([[1 - mean for mean in each] for each in means])
    assert mirrored == (pytest.approx(1 - high, abs=1e-6), pytest.approx(1 - low, abs=1e-6))


def test_variances_combine_by_satterthwaite() -> None:
    # (4 + 9)^2 / (16 / 5 + 81 / 8) = 169 / 13.325.
    total = combined([Variance(4, 5), Variance(9, 8)])
    assert total == Variance(13, pytest.approx(12.68293, abs=5e-6))


def test_nothing_combined_is_certain_and_makes_no_error() -> None:
    assert score_interval(40.0, combined([])) == (40.0, 40.0)


def test_the_standard_deviation_of_one_value_is_unknown() -> None:
    assert stdev([3.0]) is None
    assert stdev([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]) == pytest.approx(2.13809, abs=5e-6)


def test_what_rounding_leaves_is_no_spread() -> None:
    # 1 - 2/3 and 1/3 differ in the last bit; taken for spread, that would claim certainty.
    assert stdev([1 - 2 / 3, 1 / 3, 2 / 3 - 1 / 3]) == 0.0


def test_nineteen_of_twenty_intervals_of_a_suite_hold_the_truth() -> None:
    draw = random.Random(7)
    truth, n, runs = 0.3, 40, 1000
    held = 0
    for _ in range(runs):
        low, high = wilson(sum(draw.random() < truth for _ in range(n)), n)
        held += low <= truth <= high
    assert 0.93 <= held / runs <= 0.98
