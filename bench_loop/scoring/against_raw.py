"""A model in a harness against the same model in raw: which runs are compared, and on what."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench_loop.result.compare import is_one_matrix, not_comparable
from bench_loop.result.records import RunResult
from bench_loop.scoring.bands import holm
from bench_loop.scoring.cells import ScoredRun
from bench_loop.scoring.constants import ALPHA
from bench_loop.scoring.harness_costs import HarnessCosts, harness_costs
from bench_loop.scoring.paired import Difference, Verdict, compare_runs, is_same_prompt
from bench_loop.scoring.suites import ScoredSuite


@dataclass(frozen=True, slots=True)
class AgainstRaw:
    """A model in a harness against the same model in raw: quality and costs, never mixed."""

    raw_run_id: str
    run_id: str
    is_one_matrix: bool
    """Both are arms of one matrix: they took turns on one server."""
    reasons: tuple[str, ...]
    """Why their quality is not comparable, as sentences; then there are no differences and no
    costs."""
    left_out: Mapping[str, str]
    """Suite -> why it is not in the comparison: not applicable in one arm, or without a common
    task."""
    quality: Difference | None
    """Harness minus raw, points of 100, over all suites that are not left out."""
    suites: Mapping[str, Difference]
    """The same for each of them."""
    costs: HarnessCosts | None

    @property
    def verdict(self) -> Verdict:
        """Of the harness's quality against raw's."""
        return "not comparable" if self.quality is None else self.quality.verdict


def against_raw(raws: Sequence[ScoredRun], runs: Sequence[ScoredRun]) -> AgainstRaw | None:
    """The pair of a run of raw and one of a harness that says most, compared.

    Arms of one matrix go before others, then comparable ones, then the first of each. None: one of
    the two was not run.
    """
    every = [(raw, run) for run in runs for raw in raws]
    own = [(raw, run) for raw, run in every if is_one_matrix(raw.result, run.result)]
    best = None
    for raw, run in own or every:
        pair = _Pair.of(raw, run)
        best = best or pair
        if not pair.reasons:
            return pair.compared()
    return best.compared() if best else None


SURE: tuple[Verdict, ...] = ("better", "worse")
Key = TypeVar("Key", bound=Hashable)


def surely_apart(differences: Mapping[Key, Difference]) -> frozenset[Key]:
    """A matrix says of a pair that it is better or worse where its verdict is so and p < ALPHA
    after Holm's adjustment over all pairs of the matrix.

    Each verdict by itself is wrong in up to one pair of twenty that do not differ: of forty pairs,
    two would be called so by chance.
    """
    adjusted = holm([found.p_value for found in differences.values()])
    return frozenset(
        key
        for (key, found), p_value in zip(differences.items(), adjusted, strict=True)
        if found.verdict in SURE and p_value < ALPHA
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """A run of raw and one of a harness, and the suites of them that can be compared."""

    raw: RunResult
    run: RunResult
    suites: Collection[str]
    left_out: Mapping[str, str]
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, raw: ScoredRun, run: ScoredRun) -> _Pair:
        left_out = _left_out(raw.suites, run.suites)
        names = {*raw.suites, *run.suites} - left_out.keys()
        ours, theirs = _headed(raw.result, names), _headed(run.result, names)
        reasons = not_comparable(ours, theirs, may_harness_differ=True)
        if not names and not reasons:
            reasons = ("No task was scored in both.",)
        return cls(raw.result, run.result, names, left_out, reasons)

    def compared(self) -> AgainstRaw:
        raw, run = _with_suites(self.raw, self.suites), _with_suites(self.run, self.suites)
        found = None
        if not self.reasons:
            found = compare_runs(raw, run, may_harness_differ=True)
        return AgainstRaw(
            raw_run_id=raw.run_id,
            run_id=run.run_id,
            is_one_matrix=is_one_matrix(raw, run),
            reasons=self.reasons if found is None else found.reasons,
            left_out=self.left_out,
            quality=found.quality if found else None,
            suites={one.name: one for one in found.suites} if found else {},
            costs=harness_costs(raw, run) if found and not found.reasons else None,
        )


def _left_out(raw: Mapping[str, ScoredSuite], run: Mapping[str, ScoredSuite]) -> dict[str, str]:
    """Suites that say nothing of the harness, with the reason."""
    reasons = {}
    for suite in dict.fromkeys((*raw, *run)):
        if suite not in raw or suite not in run:
            reasons[suite] = "It was run in only one of them."
        elif why := _why_apart(raw[suite]) or _why_apart(run[suite]):
            reasons[suite] = why
        elif not _common(raw[suite], run[suite]):
            reasons[suite] = "No task was scored in both."
    return reasons


def _why_apart(suite: ScoredSuite) -> str | None:
    """Why nothing of a suite is applicable; None: something is."""
    if suite.trials:
        return None
    apart = [trial for trial in suite.unscored if trial.outcome == "not_applicable"]
    return f"Not applicable: {apart[0].message or apart[0].reason}" if apart else None


def _common(raw: ScoredSuite, run: ScoredSuite) -> bool:
    ours = {task.task_id: task for task in raw.tasks}
    return any(
        task.task_id in ours and is_same_prompt(ours[task.task_id], task) for task in run.tasks
    )


def _with_suites(run: RunResult, names: Collection[str]) -> RunResult:
    trials = tuple(one for one in run.trials if one.suite in names)
    return _headed(run, names).model_copy(update={"trials": trials})


def _headed(run: RunResult, names: Collection[str]) -> RunResult:
    """The run with these suites and no trial: what is asked of each of many pairs must be cheap."""
    suites = (one for one in run.suites if one.dimension == "speed" or one.suite in names)
    return run.model_copy(update={"suites": tuple(suites), "trials": ()})
