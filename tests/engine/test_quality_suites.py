"""The judged trials of a run: how long each may take, be it in this process or in a program."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.blocks import Turn, blocks
from bench_loop.engine.context import WindowGuard
from bench_loop.engine.ledger import Ledger
from bench_loop.engine.packs import PackSuite
from bench_loop.engine.plan import make_plan
from bench_loop.engine.quality_suites import QualitySuites
from bench_loop.engine.recorder import TrialSettings
from bench_loop.engine.trial import unsent_trial
from bench_loop.result.records import MatrixArm, Trial
from tests.engine.doubles import reply
from tests.engine.test_trial import SETTINGS

PLAN = make_plan(suites=["reasonmath"])


@dataclass
class Slow:
    """A harness whose trials may take 1,000 s, and that notes what they were given."""

    given_s: list[float] = field(default_factory=list)

    def wall_limit_s(self, task: BenchmarkTask, budget: int) -> float:
        return 1000.0

    def run(
        self, suite: PackSuite, task: BenchmarkTask, number: int, settings: TrialSettings
    ) -> Trial:
        self.given_s.append(settings.wall_limit_s)
        return unsent_trial(task, number, settings, "not asked")


@pytest.mark.parametrize(("left_s", "given_s"), [(None, 1000.0), (5000.0, 1000.0), (300.0, 300.0)])
def test_a_trial_has_the_time_of_its_harness_and_ends_with_the_budget_of_the_run(
    left_s: float | None, given_s: float
) -> None:
    slow = Slow()
    ledger = Ledger(lambda event: None, lambda trials: None, [], lambda: 100.0)
    ledger.deadline = None if left_s is None else 100.0 + left_s
    suites = QualitySuites(
        PLAN,
        nullcontext(slow),
        None,
        ledger,
        lambda seed: replace(SETTINGS, seed=seed),
        WindowGuard(lambda text: None, lambda text, tokens: reply(text), None),
        None,
    )
    suites.measure()
    assert set(slow.given_s) == {given_s}
    assert len(slow.given_s) == len(PLAN.quality_trials)


@dataclass
class Silent:
    """A harness that is not given its first tasks, as those that it cannot do, and then answers."""

    unasked: int
    count: int = 0

    def wall_limit_s(self, task: BenchmarkTask, budget: int) -> float:
        return 1000.0

    def run(
        self, suite: PackSuite, task: BenchmarkTask, number: int, settings: TrialSettings
    ) -> Trial:
        self.count += 1
        trial = unsent_trial(task, number, settings, "not asked")
        return trial.model_copy(update={"turns": int(self.count > self.unasked)})


@pytest.mark.parametrize(
    ("unasked", "is_after_other", "marks"),
    [
        (0, True, [True, False, False, False]),
        (0, False, [None, False, False, False]),
        (2, True, [False, False, True, False]),
        (2, False, [False, False, None, False]),
    ],
)
def test_a_block_is_cold_until_the_model_has_answered_in_it(
    unasked: int, is_after_other: bool, marks: list[bool | None]
) -> None:
    ledger = Ledger(lambda event: None, lambda trials: None, [], lambda: 100.0)
    arm = MatrixArm(matrix_id="matrix-20260102T030405Z-abcdefghij", arm=1, arms=("raw", "twin"))
    suites = QualitySuites(
        PLAN,
        nullcontext(Silent(unasked)),
        None,
        ledger,
        lambda seed: replace(SETTINGS, seed=seed),
        WindowGuard(lambda text: None, lambda text, tokens: reply(text), None),
        None,
        Turn(arm, blocks(PLAN, 2)[0], is_after_other),
    )
    suites.measure()
    assert [trial.is_cold for trial in ledger.trials][:4] == marks
