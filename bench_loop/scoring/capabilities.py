"""How well each capability was shown: the tasks that carry its tag, over all quality suites.

From the trials alone, which hold their tags: labels may be corrected without a new pack hash, so
nothing of this is stored beside the scores, and every reader reckons it in the same way.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from bench_loop.result.records import Trial
from bench_loop.scoring.intervals import bounded, mean, wilson
from bench_loop.scoring.suites import ScoredTask, is_scored, one_by_family


@dataclass(frozen=True, slots=True)
class CapabilityScore:
    """One tag with its scored tasks."""

    tag: str
    task_count: int
    passed: float
    """Sum of the tasks' shares of passed trials: with one trial each, the tasks that passed."""

    @property
    def score(self) -> float:
        return bounded(100 * self.passed / self.task_count)

    @property
    def interval(self) -> tuple[float, float]:
        low, high = wilson(self.passed, self.task_count)
        return bounded(100 * low), bounded(100 * high)


def capability_scores(trials: Iterable[Trial]) -> tuple[CapabilityScore, ...]:
    """Capability score = 100 x mean over the tasks that carry a tag of (passed / scored trials).

    Over all quality suites of the run, with Wilson's interval; fresh instances of one family are
    one task. A task counts in full for each of its tags, so these figures overlap; they are shown
    beside the scores and used in no aggregate.
    Abstention accuracy is the one of the tag `abstention`: tasks in which the right thing is to
    leave the tools, or the world, alone.
    """
    tagged: dict[str, dict[tuple[str, str], list[Trial]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        if is_scored(trial):
            for tag in trial.capability_tags:
                tagged[tag][trial.suite, trial.task_id].append(trial)
    return tuple(_capability(tag, tagged[tag]) for tag in sorted(tagged))


def _capability(tag: str, tasks: dict[tuple[str, str], list[Trial]]) -> CapabilityScore:
    by_suite: dict[str, list[ScoredTask]] = defaultdict(list)
    for (suite, task_id), trials in tasks.items():
        by_suite[suite].append(ScoredTask(task_id, tuple(trials)))
    units = [unit for scored in by_suite.values() for unit in one_by_family(scored, lambda t: t)]
    passed = math.fsum(mean([task.pass_share for task in unit]) for unit in units)
    return CapabilityScore(tag, len(units), passed)
