"""Figures over tasks with their intervals."""

from __future__ import annotations

import math
import random

import pytest

from bench_loop.scoring.estimates import (
    Estimate,
    mean_estimate,
    median_estimate,
    ratio_estimate,
    share_estimate,
)
from bench_loop.scoring.intervals import wilson


def test_a_mean_has_students_interval() -> None:
    # s = 1.290994, SE = 0.645497, t(0.975, 3) = 3.182446: 2.5 -+ 2.054260.
    found = mean_estimate([1.0, 2.0, 3.0, 4.0])
    assert found is not None
    assert (found.value, found.n) == (2.5, 4)
    assert (found.low, found.high) == (pytest.approx(0.445740), pytest.approx(4.554260))


def test_the_interval_of_an_amount_ends_at_none() -> None:
    # s = 1.414214, SE = 1, t(0.975, 1) = 12.706205: 2 -+ 12.706205.
    found = mean_estimate([1.0, 3.0], least=0.0)
    assert found is not None
    assert (found.value, found.low) == (2.0, 0.0)
    assert found.high == pytest.approx(14.706205)


def test_a_single_task_has_no_interval() -> None:
    assert mean_estimate([7.0]) == Estimate(7.0, None, None, 1)
    assert ratio_estimate([(2.0, 6.0)]) == Estimate(pytest.approx(3.0), None, None, 1)


def test_of_no_task_there_is_no_figure() -> None:
    assert mean_estimate([]) is None
    assert ratio_estimate([(0.0, 1.0), (1.0, 0.0)]) is None
    assert share_estimate([]) is None
    assert median_estimate([]) is None


def test_equal_amounts_are_told_exactly() -> None:
    assert mean_estimate([0.0, 0.0, 0.0]) == Estimate(0.0, 0.0, 0.0, 3)


def test_a_ratio_is_a_geometric_mean() -> None:
    # Logs 0 and 2 log 4: mean log 4, s = sqrt(2) log 4, SE = log 4, t(0.975, 1) = 12.7062.
    found = ratio_estimate([(3.0, 3.0), (1.0, 16.0)])
    assert found is not None
    assert found.value == pytest.approx(4.0)
    assert found.high == pytest.approx(4 * 4**12.706205)
    assert found.low == pytest.approx(4 / 4**12.706205)


def test_half_and_double_are_no_change() -> None:
    found = ratio_estimate([(1.0, 2.0), (2.0, 1.0)])
    assert found is not None
    assert found.value == pytest.approx(1.0)


def test_ends_beyond_any_number_are_still_numbers() -> None:
    found = ratio_estimate([(5e-324, 1e9), (1.0, 1.0)])
    assert found is not None
    assert found.high is not None
    assert math.isfinite(found.high)
    assert found.low == pytest.approx(0.0)


def test_a_share_has_wilsons_interval_with_tasks_for_n() -> None:
    low, high = wilson(1.5, 3)
    assert share_estimate([0.0, 0.5, 1.0]) == Estimate(50.0, 100 * low, 100 * high, 3)


def test_no_share_at_all_is_not_certain_to_be_none() -> None:
    found = share_estimate([0.0] * 12)
    assert found is not None
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(24.25, abs=0.01)


@pytest.mark.parametrize(
    ("count", "rank"),
    # Ranks of the table of 95 % intervals of a median, as in any table of the sign test.
    [(1, 0), (5, 0), (6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (15, 4), (20, 6), (25, 8)],
)
def test_a_median_lies_between_order_statistics(count: int, rank: int) -> None:
    values = [float(number) for number in range(1, count + 1)]
    found = median_estimate(list(reversed(values)))
    ends = (None, None) if rank == 0 else (float(rank), float(count + 1 - rank))
    assert found == Estimate((count + 1) / 2, *ends, count)


def test_the_interval_of_a_median_holds_it_for_a_skewed_distribution() -> None:
    draw, held = random.Random(7), 0
    for _ in range(500):
        found = median_estimate([draw.lognormvariate(0, 2) for _ in range(12)])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.0 <= found.high
    # Exactly 96.1 % for twelve values; two standard errors of 500 draws are 1.7 %.
    assert 0.94 <= held / 500 <= 0.98
