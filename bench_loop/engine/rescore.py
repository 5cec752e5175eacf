"""Judges a stored run again: the same outputs, the verifiers and formulas of this version.

A verdict is judged again where the trial holds an output and the task's prompt is still the one
that was asked. A suite whose pack has changed since (`is_stale`) is judged too, so that the change
shows, but its new verdicts never enter the run: it was made by another pack, and says so. Only who
is told so (`is_adopting`) takes the run over into a pack that asks the very same and judges it
otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import bench_loop
from bench_loop.contracts.record import Record
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.shelf import Shelf
from bench_loop.errors import UsageError
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import Rescoring, RunResult, SuiteResult, Trial
from bench_loop.scoring.constants import ENGINE_FAULTS, SCORING_VERSION
from bench_loop.scoring.recompute import SuiteKey, score_run
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import judge, needs_sandbox, task_prompt_hash

VERDICT_FIELDS = ("outcome", "score", "reason", "answer")
"""What makes two verdicts differ; the sentence may be worded otherwise."""
DECIMALS = 6
"""To which scores are compared."""


Judging = Callable[[Trial, BenchmarkTask, Output, Sandbox | None], TaskScore | None]
"""Gives the verdict on the stored output of a trial; None: it keeps the one it has."""


def judge_stored(
    trial: Trial, task: BenchmarkTask, output: Output, sandbox: Sandbox | None
) -> TaskScore | None:
    """The verdict of the task's verifier; None where that takes a sandbox and there is none."""
    if sandbox is None and needs_sandbox(task):
        return None
    return judge(output, task, sandbox)


@dataclass(frozen=True, slots=True)
class TrialChange:
    """A trial whose verdict is another one now."""

    before: Trial
    after: TaskScore
    is_stale: bool
    """Its pack has changed since, so that the run keeps the verdict it had."""


@dataclass(frozen=True, slots=True)
class SuiteChange:
    """One suite before and after; `after` is what the run says now."""

    before: SuiteResult
    after: SuiteResult
    is_stale: bool
    current_hash: str | None
    """The pack's hash in this installation; None: it has no such suite."""
    is_adopted: bool
    """Its pack has changed since in how it judges alone, and the run was taken over into it."""
    not_judged: int
    """Trials that could not be judged again: their task is gone, asks otherwise now, or needs a
    sandbox that was not there."""


@dataclass(frozen=True, slots=True)
class Rescore:
    """What judging a run again gave."""

    before: RunResult
    after: RunResult
    """`before` itself where nothing that enters the run has changed."""
    trials: tuple[TrialChange, ...]
    suites: tuple[SuiteChange, ...]

    @property
    def is_changed(self) -> bool:
        """Whether any verdict or score is another one, stale suites included."""
        return bool(self.trials) or self.after is not self.before


def has_no_output(trial: Trial) -> bool:
    """Whether the trial ended without anything to judge. None of these endings scores a point."""
    is_fault = trial.outcome == "fail" and trial.reason in ENGINE_FAULTS
    return is_fault or trial.outcome in ("harness_error", "infrastructure_error", "not_applicable")


def scored_task_ids(result: RunResult, pack: Pack) -> tuple[str, ...]:
    """The tasks of `pack` in this run: those of the profile; in a custom run those that it ran."""
    if result.profile in pack.profiles:
        return tuple(pack.profiles[result.profile])
    ran = {trial.task_id for trial in result.trials if trial.suite == pack.name}
    return tuple(task.id for task in pack.tasks if task.id in ran)


