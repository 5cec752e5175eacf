"""Trials: exactly those that suites and profile ask for."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.rescore import scored_task_ids
from bench_loop.result.records import Trial
from bench_loop.scoring.load import is_speed_id
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import task_prompt_hash
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload


def check_status(upload: Upload) -> Iterator[Finding]:
    """Only complete runs are submitted; an infrastructure error leaves a run incomplete."""
    if upload.result.status != "complete":
        yield refused(
            "not_complete",
            "status",
            f"The run is {upload.result.status}; resume it and submit the complete run.",
        )
    for index, trial in enumerate(upload.result.trials):
        if trial.outcome == "infrastructure_error":
            yield refused(
                "not_complete",
                f"trials[{index}].outcome",
                "A trial ended with an infrastructure error, so the run is not complete.",
            )


def check_trials(upload: Upload) -> Iterator[Finding]:
    """Exactly the trials that suites and profile ask for: none missing, twice, or made up."""
    seen: set[tuple[str, str, bool, int]] = set()
    for index, trial in enumerate(upload.result.trials):
        where = f"trials[{index}]"
        key = (trial.suite, trial.task_id, trial.is_warmup, trial.trial)
        if key in seen:
            yield refused(
                "duplicate_trial", f"{where}.task_id", "This trial of this task occurs twice."
            )
        seen.add(key)
        if trial.suite in upload.earlier:
            continue  # Its tasks are not here; `check_packs` says so.
        if trial.suite not in upload.packs:
            yield refused("unknown_suite", f"{where}.suite", "The run has no such suite.")
        elif upload.packs[trial.suite].dimension == "speed":
            yield from _speed_trial_findings(where, trial)
        else:
            task = upload.tasks.get((trial.suite, trial.task_id))
            is_fresh = upload.shelf.fresh_seed is not None
            yield from _task_findings(where, trial, task, is_fresh=is_fresh)
    for suite, task_id, number in sorted(_expected(upload) - _numbered(upload)):
        yield refused(
            "missing_trial", "trials", f"Trial {number} of {task_id} is missing.", suite=suite
        )
    for suite, task_id, number in sorted(_numbered(upload) - _expected(upload)):
        yield refused(
            "extra_trial",
            "trials",
            f"Trial {number} of {task_id} is not part of this run.",
            suite=suite,
        )


def _speed_trial_findings(where: str, trial: Trial) -> Iterator[Finding]:
    if not is_speed_id(trial.task_id):
        yield refused("unknown_task", f"{where}.task_id", "Speed trials are named like p1024x256.")


def _task_findings(
    where: str, trial: Trial, task: BenchmarkTask | None, *, is_fresh: bool
) -> Iterator[Finding]:
    if task is None:
        yield refused(
            "unknown_task", f"{where}.task_id", f"The suite {trial.suite} has no such task."
        )
        return
    if trial.prompt_hash != task_prompt_hash(task):
        yield refused(
            "task_mismatch", f"{where}.prompt_hash", f"This is not the prompt of {task.id}."
        )
    if trial.verifier_type != task.verifier_type:
        yield refused("task_mismatch", f"{where}.verifier_type", f"{task.id} has another verifier.")
    if trial.family != (task.family if is_fresh else None):
        whose = f"an instance of {task.family}" if is_fresh else "no fresh instance"
        yield refused("task_mismatch", f"{where}.family", f"{task.id} is {whose}.")
    # Labels may be corrected without a new pack hash.
    if (trial.difficulty, trial.capability_tags) != (task.difficulty, task.capability_tags):
        yield needs_review(
            "task_mismatch", f"{where}.difficulty", f"{task.id} is labelled otherwise here."
        )


def _numbered(upload: Upload) -> set[tuple[str, str, int]]:
    """The scored quality trials that the upload holds, unknown tasks left out."""
    return {
        (trial.suite, trial.task_id, trial.trial)
        for _, trial in upload.quality_trials()
        if not is_warmup(trial) and (trial.suite, trial.task_id) in upload.tasks
    }


def _expected(upload: Upload) -> set[tuple[str, str, int]]:
    """The scored quality trials that its suites, profile and number of trials ask for."""
    settings = upload.result.settings
    return {
        (name, task_id, number)
        for name, pack in upload.packs.items()
        if pack.dimension == "quality"
        for task_id in scored_task_ids(upload.result, pack)
        for number in range(1, (settings.trials_of(name) or 0) + 1)
    }
