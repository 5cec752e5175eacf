"""The quality tasks of a run, one after the other through the harness."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench_loop.contracts.harness import HarnessAdapter, HarnessConfig
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.budget import most_prompt_tokens
from bench_loop.engine.context import WindowGuard, refuse_cut_task
from bench_loop.engine.ledger import Ledger
from bench_loop.engine.packs import PackSuite
from bench_loop.engine.plan import FIRST_SEED, PlannedSuite, RunPlan
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed_plans import Rates, wall_limit_s
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.trial import run_trial, unsent_trial
from bench_loop.result.records import Trial


@dataclass(frozen=True, slots=True)
class QualitySuites:
    """Runs the tasks of a plan that the ledger does not hold yet."""

    plan: RunPlan
    harness: HarnessAdapter
    sandbox: Sandbox | None
    recorder: Recorder
    ledger: Ledger
    settings: Callable[[int], TrialSettings]
    """Of a trial with this seed, whose budgets are still to be set."""
    rates: Rates | None
    """Rough speeds for the wall limits; None: not measured."""
    guard: WindowGuard
    context_loaded: int | None
    """Window in tokens, as the server tells it."""

    def measure(self) -> None:
        """Run them in the plan's order, until one ends the run or its budget is spent.

        Raises ContextCutError when the server read less of a prompt than was sent.
        """
        kept = {(trial.task_id, trial.trial): trial for trial in self.ledger.trials}
        with tempfile.TemporaryDirectory(prefix="bench-loop-") as folder:
            self.harness.setup(
                HarnessConfig(
                    chat=self.recorder.chat,
                    state_folder=Path(folder),
                    toolbox=lambda task: make_toolbox(task, self.sandbox),
                )
            )
            try:
                for suite, task, number in self.plan.quality_trials:
                    if (before := kept.get((task.id, number))) is not None:
                        refuse_cut_task(task, before, self.context_loaded)
                    elif not self._has_run(suite, task, number):
                        return
            finally:
                self.harness.teardown()

    def _has_run(self, suite: PlannedSuite, task: BenchmarkTask, number: int) -> bool:
        """Run one trial and keep it; whether the next one may follow."""
        ledger = self.ledger
        if not ledger.has_time_for(suite.pack.name, task.id):
            return False
        ledger.announce(suite.pack.name, task.id, is_timed=False)
        trial = self._trial(suite, task, number)
        if trial.outcome == "truncated" and not ledger.has_time(0.0):
            return False  # Cut by the budget of the run, which says nothing of the model.
        ledger.keep(trial)
        refuse_cut_task(task, trial, self.context_loaded)
        return not ledger.is_over

    def _trial(self, suite: PlannedSuite, task: BenchmarkTask, number: int) -> Trial:
        settings = self._settings_of(suite, task, number)
        # Thinking may take what the window leaves, be it less than its budget.
        if (why := self.guard.why_not(task, self.plan.answer_tokens(task))) is not None:
            trial = unsent_trial(task, number, self.recorder, settings, why)
        else:
            judged_by = PackSuite(suite.pack, self.sandbox)
            trial = run_trial(judged_by, task, number, self.harness, self.recorder, settings)
        is_fresh = suite.pack.fresh_seed is not None
        return trial.model_copy(update={"family": task.family if is_fresh else None})

    def _settings_of(self, suite: PlannedSuite, task: BenchmarkTask, number: int) -> TrialSettings:
        budget = self.plan.answer_budget(task)
        limit_s = wall_limit_s(self.rates, most_prompt_tokens(task), budget)
        return replace(
            self.settings(FIRST_SEED + number),
            sampling=self.plan.sampling_of(suite),
            max_tokens=budget,
            wall_limit_s=self.ledger.within_budget(limit_s),
        )
