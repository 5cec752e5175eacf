"""The quality tasks of a run, one after the other through the harness."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager as Context
from dataclasses import dataclass, replace

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.blocks import Turn
from bench_loop.engine.context import WindowGuard, refuse_cut_task
from bench_loop.engine.ledger import Ledger
from bench_loop.engine.packs import PackSuite
from bench_loop.engine.plan import FIRST_SEED, PlannedSuite, RunPlan
from bench_loop.engine.recorder import TrialSettings
from bench_loop.engine.trial import unsent_trial
from bench_loop.engine.trials import Trials
from bench_loop.result.records import Trial


@dataclass(frozen=True, slots=True)
class QualitySuites:
    """Runs the tasks of a plan that the ledger does not hold yet."""

    plan: RunPlan
    trials: Context[Trials]
    """The harness at work, closed at the end."""
    sandbox: Sandbox | None
    ledger: Ledger
    settings: Callable[[int], TrialSettings]
    """Of a trial with this seed, whose budgets are still to be set."""
    guard: WindowGuard
    context_loaded: int | None
    """Window in tokens, as the server tells it."""
    turn: Turn | None = None
    """The block of a matrix that is run now; None: all tasks and trials."""

    def measure(self) -> None:
        """Run them in the plan's order, until one ends the run or its budget is spent.

        Raises ContextCutError when the server read less of a prompt than was sent.
        """
        kept = {(trial.task_id, trial.trial): trial for trial in self.ledger.trials}
        is_first = True
        with self.trials as trials:
            for suite, task, number in self.plan.quality_trials:
                if self.turn is not None and not self.turn.block.holds(task.id, number):
                    continue
                if (before := kept.get((task.id, number))) is not None:
                    refuse_cut_task(task, before, self.context_loaded)
                    continue
                trial = self._kept_trial(trials, suite, task, number, is_first=is_first)
                if trial is None:
                    return
                is_first = is_first and not _is_answered(trial)

    def _kept_trial(
        self,
        trials: Trials,
        suite: PlannedSuite,
        task: BenchmarkTask,
        number: int,
        *,
        is_first: bool,
    ) -> Trial | None:
        """Run one trial and keep it; None: no other one may follow."""
        ledger = self.ledger
        if not ledger.has_time_for(suite.pack.name, task.id):
            return None
        ledger.announce(suite.pack.name, task.id, is_timed=False)
        trial = self._trial(trials, suite, task, number)
        if trial.outcome == "truncated" and not ledger.has_time(0.0):
            return None  # Cut by the budget of the run, which says nothing of the model.
        if self.turn is not None:
            is_cold = self._is_cold(trial, is_first=is_first)
            trial = trial.model_copy(update={"is_cold": is_cold})
        ledger.keep(trial)
        refuse_cut_task(task, trial, self.context_loaded)
        return None if ledger.is_over else trial

    def _is_cold(self, trial: Trial, *, is_first: bool) -> bool | None:
        """Of a trial of this turn; None: the first after a block of the same arm.

        One that the model did not answer leaves it as cold as it was.
        """
        if not is_first or not _is_answered(trial):
            return False
        return True if self.turn is not None and self.turn.is_after_other else None

    def _trial(
        self, trials: Trials, suite: PlannedSuite, task: BenchmarkTask, number: int
    ) -> Trial:
        settings = self._settings_of(suite, task, number)
        # Thinking may take what the window leaves, be it less than its budget.
        if (why := self.guard.why_not(task, self.plan.answer_tokens(task))) is not None:
            trial = unsent_trial(task, number, settings, why)
        else:
            settings = replace(settings, wall_limit_s=self._wall_limit_s(trials, task))
            trial = trials.run(PackSuite(suite.pack, self.sandbox), task, number, settings)
        is_fresh = suite.pack.fresh_seed is not None
        return trial.model_copy(update={"family": task.family if is_fresh else None})

    def _settings_of(self, suite: PlannedSuite, task: BenchmarkTask, number: int) -> TrialSettings:
        return replace(
            self.settings(FIRST_SEED + number),
            sampling=self.plan.sampling_of(suite),
            max_tokens=self.plan.answer_budget(task),
        )

    def _wall_limit_s(self, trials: Trials, task: BenchmarkTask) -> float:
        limit_s = trials.wall_limit_s(task, self.plan.answer_budget(task))
        return self.ledger.within_budget(limit_s)


def _is_answered(trial: Trial) -> bool:
    """Whether the model read a prompt in it: until then what is in its cache is another arm's."""
    return trial.turns > 0
