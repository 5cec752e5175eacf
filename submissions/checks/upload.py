"""A result under check, with what this installation knows of its suites and its harness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bench_loop.config import bundled
from bench_loop.contracts.harness import Capability
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, pack_names
from bench_loop.engine.shelf import Shelf
from bench_loop.engine.suitability import why_not
from bench_loop.errors import PackError
from bench_loop.registry import load, names
from bench_loop.result.records import RunResult, Trial
from bench_loop.scoring.suites import is_warmup
from submissions.checks.endings import Ending, Harness, ending_of, with_verdict
from submissions.checks.finding import Finding

HARNESSES = bundled("harnesses")
PROVIDERS = bundled("bench_loop") / "providers"


@dataclass(frozen=True)
class Upload:
    """A result under check, with what this installation knows of its suites."""

    result: RunResult
    now: datetime
    sandbox: Sandbox | None = None
    """Where code of models is run; without one the verdicts on code stay as reported."""

    @property
    def shelf(self) -> Shelf:
        """The official packs, or the fresh instances of them that its seed draws."""
        return Shelf(self.result.settings.fresh_seed)

    @cached_property
    def packs(self) -> dict[str, Pack]:
        """The packs of the upload's suites, as its seed makes them.

        Unknown and private ones are left out, those of which the seed draws nothing, and those
        that the run has in an earlier version.
        """
        return {name: pack for name, pack in self._official.items() if name not in self.earlier}

    @cached_property
    def earlier(self) -> dict[str, Pack]:
        """The packs of which the run has an earlier version, whose tasks are not here any more."""
        return {
            suite.suite: pack
            for suite in self.result.suites
            if (pack := self._official.get(suite.suite)) is not None
            and pack.fresh_seed is None
            and suite.pack_hash is not None
            and pack.earlier.get(suite.version) == suite.pack_hash
        }

    @cached_property
    def _official(self) -> dict[str, Pack]:
        known = set(pack_names())
        found = {}
        for suite in self.result.suites:
            if suite.suite in known and not suite.is_private:
                with suppress(PackError):
                    found[suite.suite] = self.shelf.pack(suite.suite)
        return found

    @cached_property
    def tasks(self) -> dict[tuple[str, str], BenchmarkTask]:
        """Every task of those packs, by suite and task id."""
        return {(name, task.id): task for name, pack in self.packs.items() for task in pack.tasks}

    def is_capable_of(self, task: BenchmarkTask) -> bool:
        """Whether the upload's harness can be given `task`; one that is not known here cannot."""
        return self._capabilities is not None and why_not(task, self._capabilities) is None

    @cached_property
    def endings(self) -> dict[int, Ending]:
        """How each scored quality trial ended, by its index; those of unknown tasks left out."""
        found = {}
        for index, trial in enumerate(self.result.trials):
            task = self.tasks.get((trial.suite, trial.task_id))
            if task is not None and not is_warmup(trial):
                pack = self.packs[trial.suite]
                found[index] = ending_of(trial, task, pack, self._harness(task), self.sandbox)
        return found

    @cached_property
    def judged_trials(self) -> tuple[Trial, ...]:
        """The trials with this site's verdicts in the place of their own.

        What needs code to be run is as reported without a sandbox, and a person is told so.
        """
        return tuple(self._judged(index, trial) for index, trial in enumerate(self.result.trials))

    def _judged(self, index: int, trial: Trial) -> Trial:
        if trial.suite == "speed":
            # A timing has an outcome only where no reply came.
            has_reply = trial.finish_reason is not None
            return trial.model_copy(update={"outcome": None if has_reply else "fail"})
        ending = self.endings.get(index)
        if ending is None or ending.leaves_open(trial.outcome, trial.reason):
            return trial
        verdict = ending.verdict(trial.outcome, trial.reason)
        return trial if verdict is None else with_verdict(trial, verdict)

    def _harness(self, task: BenchmarkTask) -> Harness:
        is_known = self._capabilities is not None
        return Harness(
            is_program=self.result.subject.harness != "raw",
            lacks=not self.is_capable_of(task) if is_known else None,
        )

    @cached_property
    def _capabilities(self) -> frozenset[Capability] | None:
        name = self.result.subject.harness
        if name not in names(HARNESSES):
            return None
        found: frozenset[Capability] = load("harness", HARNESSES, name).Adapter.capabilities
        return found

    def quality_trials(self) -> Iterator[tuple[str, Trial]]:
        """The trials that verifiers judge, as judged here, with their field paths."""
        for index, trial in enumerate(self.judged_trials):
            if trial.suite in self.packs and self.packs[trial.suite].dimension == "quality":
                yield f"trials[{index}]", trial


Check = Callable[[Upload], Iterator[Finding]]
