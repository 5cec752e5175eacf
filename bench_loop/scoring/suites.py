"""Scores of one suite: what share of its tasks was done, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, TypeVar

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import RunResult, SuiteResult, Trial
from bench_loop.scoring.constants import CENSORED_SHARE, CUBED_TRIALS, ENGINE_FAULTS, OUTCOMES
from bench_loop.scoring.intervals import bounded, mean, wilson


@dataclass(frozen=True, slots=True)
class SuiteKey:
    """Which suite was to be run, with all of its tasks, whether or not they were."""

    suite: str
    version: str
    pack_hash: str
    dimension: Literal["quality", "speed"]
    task_ids: tuple[str, ...]
    left_out: int | None = None
    """Of fresh instances: official tasks that have none; None: the tasks are the pack's own."""
    is_private: bool = False
    """It is a person's own pack."""


@dataclass(frozen=True, slots=True)
class ScoredTask:
    """One task with all of its scored trials; there is at least one."""

    task_id: str
    trials: tuple[Trial, ...]

    @property
    def pass_share(self) -> float:
        """Passed trials / scored trials."""
        return mean([float(trial.outcome == "pass") for trial in self.trials])

    @property
    def family(self) -> str | None:
        """The family of a fresh instance; None: a frozen task."""
        return self.trials[0].family

    @property
    def readable_share(self) -> float:
        """Trials with a verdict on a readable answer / scored trials."""
        return mean([float(is_readable(trial)) for trial in self.trials])


@dataclass(frozen=True, slots=True)
class ScoredSuite:
    """A suite with its scored tasks (sorted by id) and with what was set aside."""

    key: SuiteKey
    tasks: tuple[ScoredTask, ...]
    unscored: tuple[Trial, ...]
    """Trials that say nothing about the model: infrastructure_error and not_applicable."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All scored trials."""
        return tuple(trial for task in self.tasks for trial in task.trials)

    @property
    def is_begun(self) -> bool:
        """Whether there is a trial that has an outcome."""
        return bool(self.tasks or self.unscored)

    @property
    def is_complete(self) -> bool:
        """Whether every task has a scored trial and none was not applicable."""
        is_applicable = all(trial.outcome != "not_applicable" for trial in self.unscored)
        return is_applicable and 0 < len(self.tasks) == len(set(self.key.task_ids))

    @property
    def units(self) -> tuple[tuple[ScoredTask, ...], ...]:
        """What counts as one in n: a task alone, or all fresh instances of one family."""
        return one_by_family(self.tasks, lambda task: task)

    def unit_means(self, value: Callable[[ScoredTask], float]) -> list[float]:
        """The mean of a value of tasks, for each unit."""
        return [mean([value(task) for task in unit]) for unit in self.units]

    @property
    def pass_shares(self) -> list[float]:
        """Of each unit."""
        return self.unit_means(lambda task: task.pass_share)

    @property
    def readable_shares(self) -> list[float]:
        """Of each unit."""
        return self.unit_means(lambda task: task.readable_share)


T = TypeVar("T")


def one_by_family(
    items: Iterable[T], task_of: Callable[[T], ScoredTask]
) -> tuple[tuple[T, ...], ...]:
    """`items` in groups that are independent of each other: fresh instances by their family."""
    groups: dict[tuple[bool, str], list[T]] = defaultdict(list)
    for item in items:
        task = task_of(item)
        is_fresh = task.family is not None
        groups[is_fresh, task.family or task.task_id].append(item)
    return tuple(map(tuple, groups.values()))


def is_warmup(trial: Trial) -> bool:
    """Whether this trial is kept but never scored."""
    return trial.is_warmup or trial.trial == 0


def is_scored(trial: Trial) -> bool:
    """Whether this trial is in the denominator of its suite."""
    return not is_warmup(trial) and trial.outcome is not None and OUTCOMES[trial.outcome].is_scored


def is_readable(trial: Trial) -> bool:
    """Whether a verifier judged an output from which the answer convention read an answer."""
    if trial.outcome is None or not OUTCOMES[trial.outcome].is_verdict:
        return False
    has_answer = trial.answer is not None and bool(trial.answer.strip())
    return has_answer and trial.reason not in ENGINE_FAULTS


def gather(key: SuiteKey, trials: Iterable[Trial]) -> ScoredSuite:
    """The trials of one suite, task by task. Trials of tasks that are not in `key` are left out."""
    known = set(key.task_ids)
    by_task: dict[str, list[Trial]] = defaultdict(list)
    unscored = []
    for trial in trials:
        if trial.suite != key.suite or trial.task_id not in known or is_warmup(trial):
            continue
        if is_scored(trial):
            by_task[trial.task_id].append(trial)
        elif trial.outcome is not None:
            unscored.append(trial)
    tasks = tuple(ScoredTask(task_id, tuple(by_task[task_id])) for task_id in sorted(by_task))
    return ScoredSuite(key, tasks, tuple(unscored))


def scored_suites(run: RunResult) -> tuple[ScoredSuite, ...]:
    """The quality suites of a result, each with the tasks that it has trials of."""
    by_suite: dict[str, list[Trial]] = defaultdict(list)
    for trial in run.trials:
        by_suite[trial.suite].append(trial)
    return tuple(
        gather(
            SuiteKey(
                suite=one.suite,
                version=one.version,
                pack_hash=one.pack_hash or "",
                dimension="quality",
                task_ids=tuple(sorted({trial.task_id for trial in by_suite[one.suite]})),
            ),
            by_suite[one.suite],
        )
        for one in run.suites
        if one.dimension == "quality"
    )


