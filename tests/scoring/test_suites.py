"""Scores of one suite, each worked by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import SuiteResult
from bench_loop.scoring.suites import gather, is_censored, is_readable, suite_result
from tests.scoring.make_trials import suite_key, suite_trials, task_trial

SCORED: tuple[Outcome, ...] = ("pass", "partial", "fail", "truncated", "harness_error")


def result_of(outcomes: Sequence[Outcome | Sequence[Outcome]]) -> SuiteResult:
    trials = suite_trials("reasonmath", outcomes)
    return suite_result(gather(suite_key("reasonmath", trials), trials))


def test_only_a_pass_counts_and_every_scored_trial_is_in_the_denominator() -> None:
    result = result_of(["pass", "partial", "fail", "truncated", "harness_error"])
    assert result.score == 20.0


def test_tasks_weigh_the_same_however_many_trials_they_have() -> None:
    # (1 + 0 + 1/3) / 3
    result = result_of([["pass"], ["fail", "fail"], ["pass", "fail", "fail"]])
    assert result.score == pytest.approx(44.4444, abs=5e-5)


def test_counts_are_of_scored_trials() -> None:
    result = result_of([["pass", "pass"], ["partial", "fail"], ["truncated", "harness_error"]])
    assert (result.pass_count, result.partial_count, result.fail_count) == (2, 1, 1)
    assert (result.truncated_count, result.error_count, result.task_count) == (1, 1, 3)


def test_cut_answers_stand_beside_the_wrong_ones_c151() -> None:
    result = result_of(["pass", "truncated", "truncated", "fail"])
    assert (result.task_count, result.pass_count) == (4, 1)
    assert (result.truncated_count, result.fail_count) == (2, 1)
    assert (result.score, result.score_of_finished) == (25.0, 50.0)


def test_infrastructure_errors_are_counted_and_never_scored() -> None:
    result = result_of([["pass", "infrastructure_error"], ["infrastructure_error"]])
    assert (result.score, result.error_count, result.task_count) == (100.0, 2, 2)


def test_a_task_that_was_not_applicable_is_in_no_denominator() -> None:
    assert result_of(["pass", "fail", "not_applicable"]).score == 50.0


def test_a_suite_without_a_scored_trial_has_no_score() -> None:
    result = result_of(["infrastructure_error"])
    assert (result.score, result.score_interval, result.pass_cubed) == (None, None, None)
    assert (result.diagnostic_score, result.score_of_finished) == (None, None)


def test_warm_ups_are_not_scored() -> None:
    trials = [
        task_trial(task="a", outcome="pass"),
        task_trial(task="a", outcome="fail", is_warmup=True, trial=0),
    ]
    assert suite_result(gather(suite_key("reasonmath", trials), trials)).score == 100.0


def test_trials_of_unknown_tasks_are_left_out() -> None:
    trials = [task_trial(task="a", outcome="fail"), task_trial(task="invented", outcome="pass")]
    key = suite_key("reasonmath", task_ids=["reasonmath.a"])
    assert suite_result(gather(key, trials)).score == 0.0


def test_the_diagnostic_score_gives_credit_for_partial_and_none_for_a_fail() -> None:
    trials = [
        task_trial(task="a", outcome="pass", score=1.0),
        task_trial(task="b", outcome="partial", score=0.5),
        task_trial(task="c", outcome="fail", score=0.9),
        task_trial(task="d", outcome="truncated", score=0.9),
    ]
    result = suite_result(gather(suite_key("reasonmath", trials), trials))
    assert (result.score, result.diagnostic_score) == (25.0, 37.5)


def test_the_score_of_finished_leaves_truncated_trials_out() -> None:
    result = result_of([["pass", "truncated"], ["truncated"], ["fail"], ["pass"]])
    # Tasks 1, 3 and 4 have a finished trial: (1 + 0 + 1) / 3.
    assert result.score_of_finished == pytest.approx(66.6667, abs=5e-5)


def test_pass_cubed_is_the_chance_of_three_passes_in_a_row() -> None:
    # C(4,3)/C(4,3) = 1, C(3,3)/C(4,3) = 1/4, C(2,3)/C(4,3) = 0.
    tasks = [["pass"] * 4, ["pass"] * 3 + ["fail"], ["pass"] * 2 + ["fail"] * 2]
    assert result_of(tasks).pass_cubed == pytest.approx(41.6667, abs=5e-5)


def test_pass_cubed_is_unknown_below_three_trials() -> None:
    assert result_of([["pass"] * 3, ["pass"] * 2]).pass_cubed is None


def test_the_interval_is_wilsons_over_tasks_and_not_over_trials() -> None:
    # x = 6 of n = 12 tasks, three trials each.
    result = result_of([["pass"] * 3] * 6 + [["fail"] * 3] * 6)
    assert result.score_interval == (
        pytest.approx(25.378, abs=5e-4),
        pytest.approx(74.622, abs=5e-4),
    )


def test_truncated_trials_widen_the_interval_up_to_all_of_them_right() -> None:
    result = result_of(["pass"] * 5 + ["fail"] * 3 + ["truncated"] * 2)
    # Wilson low of 5/10 and Wilson high of 7/10.
    assert result.score_interval == (pytest.approx(23.66, abs=0.01), pytest.approx(89.22, abs=0.01))
    assert is_censored(result)


def test_fewer_than_two_percent_truncated_do_not_censor() -> None:
    result = result_of(["pass"] * 50 + ["fail"] * 50 + ["truncated"])
    assert not is_censored(result)
    assert result.score_interval == (pytest.approx(39.95, abs=0.01), pytest.approx(59.09, abs=0.01))


def test_latency_is_the_median_of_scored_trials() -> None:
    trials = [
        task_trial(task="a", latency_s=1.0),
        task_trial(task="b", latency_s=9.0),
        task_trial(task="c", latency_s=2.0),
        task_trial(task="d", latency_s=500.0, outcome="infrastructure_error"),
    ]
    assert suite_result(gather(suite_key("reasonmath", trials), trials)).median_latency_s == 2.0


@pytest.mark.parametrize("outcome", ["pass", "partial", "fail"])
def test_a_verdict_on_an_answer_is_readable(outcome: Outcome) -> None:
    assert is_readable(task_trial(outcome=outcome))


@pytest.mark.parametrize("outcome", ["truncated", "harness_error", "infrastructure_error"])
def test_without_a_verdict_nothing_is_readable(outcome: Outcome) -> None:
    assert not is_readable(task_trial(outcome=outcome, answer="42"))


@pytest.mark.parametrize("reason", ["engine_rejected_output", "context_overflow", "engine_crashed"])
def test_a_fault_of_the_engine_is_not_readable(reason: str) -> None:
    assert not is_readable(task_trial(outcome="fail", reason=reason, answer="42"))


def test_an_empty_or_blank_answer_is_not_readable() -> None:
    assert not is_readable(task_trial(outcome="fail", answer=None))
    assert not is_readable(task_trial(outcome="fail", answer=" \n"))


tasks = st.lists(st.lists(st.sampled_from(SCORED), min_size=1, max_size=4), min_size=1, max_size=12)


@given(tasks)
def test_every_score_is_inside_its_interval_and_its_bounds(outcomes: list[list[Outcome]]) -> None:
    result = result_of(outcomes)
    assert result.score is not None
    assert result.score_interval is not None
    low, high = result.score_interval
    assert 0 <= low <= result.score <= high <= 100


@given(tasks, st.randoms(use_true_random=False))
def test_the_order_of_trials_changes_nothing(
    outcomes: list[list[Outcome]], shuffler: random.Random
) -> None:
    trials = suite_trials("reasonmath", outcomes)
    key = suite_key("reasonmath", trials)
    before = suite_result(gather(key, trials))
    shuffler.shuffle(trials)
    assert suite_result(gather(key, trials)) == before


@given(tasks, st.data())
def test_one_more_pass_never_lowers_a_score(
    outcomes: list[list[Outcome]], data: st.DataObject
) -> None:
    task = data.draw(st.integers(0, len(outcomes) - 1))
    better = [list(trials) for trials in outcomes]
    better[task][0] = "pass"
    before, after = result_of(outcomes), result_of(better)
    assert before.score is not None
    assert after.score is not None
    assert after.score >= before.score - 1e-9
