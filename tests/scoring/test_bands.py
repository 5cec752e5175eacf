"""Rank bands and Holm's adjustment."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.scoring.bands import Band, RankedRow, holm, rank_bands, unpaired_p


def test_holm_gives_the_adjusted_values_worked_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04 by 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04 -> 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_never_exceeds_one() -> None:
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_two_rows_are_told_apart_by_their_intervals() -> None:
    # Standard errors 3 and 4 give 5; a difference of 9.8 is 1.96 of them.
    a = RankedRow(50.0, 50 - 3 * 1.959964, 50 + 3 * 1.959964)
    b = RankedRow(59.8, 59.8 - 4 * 1.959964, 59.8 + 4 * 1.959964)
    assert unpaired_p(a, b) == pytest.approx(0.05, abs=1e-4)


def test_a_clipped_arm_does_not_make_a_row_surer() -> None:
    assert RankedRow(99.0, 93.12, 100.0).standard_error == pytest.approx(3.0, abs=1e-3)


def test_rows_without_an_interval_are_never_sure() -> None:
    assert unpaired_p(RankedRow(90.0, None, None), RankedRow(10.0, 9.0, 11.0)) == 1.0


def test_sure_rows_have_single_places() -> None:
    rows = [RankedRow(score, score - 1, score + 1) for score in (50.0, 90.0, 70.0)]
    assert rank_bands(rows) == [Band(3, 3), Band(1, 1), Band(2, 2)]


def test_tied_leaders_share_a_band() -> None:
    rows = [RankedRow(score, score - 4, score + 4) for score in (75.0, 74.0, 73.0, 40.0)]
    assert rank_bands(rows) == [Band(1, 3), Band(1, 3), Band(1, 3), Band(4, 4)]


def test_a_band_may_overlap_with_those_around_it() -> None:
    rows = [RankedRow(score, score - 4, score + 4) for score in (80.0, 75.0, 70.0)]
    assert rank_bands(rows) == [Band(1, 2), Band(1, 3), Band(2, 3)]


def test_a_lower_time_is_the_better_row() -> None:
    rows = [RankedRow(score, score - 0.01, score + 0.01) for score in (0.2, 0.9)]
    assert rank_bands(rows, is_higher_better=False) == [Band(1, 1), Band(2, 2)]


def test_a_row_alone_is_first() -> None:
    assert rank_bands([RankedRow(10.0, None, None)]) == [Band(1, 1)]
    assert rank_bands([]) == []


def test_only_the_best_two_hundred_rows_get_a_band() -> None:
    rows = [RankedRow(float(number) / 10, None, None) for number in range(203)]
    bands = rank_bands(rows)
    assert bands[:3] == [None, None, None]
    assert bands[3:] == [Band(1, 200)] * 200


scores = st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 20)), min_size=1, max_size=12)


@given(scores)
def test_bands_lie_inside_the_league_and_hold_the_rows_own_place(
    rows: list[tuple[float, float]],
) -> None:
    ranked = [RankedRow(score, score - reach, score + reach) for score, reach in rows]
    order = sorted((score for score, _ in rows), reverse=True)
    for (score, _), band in zip(rows, rank_bands(ranked), strict=True):
        assert band is not None
        assert 1 <= band.low <= 1 + order.index(score)
        assert band.low <= band.high <= len(rows)


@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_no_band(
    rows: list[tuple[float, float]], shuffler: random.Random
) -> None:
    ranked = [RankedRow(score, score - reach, score + reach) for score, reach in rows]
    before = rank_bands(ranked)
    order = list(range(len(ranked)))
    shuffler.shuffle(order)
    assert rank_bands([ranked[index] for index in order]) == [before[index] for index in order]
