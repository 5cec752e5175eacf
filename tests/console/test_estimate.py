"""Time left: nothing without evidence, then a range that covers what can come."""

from __future__ import annotations

import random

import pytest

from bench_loop.report.estimate import Finished, TimeLeft, time_left


def took(*seconds: float) -> list[Finished]:
    return [Finished(one) for one in seconds]


def trials(count: int) -> list[float]:
    """So many trials to come, of which nothing is known."""
    return [1.0] * count


def test_nothing_is_said_before_three_trials() -> None:
    assert time_left({}, {"a": trials(5)}) is None
    assert time_left({"a": took(2.0, 3.0)}, {"a": trials(5)}) is None


def test_equal_trials_leave_no_doubt_about_their_own_suite() -> None:
    assert time_left({"a": took(2.0, 2.0, 2.0)}, {"a": trials(5)}) == TimeLeft(10.0, 10.0, 10.0)


def test_the_range_is_the_expected_sum_and_what_may_be_wrong_with_it() -> None:
    # Mean 2, variance 1: four more are 8, with variance 4 x 1 + 16 x 1/3; twice and 6/3 more.
    found = time_left({"a": took(1.0, 2.0, 3.0)}, {"a": trials(4)})
    assert found == pytest.approx((2.0, 8.0, 8 + 4 * 9.333333**0.5))


def test_a_suite_that_has_not_begun_is_less_certain_than_one_that_has() -> None:
    seconds = {"a": took(1.0, 2.0, 3.0)}
    own = time_left(seconds, {"a": trials(4)})
    other = time_left(seconds, {"b": trials(4)})
    assert own is not None
    assert other is not None
    assert other.high > own.high


def test_no_trial_is_expected_to_take_less_than_half_of_the_quickest_one() -> None:
    found = time_left({"a": took(1.0, 1.0, 40.0)}, {"a": trials(3)})
    assert found is not None
    assert found.low == 1.5


def test_the_range_holds_the_truth_even_where_times_vary_wildly() -> None:
    rng = random.Random(7)
    hits = 0
    for _ in range(300):
        means = {"a": rng.uniform(1, 10), "b": rng.uniform(1, 10)}
        draw = {
            name: [rng.expovariate(1 / mean) for _ in range(10)] for name, mean in means.items()
        }
        found = time_left(
            {"a": took(*draw["a"][:5]), "b": took(*draw["b"][:3])}, {"a": trials(5), "b": trials(7)}
        )
        assert found is not None
        hits += found.low <= sum(draw["a"][5:]) + sum(draw["b"][3:]) <= found.high
    assert hits >= 255


def test_a_forecast_speaks_before_the_first_answer_and_says_how_little_it_knows() -> None:
    # 20 s expected, give or take half, at 2 + 6/3 standard deviations; never below zero.
    found = time_left({}, {"a": [10.0, 10.0]}, is_forecast=True)
    assert found == pytest.approx((0.0, 20.0, 20 + 4 * (0.25 * 200 + 0.25 * 400) ** 0.5))


def test_answers_twice_as_long_as_expected_double_what_is_to_come() -> None:
    done = {"a": [Finished(2.0, 1.0), Finished(6.0, 3.0), Finished(8.0, 4.0)]}
    assert time_left(done, {"b": [5.0]}, is_forecast=True) == TimeLeft(10.0, 10.0, 10.0)


def test_before_any_answer_the_speed_trials_say_how_quick_the_machine_is() -> None:
    # Three and a half times as slow in three trials, as forecast in as many more.
    done = {"speed": [Finished(7.0, 2.0)] * 3}
    found = time_left(done, {"a": [10.0]}, is_forecast=True)
    assert found is not None
    assert found.expected == 22.5


def test_speed_trials_say_nothing_about_the_length_of_answers() -> None:
    done = {"speed": [Finished(3.0, 2.0)] * 5, "a": [Finished(1.0, 2.0)] * 3}
    found = time_left(done, {"b": [10.0]}, is_forecast=True)
    assert found is not None
    assert found.expected == 5.0