def rescore(
    result: RunResult,
    now: datetime | None = None,
    sandbox: Sandbox | None = None,
    packs: Path | None = None,
    *,
    judging: Judging = judge_stored,
    is_adopting: bool = False,
) -> Rescore:
    """Judge `result` again with the packs and verifiers of this installation.

    Fresh instances are drawn again by the run's seed. Private packs are looked for in the folder
    `packs`; their verdicts stay as they are without it, as do those that need code to be run
    without a `sandbox`. `judging` may leave trials out, or have more to do at each. With
    `is_adopting` a suite whose changed pack asks the same tasks in the same words, with the same
    settings, becomes one of that pack, once all of its outputs are judged by it; what the limits of
    its tasks were is not in a run, and is taken to be the same.

    Raises UsageError for an imported result, which has no outputs, PackError for a pack with a
    fault.
    """
    if result.imported is not None:
        raise UsageError(
            "An imported result cannot be judged again: it holds no outputs.",
            remedy="Measure the model here: bench-loop run",
        )
    known = packs_of(result, packs)
    stale = {
        suite.suite
        for suite in result.suites
        if suite.suite not in known or known[suite.suite].pack_hash != suite.pack_hash
    }
    judged = [(trial, verdict_on(trial, known, sandbox, judging)) for trial in result.trials]
    adopted = {
        name
        for name in stale
        if is_adopting and name in known and _is_taken_over(result, known[name], judged)
    }
    stale -= adopted
    trials = tuple(
        trial if verdict is None or trial.suite in stale else _with_verdict(trial, verdict)
        for trial, verdict in judged
    )
    after = _scored(result, trials, known, stale, now or datetime.now(UTC))
    not_judged = Counter(
        trial.suite for trial, verdict in judged if verdict is None and not has_no_output(trial)
    )
    return Rescore(
        before=result,
        after=after,
        trials=tuple(
            TrialChange(trial, verdict, trial.suite in stale)
            for trial, verdict in judged
            if verdict is not None and _differs(trial, verdict)
        ),
        suites=tuple(
            SuiteChange(
                before=old,
                after=new,
                is_stale=old.suite in stale,
                current_hash=known[old.suite].pack_hash if old.suite in known else None,
                is_adopted=old.suite in adopted,
                not_judged=not_judged[old.suite],
            )
            for old, new in zip(result.suites, after.suites, strict=True)
            if old.dimension == "quality"
        ),
    )


def packs_of(result: RunResult, private: Path | None = None) -> dict[str, Pack]:
    """The packs of the run's suites that there are here, drawn again where they were drawn."""
    shelf = Shelf(result.settings.fresh_seed, private)
    own = set(shelf.private_names())
    here = {name: name in own for name in shelf.names()}
    return {
        suite.suite: shelf.pack(suite.suite)
        for suite in result.suites
        if here.get(suite.suite) is suite.is_private
    }


def wants_sandbox(result: RunResult, packs: Path | None = None) -> bool:
    """Whether a suite of the run has verdicts that need code to be run that a model wrote."""
    return any(pack.needs_sandbox for pack in packs_of(result, packs).values())


def _is_taken_over(
    result: RunResult, pack: Pack, judged: Sequence[tuple[Trial, TaskScore | None]]
) -> bool:
    """Whether the run could as well have been made by `pack`, but for the verdicts."""
    own = [(trial, verdict) for trial, verdict in judged if trial.suite == pack.name]
    settings, name = result.settings, pack.name
    ran = {trial.task_id for trial, _ in own if not is_warmup(trial)}
    is_same_sampling = result.subject.thinking or (
        settings.sampling_of(name) == pack.settings.sampling
    )
    return (
        pack.dimension == "quality"
        and bool(ran)
        and ran == set(scored_task_ids(result, pack))
        and settings.trials_of(name) == pack.settings.trials
        and is_same_sampling
        and all(_asks_the_same(pack, trial) for trial, _ in own)
        and all(verdict is not None or has_no_output(trial) for trial, verdict in own)
    )


def _asks_the_same(pack: Pack, trial: Trial) -> bool:
    task = task_of(trial, {pack.name: pack})
    return task is not None and task.verifier_type == trial.verifier_type


def verdict_on(
    trial: Trial,
    packs: Mapping[str, Pack],
    sandbox: Sandbox | None,
    judging: Judging = judge_stored,
) -> TaskScore | None:
    """The verdict of today; None where the trial cannot be judged again."""
    pack = packs.get(trial.suite)
    task = task_of(trial, packs)
    if pack is None or task is None or trial.outcome is None or has_no_output(trial):
        return None
    return judging(trial, task, pack.stored_output(trial), sandbox)


def task_of(trial: Trial, packs: Mapping[str, Pack]) -> BenchmarkTask | None:
    """The task of a trial, if there is one here whose prompt is still the one that was asked."""
    tasks = packs[trial.suite].tasks if trial.suite in packs else ()
    task = next((task for task in tasks if task.id == trial.task_id), None)
    return task if task is not None and task_prompt_hash(task) == trial.prompt_hash else None


