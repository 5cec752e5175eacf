"""A figure for each capability tag, worked by hand."""

from __future__ import annotations

import random

import pytest

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import Trial
from bench_loop.scoring.capabilities import CapabilityScore, capability_scores
from bench_loop.scoring.intervals import wilson
from tests.scoring.make_trials import suite_trials, task_trial


def tagged(task: str, outcome: Outcome, *tags: str, suite: str = "toolcall", n: int = 1) -> Trial:
    trial = task_trial(suite, task, outcome, trial=n)
    return trial.model_copy(update={"capability_tags": tags})


def scores(*trials: Trial) -> dict[str, float]:
    return {found.tag: found.score for found in capability_scores(trials)}


def test_abstention_is_the_share_of_its_own_tasks_alone() -> None:
    found = scores(
        tagged("a", "pass", "abstention"),
        tagged("b", "fail", "abstention", "state"),
        tagged("c", "partial", "abstention"),
        tagged("d", "pass", "state"),
    )
    assert found == {"abstention": pytest.approx(100 / 3), "state": 50.0}


def test_tasks_of_one_name_in_two_suites_are_two_tasks() -> None:
    (found,) = capability_scores(
        [tagged("a", "pass", "state"), tagged("a", "fail", "state", suite="agent")]
    )
    assert (found.task_count, found.passed) == (2, 1)


def test_tasks_weigh_the_same_however_many_trials_they_have() -> None:
    trials = [tagged("a", "pass", "state", n=1)]
    trials += [tagged("b", "fail", "state", n=number) for number in (1, 2, 3)]
    assert scores(*trials) == {"state": 50.0}


def test_what_says_nothing_of_the_model_is_in_no_figure() -> None:
    warm = tagged("c", "pass", "state").model_copy(update={"trial": 0, "is_warmup": True})
    found = scores(
        tagged("a", "infrastructure_error", "state"),
        tagged("b", "not_applicable", "state"),
        warm,
    )
    assert found == {}


def test_a_cut_answer_counts_as_not_passed() -> None:
    assert scores(tagged("a", "truncated", "state"), tagged("b", "harness_error", "state")) == {
        "state": 0.0
    }


def test_trials_without_tags_have_no_figure() -> None:
    assert capability_scores(suite_trials("reasonmath", ["pass", "fail"])) == ()


def test_the_interval_is_wilsons_over_the_tasks() -> None:
    found = CapabilityScore("state", 3, 1.0)
    assert found.interval == tuple(100 * end for end in wilson(1, 3))


def test_the_order_of_the_trials_changes_nothing() -> None:
    trials = [tagged("a", "pass", "state", "time"), tagged("b", "fail", "time", "abstention")]
    trials += [tagged("a", "fail", "state", "time", n=2)]
    shuffled = random.Random(3).sample(trials, len(trials))
    assert capability_scores(shuffled) == capability_scores(trials)
    assert [found.tag for found in capability_scores(trials)] == ["abstention", "state", "time"]
