"""One suite of one model in one harness: its score, and why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import RunHeader, RunResult, SuiteResult
from bench_loop.scoring.estimates import Estimate, share_estimate
from bench_loop.scoring.suites import (
    ScoredSuite,
    all_pass_chance,
    is_censored,
    pass_cubed,
    scored_suites,
    suite_interval,
    suite_result,
    suite_score,
)

WINDOW = "context_window"
"""The need of a harness that a small window does not meet."""
FORCED_WINDOW = "It was run although the window is smaller than the harness needs."

CellState = Literal["measured", "not_applicable", "window_too_small", "incomplete", "not_run"]
"""`measured`: every task has all its trials scored. `not_applicable`: the harness lacks what all
tasks of the suite need. `window_too_small`: the harness needs a larger window than the model has
there; refused, or forced all the same. `incomplete`: begun, and tasks or trials are missing.
`not_run`: nobody ran it."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An arm that was refused before it ran, for a need of the harness that the server did not
    meet. From outside: such an arm has no result."""

    model_id: str
    weights_digest: str | None
    harness: str
    need: str
    """`context_window`, or another."""
    evidence: str
    """As a sentence."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One suite of one model in one harness. Scores and shares are 0 to 100."""

    state: CellState
    reason: str | None = None
    """Why there is no score, or why it is not all there is, as a sentence. May hold words of other
    people. None: measured."""
    forced: tuple[str, ...] = ()
    """Needs of the harness that were overridden, like `context_window`."""
    run_id: str | None = None
    """None: no run."""
    version: str | None = None
    """Of the pack."""
    pack_hash: str | None = None
    score: Estimate | None = None
    """Suite score with its interval; n = tasks. None: no trial was scored."""
    pass_cubed: Estimate | None = None
    """None: a task has fewer than three scored trials."""
    is_censored: bool = False
    """So many trials were cut that the interval runs from all wrong to all right."""
    task_count: int = 0
    """With at least one scored trial."""
    planned_count: int | None = None
    """Tasks that were to be run; None: not known."""
    trial_count: int = 0
    """Scored trials."""
    not_applicable_count: int = 0
    """Trials."""
    infrastructure_count: int = 0
    """Trials left out as infrastructure errors."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRun:
    """A result and its quality suites with their scored tasks. Each is its own: the id of a run is
    the client's word and no key."""

    result: RunResult
    suites: dict[str, ScoredSuite]
    """By name, in the order of the result."""

    @classmethod
    def of(cls, result: RunResult) -> ScoredRun:
        return cls(result, {suite.key.suite: suite for suite in scored_suites(result)})


def cell_of(suite: str, run: ScoredRun | None, refusal: Refusal | None) -> Cell:
    """The cell that `run` fills; None: there is no run, and perhaps a refusal."""
    if run is None:
        return Cell("not_run", "Nobody ran it.") if refusal is None else _refused(refusal)
    found, result = run.suites[suite], run.result
    recorded = next(one for one in result.suites if one.suite == suite)
    state, reason = _state(result, recorded, found)
    score, interval = suite_score(found), suite_interval(found)
    n = len(found.units)
    is_cubed = pass_cubed(found) is not None and n > 0
    return Cell(
        state=state,
        reason=reason,
        forced=_forced(result),
        run_id=result.run_id,
        version=recorded.version,
        pack_hash=recorded.pack_hash,
        score=None if score is None or interval is None else Estimate(score, *interval, n),
        pass_cubed=share_estimate(found.unit_means(all_pass_chance)) if is_cubed else None,
        is_censored=is_censored(suite_result(found)),
        task_count=len(found.tasks),
        planned_count=recorded.task_count,
        trial_count=len(found.trials),
        not_applicable_count=_count(found, "not_applicable"),
        infrastructure_count=_count(found, "infrastructure_error"),
    )


def _refused(refusal: Refusal) -> Cell:
    is_window = refusal.need == WINDOW
    return Cell("window_too_small" if is_window else "not_applicable", refusal.evidence)


def _state(
    run: RunResult, recorded: SuiteResult, found: ScoredSuite
) -> tuple[CellState, str | None]:
    """The state of a suite that a run has, and its reason."""
    if not found.is_begun:
        return "not_run", "The run did not come to it."
    apart = [trial for trial in found.unscored if trial.outcome == "not_applicable"]
    if apart and not found.trials and len(apart) == len(found.unscored):
        return "not_applicable", apart[0].message or apart[0].reason
    missing = _missing(run, recorded, found)
    if WINDOW in _forced(run):
        return "window_too_small", " ".join(filter(None, (FORCED_WINDOW, missing)))
    if missing:
        return "incomplete", missing
    return "measured", None


def _missing(run: RunResult, recorded: SuiteResult, found: ScoredSuite) -> str | None:
    """What a suite lacks, as a sentence; None: nothing."""
    lost = _count(found, "infrastructure_error")
    if lost:
        return f"{lost} {'trial' if lost == 1 else 'trials'} met an infrastructure error."
    begun = {task.task_id for task in found.tasks} | {one.task_id for one in found.unscored}
    planned = recorded.task_count or len(begun)
    if len(begun) < planned:
        return f"{len(begun)} of {planned} tasks were run."
    wanted = run.settings.trials_of(recorded.suite) or 1
    short = sum(len(task.trials) < wanted for task in found.tasks)
    if short:
        return f"{short} of {planned} tasks have fewer than {wanted} trials."
    return None


def _forced(run: RunHeader) -> tuple[str, ...]:
    return run.settings.harness.forced if run.settings.harness is not None else ()


def _count(found: ScoredSuite, outcome: Outcome) -> int:
    return sum(trial.outcome == outcome for trial in found.unscored)