def _differs(trial: Trial, verdict: TaskScore) -> bool:
    return any(getattr(trial, name) != getattr(verdict, name) for name in VERDICT_FIELDS)


def _with_verdict(trial: Trial, verdict: TaskScore) -> Trial:
    """The trial with its verdict of today; itself where only the sentence is another one."""
    if not _differs(trial, verdict):
        return trial
    names = (*VERDICT_FIELDS, "message", "verifier", "state_at_cut")
    return trial.model_copy(update={name: getattr(verdict, name) for name in names})


def _scored(
    result: RunResult,
    trials: tuple[Trial, ...],
    packs: Mapping[str, Pack],
    stale: set[str],
    now: datetime,
) -> RunResult:
    """The run with `trials`, every score computed again; `result` itself where all is the same."""
    keys = [_key(result, suite, packs, is_stale=suite.suite in stale) for suite in result.suites]
    scores = score_run(
        trials,
        keys,
        result.profile,
        result.speed.plan if result.speed else None,
        load_s=result.speed.load_s.median if result.speed and result.speed.load_s else None,
        missing_suites=[
            *(key.suite for key in keys if _is_missing(result, key)),
            *_absent_suites(result),
        ],
    )
    computed = (*scores.suites, scores.aggregates, scores.speed)
    claimed = (*result.suites, result.aggregates, result.speed)
    is_same_version = result.scoring_version == SCORING_VERSION
    if trials == result.trials and _rounded(computed) == _rounded(claimed) and is_same_version:
        return result
    first = result.rescored.first_fingerprint if result.rescored else result.fingerprint
    after = result.model_copy(
        update={
            "scoring_version": SCORING_VERSION,
            "trials": trials,
            "suites": scores.suites,
            "speed": scores.speed,
            "aggregates": scores.aggregates,
            "signature": None,
            "rescored": Rescoring(
                first_fingerprint=first, bench_loop=bench_loop.__version__, at=now
            ),
        }
    )
    return after.model_copy(update={"fingerprint": fingerprint(after)})


def _key(
    result: RunResult, suite: SuiteResult, packs: Mapping[str, Pack], *, is_stale: bool
) -> SuiteKey:
    """The suite as it ran; the tasks of a stale one are those that it has trials of."""
    left_out, version, pack_hash = suite.left_out_count, suite.version, suite.pack_hash or ""
    if not is_stale:
        pack = packs[suite.suite]
        left_out, version = pack.left_out_of(result.profile), pack.version
        pack_hash = pack.pack_hash
    task_ids: tuple[str, ...] = ()
    if suite.dimension == "quality" and is_stale:
        ran = (trial.task_id for trial in result.trials if trial.suite == suite.suite)
        task_ids = tuple(dict.fromkeys(ran))
    elif suite.dimension == "quality":
        task_ids = scored_task_ids(result, packs[suite.suite])
    return SuiteKey(
        suite=suite.suite,
        version=version,
        pack_hash=pack_hash,
        dimension=suite.dimension,
        task_ids=task_ids,
        left_out=left_out,
        is_private=suite.is_private,
    )


def _is_missing(result: RunResult, key: SuiteKey) -> bool:
    """Whether a quality suite of the run lacks a trial."""
    if key.dimension == "speed":
        return False
    done = {
        (trial.task_id, trial.trial)
        for trial in result.trials
        if trial.suite == key.suite and not is_warmup(trial)
    }
    wanted = {
        (task_id, number)
        for task_id in key.task_ids
        for number in range(1, (result.settings.trials_of(key.suite) or 0) + 1)
    }
    return not done or not wanted <= done


def _absent_suites(result: RunResult) -> list[str]:
    """Suites of the profile that a run without a quality score was made without.

    A complete run stays one, whatever its profile has come to hold since.
    """
    if result.aggregates.quality_score is not None:
        return []
    ran = {suite.suite for suite in result.suites}
    wanted = (load_pack(name) for name in pack_names() if name not in ran)
    return [pack.name for pack in wanted if result.profile in pack.profiles]


def _rounded(records: Sequence[Record | None]) -> list[object]:
    """All figures, to the digits that count."""
    return [_round(record.model_dump(mode="json") if record else None) for record in records]


def _round(value: object) -> object:
    if isinstance(value, dict):
        return {name: _round(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_round(part) for part in value]
    return round(value, DECIMALS) if isinstance(value, float) else value