def suite_score(suite: ScoredSuite) -> float | None:
    """Suite score = 100 x mean over tasks of (passed trials / scored trials).

    Every scored trial is in the denominator: a pass counts 1; partial, fail, truncated and
    harness_error count 0. Fresh instances of one family are one task, with the mean of its
    instances. Null: no trial was scored.
    """
    return _percent(suite.pass_shares)


def suite_interval(suite: ScoredSuite) -> tuple[float, float] | None:
    """Suite interval = Wilson on x of n: x = sum of the task means, n = number of tasks, of which
    fresh instances of one family are one.

    With CENSORED_SHARE or more of the trials truncated the score is censored: the interval then
    runs from "all truncated wrong" to "all truncated right".
    """
    if not suite.tasks:
        return None
    n = len(suite.units)
    worst = math.fsum(suite.pass_shares)
    best = worst
    if _is_censored(_count(suite.trials)["truncated"], len(suite.trials)):
        best += math.fsum(suite.unit_means(lambda task: _share(task, "truncated")))
    low, high = wilson(worst, n)[0], wilson(best, n)[1]
    return bounded(100 * low), bounded(100 * high)


def diagnostic_score(suite: ScoredSuite) -> float | None:
    """Diagnostic score = the suite score with partial credit for pass and partial only.

    The credit is the verifier's own, 0 to 1. Shown beside the score, used in no aggregate.
    """
    return _percent(suite.unit_means(lambda task: mean([_credit(one) for one in task.trials])))


def score_of_finished(suite: ScoredSuite) -> float | None:
    """Score of finished = the suite score with truncated trials left out.

    Null: every trial was truncated.
    """
    units = [[_finished_share(task) for task in unit] for unit in suite.units]
    known = [[share for share in unit if share is not None] for unit in units]
    return _percent([mean(unit) for unit in known if unit])


def pass_cubed(suite: ScoredSuite) -> float | None:
    """pass^3 = 100 x mean over tasks of C(c, 3) / C(n, 3): c of n trials passed.

    The chance that three trials of a task, drawn without replacement, all pass. Null when a task
    has fewer than CUBED_TRIALS scored trials.
    """
    if any(len(task.trials) < CUBED_TRIALS for task in suite.tasks):
        return None
    return _percent(suite.unit_means(all_pass_chance))


def all_pass_chance(task: ScoredTask) -> float:
    """C(c, 3) / C(n, 3) of a task with n >= CUBED_TRIALS scored trials, c of them passed."""
    n = len(task.trials)
    passed = sum(trial.outcome == "pass" for trial in task.trials)
    return math.comb(passed, CUBED_TRIALS) / math.comb(n, CUBED_TRIALS)


def is_censored(suite: SuiteResult) -> bool:
    """Whether so many trials were truncated that the score is only a lower bound."""
    judged = (suite.pass_count, suite.partial_count, suite.fail_count)
    counts = (*judged, suite.truncated_count, suite.error_count)
    # None: imported, and how many were cut is not known.
    return _is_censored(suite.truncated_count or 0, sum(count or 0 for count in counts))


def suite_result(suite: ScoredSuite) -> SuiteResult:
    """The record of a quality suite."""
    return _record(suite, (*suite.trials, *suite.unscored), timed=suite.trials)


def speed_suite_result(key: SuiteKey, trials: Iterable[Trial]) -> SuiteResult:
    """The record of the speed suite: nothing in it is judged, so it has counts but no score.

    Its tasks are the shapes that were tried, whatever the plan.
    """
    own = [trial for trial in trials if trial.suite == key.suite and not is_warmup(trial)]
    measured = [trial for trial in own if trial.outcome is None]
    shapes = tuple(sorted({trial.task_id for trial in own}))
    return _record(ScoredSuite(replace(key, task_ids=shapes), (), ()), own, timed=measured)


def _record(suite: ScoredSuite, counted: Sequence[Trial], *, timed: Sequence[Trial]) -> SuiteResult:
    outcomes = _count(counted)
    latencies = [trial.latency_s for trial in timed if trial.latency_s is not None]
    return SuiteResult(
        suite=suite.key.suite,
        version=suite.key.version,
        pack_hash=suite.key.pack_hash,
        dimension=suite.key.dimension,
        score=suite_score(suite),
        score_interval=suite_interval(suite),
        diagnostic_score=diagnostic_score(suite),
        score_of_finished=score_of_finished(suite),
        pass_cubed=pass_cubed(suite),
        task_count=len(set(suite.key.task_ids)),
        pass_count=outcomes["pass"],
        partial_count=outcomes["partial"],
        fail_count=outcomes["fail"],
        truncated_count=outcomes["truncated"],
        error_count=outcomes["harness_error"] + outcomes["infrastructure_error"],
        left_out_count=suite.key.left_out,
        is_private=suite.key.is_private,
        median_latency_s=median(latencies) if latencies else None,
    )


def _percent(shares: Sequence[float]) -> float | None:
    return bounded(100 * mean(shares)) if shares else None


def _share(task: ScoredTask, outcome: Outcome) -> float:
    return mean([float(trial.outcome == outcome) for trial in task.trials])


def _finished_share(task: ScoredTask) -> float | None:
    """Passed trials / trials that were not truncated; None: all were."""
    finished = [trial for trial in task.trials if trial.outcome != "truncated"]
    return mean([float(trial.outcome == "pass") for trial in finished]) if finished else None


def _credit(trial: Trial) -> float:
    if trial.outcome == "pass":
        return 1.0 if trial.score is None else trial.score
    if trial.outcome == "partial":
        return trial.score or 0.0
    return 0.0


def _count(trials: Iterable[Trial]) -> Counter[str]:
    return Counter(trial.outcome for trial in trials if trial.outcome is not None)


def _is_censored(truncated: int, scored: int) -> bool:
    return truncated > 0 and truncated >= CENSORED_SHARE * scored
