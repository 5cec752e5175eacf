"""Time left: nothing without evidence, then a range that covers what can come."""

from __future__ import annotations

import random

import pytest

from bench_loop.report.estimate import time_left


def test_nothing_is_said_before_three_trials() -> None:
    assert time_left({}, {"a": 5}) is None
    assert time_left({"a": [2.0, 3.0]}, {"a": 5}) is None


def test_equal_trials_leave_no_doubt_about_their_own_suite() -> None:
    assert time_left({"a": [2.0, 2.0, 2.0]}, {"a": 5}) == (10.0, 10.0)


def test_the_range_is_the_expected_sum_and_what_may_be_wrong_with_it() -> None:
    # Mean 2, variance 1: four more are 8, with variance 4 x 1 + 16 x 1/3; twice and 6/3 more.
    found = time_left({"a": [1.0, 2.0, 3.0]}, {"a": 4})
    assert found == pytest.approx((2.0, 8 + 4 * 9.333333**0.5))


def test_a_suite_that_has_not_begun_is_less_certain_than_one_that_has() -> None:
    seconds = {"a": [1.0, 2.0, 3.0]}
    own = time_left(seconds, {"a": 4})
    other = time_left(seconds, {"b": 4})
    assert own is not None
    assert other is not None
    assert other[1] > own[1]


def test_no_trial_is_expected_to_take_less_than_half_of_the_quickest_one() -> None:
    found = time_left({"a": [1.0, 1.0, 40.0]}, {"a": 3})
    assert found is not None
    assert found[0] == 1.5


def test_the_range_holds_the_truth_even_where_times_vary_wildly() -> None:
    rng = random.Random(7)
    hits = 0
    for _ in range(300):
        means = {"a": rng.uniform(1, 10), "b": rng.uniform(1, 10)}
        draw = {
            name: [rng.expovariate(1 / mean) for _ in range(10)] for name, mean in means.items()
        }
        found = time_left({"a": draw["a"][:5], "b": draw["b"][:3]}, {"a": 5, "b": 7})
        assert found is not None
        hits += found[0] <= sum(draw["a"][5:]) + sum(draw["b"][3:]) <= found[1]
    assert hits >= 255
