"""A result under check, with what this installation knows of its suites and its harness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bench_loop.config import bundled
from bench_loop.contracts.harness import Capability
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, pack_names
from bench_loop.engine.shelf import Shelf
from bench_loop.engine.suitability import why_not
from bench_loop.errors import PackError
from bench_loop.registry import load, names
from bench_loop.result.records import RunResult, Trial
from submissions.checks.finding import Finding

HARNESSES = bundled("harnesses")
PROVIDERS = bundled("bench_loop") / "providers"


@dataclass(frozen=True)
class Upload:
    """A result under check, with what this installation knows of its suites."""

    result: RunResult
    now: datetime

    @property
    def shelf(self) -> Shelf:
        """The official packs, or the fresh instances of them that its seed draws."""
        return Shelf(self.result.settings.fresh_seed)

    @cached_property
    def packs(self) -> dict[str, Pack]:
        """The packs of the upload's suites, as its seed makes them.

        Unknown and private ones are left out, and those of which the seed draws nothing.
        """
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
    def _capabilities(self) -> frozenset[Capability] | None:
        name = self.result.subject.harness
        if name not in names(HARNESSES):
            return None
        found: frozenset[Capability] = load("harness", HARNESSES, name).Adapter.capabilities
        return found

    def quality_trials(self) -> Iterator[tuple[str, Trial]]:
        """The trials that verifiers judge, with their field paths."""
        for index, trial in enumerate(self.result.trials):
            if trial.suite in self.packs and self.packs[trial.suite].dimension == "quality":
                yield f"trials[{index}]", trial


Check = Callable[[Upload], Iterator[Finding]]
