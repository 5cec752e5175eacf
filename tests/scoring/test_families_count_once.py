"""Fresh instances of one family count as one task; the gap to frozen ones."""

from __future__ import annotations

import random

import pytest

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import Trial
from bench_loop.scoring.aggregates import reliability_interval
from bench_loop.scoring.capabilities import capability_scores
from bench_loop.scoring.gap import family_shares, fresh_gap
from bench_loop.scoring.intervals import wilson
from bench_loop.scoring.paired import compare_runs
from bench_loop.scoring.suites import (
    diagnostic_score,
    gather,
    pass_cubed,
    score_of_finished,
    suite_interval,
    suite_result,
    suite_score,
)
from tests.scoring.make_runs import run_result
from tests.scoring.make_trials import suite_key, task_trial


def fresh(family: str, number: int, *outcomes: Outcome, suite: str = "reasonmath") -> list[Trial]:
    """The trials of one instance of a family."""
    return [
        task_trial(suite, f"{family}-7-{number}", outcome, trial=trial).model_copy(
            update={"family": family}
        )
        for trial, outcome in enumerate(outcomes, start=1)
    ]


TRIALS = [
    *fresh("tank", 1, "pass"),
    *fresh("tank", 2, "pass"),
    *fresh("bus", 1, "fail"),
    *fresh("fare", 1, "truncated"),
]
SUITE = gather(suite_key("reasonmath", TRIALS), TRIALS)


def test_a_family_counts_once_in_score_and_interval() -> None:
    assert suite_score(SUITE) == pytest.approx(100 / 3)
    low, high = wilson(1, 3)[0], wilson(2, 3)[1]
    assert suite_interval(SUITE) == pytest.approx((100 * low, 100 * high))
    assert diagnostic_score(SUITE) == pytest.approx(100 / 3)
    assert score_of_finished(SUITE) == pytest.approx(50)
    assert suite_result(SUITE).task_count == 4
    assert SUITE.is_complete


def test_frozen_tasks_count_each_by_itself() -> None:
    frozen = [trial.model_copy(update={"family": None}) for trial in TRIALS]
    suite = gather(suite_key("reasonmath", frozen), frozen)
    assert suite_score(suite) == 50
    assert len(suite.units) == 4


def test_a_family_is_never_mixed_with_a_task_of_its_name() -> None:
    trials = [*fresh("tank", 1, "pass"), task_trial(task="tank", outcome="fail")]
    trials[1] = trials[1].model_copy(update={"task_id": "tank"})
    assert len(gather(suite_key("reasonmath", trials), trials).units) == 2


def test_reliability_is_as_sure_as_there_are_families() -> None:
    trials = [trial for n in range(1, 9) for trial in fresh("tank", n, "pass")]
    one = gather(suite_key("reasonmath", trials), trials)
    found = reliability_interval([one])
    assert found is not None
    assert found[0] == pytest.approx(100 * wilson(1, 1)[0])


def test_pass_cubed_is_taken_of_each_instance() -> None:
    trials = [*fresh("tank", 1, "pass", "pass", "pass"), *fresh("tank", 2, "pass", "pass", "fail")]
    assert pass_cubed(gather(suite_key("reasonmath", trials), trials)) == 50


def test_a_family_is_one_task_of_a_capability() -> None:
    tagged = [trial.model_copy(update={"capability_tags": ("units",)}) for trial in TRIALS]
    elsewhere = [trial.model_copy(update={"suite": "other"}) for trial in tagged[:1]]
    (found,) = capability_scores([*tagged, *elsewhere])
    assert (found.tag, found.task_count, found.passed) == ("units", 4, 2)


def test_a_family_is_one_task_in_a_comparison() -> None:
    other = [
        trial.model_copy(update={"outcome": "fail", "score": 0.0})
        if trial.family == "tank"
        else trial
        for trial in TRIALS
    ]
    settings = {"fresh_seed": 7}
    found = compare_runs(
        run_result(TRIALS, settings=settings), run_result(other, settings=settings)
    )
    assert found.quality is not None
    assert (found.quality.task_count, found.quality.discordant_count) == (3, 1)
    assert found.quality.difference == pytest.approx(-100 / 3)
    assert found.mcnemar_p is None
    assert [task.task_id for task in found.differing] == [
        "reasonmath.tank-7-1",
        "reasonmath.tank-7-2",
    ]


FAMILIES = {("a", "a.one"): "x", ("a", "a.two"): "x", ("a", "a.three"): "y", ("b", "b.one"): "z"}


def test_the_shares_of_families_are_means_of_their_tasks() -> None:
    trials = [
        task_trial("a", "one", "pass"),
        task_trial("a", "one", "fail", trial=2),
        task_trial("a", "two", "pass"),
        task_trial("a", "three", "fail"),
        task_trial("a", "unknown", "pass"),
        task_trial("b", "one", "infrastructure_error"),
    ]
    assert family_shares(trials, FAMILIES) == {"a": {"x": 0.75, "y": 0.0}}


def test_the_gap_is_taken_over_families_of_both_and_by_suites() -> None:
    frozen = {"a": {"x": 1.0, "y": 1.0, "gone": 0.0}, "b": {"z": 0.0, "w": 1.0}, "c": {"v": 1.0}}
    drawn = {"a": {"x": 0.0, "y": 1.0, "new": 1.0}, "b": {"z": 0.0, "w": 1.0}, "d": {"u": 1.0}}
    found = fresh_gap(frozen, drawn)
    assert found is not None
    assert (found.suites, found.family_count) == (("a", "b"), 4)
    assert (found.frozen, found.fresh, found.difference) == (75, 50, -25)
    assert found.low < -25 < found.high
    assert fresh_gap(frozen, {"d": {"u": 1.0}}) is None


def test_the_gap_is_never_certain() -> None:
    same = {"a": {str(number): 1.0 for number in range(8)}}
    found = fresh_gap(same, same)
    assert found is not None
    assert found.low < 0 < found.high


def test_the_interval_of_the_gap_covers_the_truth() -> None:
    """Against draws whose truth is known: two suites of eight families, 60 % and 40 %."""
    draw = random.Random(5)
    covered = 0
    for _ in range(400):
        sides = [
            {
                suite: {str(number): float(draw.random() < share) for number in range(8)}
                for suite in "ab"
            }
            for share in (0.6, 0.4)
        ]
        found = fresh_gap(sides[0], sides[1])
        assert found is not None
        covered += found.low <= -20 <= found.high
    assert covered / 400 > 0.92
