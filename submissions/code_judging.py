"""Judges again what code a model made: all of a run's code trials, or a sample of them."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence

from django.conf import settings
from django.utils import timezone

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.rescore import (
    VERDICT_FIELDS,
    Rescore,
    has_no_output,
    judge_stored,
    rescore,
)
from bench_loop.result.records import RunResult, Trial
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import judge_ending, needs_sandbox
from submissions.checks import Upload
from submissions.models import Grade
from submissions.models.grades import LEASE

Key = tuple[str, str, int]
"""Suite, task and number of a trial."""


def code_trials(result: RunResult) -> list[int]:
    """The places of the trials whose verdict needs code to be run that a model wrote."""
    if result.imported is not None:
        return []
    return [place for place, _ in _code_of(Upload(result, timezone.now()))]


def _code_of(upload: Upload) -> Iterator[tuple[int, Trial]]:
    for place, trial in enumerate(upload.result.trials):
        task = upload.tasks.get((trial.suite, trial.task_id))
        if task is None or is_warmup(trial) or has_no_output(trial) or not needs_sandbox(task):
            continue
        if judge_ending(upload.packs[trial.suite].stored_output(trial)) is None:
            yield place, trial


class Judged:
    """What came of judging one run: which trials were judged, and the run as it is now."""

    def __init__(self, filed: RunResult, picked: Collection[int], found: Rescore) -> None:
        self.filed = filed
        self.picked = picked
        self.found = found
        self.places = {_key(trial): place for place, trial in enumerate(filed.trials)}

    @property
    def mismatches(self) -> list[tuple[int, Trial, TaskScore]]:
        """Place, trial and verdict of all that came out otherwise than the file says."""
        judged = {_key(change.before): change for change in self.found.trials}
        return [
            (place, self.filed.trials[place], judged[key].after)
            for key, place in self.places.items()
            if place in self.picked and key in judged and not judged[key].is_stale
        ]

    @property
    def not_judged(self) -> list[str]:
        """Suites with code whose pack is another one by now."""
        suites = {self.filed.trials[place].suite for place in self.picked}
        return [
            change.before.suite
            for change in self.found.suites
            if change.is_stale and change.before.suite in suites
        ]


def judge_code(grade: Grade, sandbox: Sandbox) -> Judged:
    """Judge the run of `grade`; all of it, where a sample catches something.

    Raises LeaseLostError, and what a run that cannot be judged raises.
    """
    filed = grade.run.filed_result()
    code = code_trials(filed)
    picked = _picked(grade, code)
    judging = _Judging(grade, {_key(filed.trials[place]) for place in picked})
    judged = Judged(filed, picked, rescore(filed, sandbox=sandbox, judging=judging))
    if judged.mismatches and len(picked) < len(code):
        # A sample has caught something: now all of it is looked at.
        judging.wanted = {_key(filed.trials[place]) for place in code}
        judged = Judged(filed, code, rescore(filed, sandbox=sandbox, judging=judging))
    return judged


def _picked(grade: Grade, code: Sequence[int]) -> list[int]:
    """All of them, or as many as the settings say, drawn once for each run by this site alone."""
    if grade.picked is None:
        count: int = min(settings.CODE_CHECKS or len(code), len(code))
        drawn = sorted(random.SystemRandom().sample(code, count))
        grade.keep(picked=drawn)
        grade.picked = drawn
    return [place for place in grade.picked if place in set(code)]


class _Judging:
    """Judges the wanted trials, and says at each that this worker is alive."""

    def __init__(self, grade: Grade, wanted: set[Key]) -> None:
        self.wanted = wanted
        self._grade = grade
        self._known: dict[Key, TaskScore | None] = {}

    def __call__(
        self, trial: Trial, task: BenchmarkTask, output: Output, sandbox: Sandbox | None
    ) -> TaskScore | None:
        key = _key(trial)
        if key not in self.wanted or is_warmup(trial):
            return None
        if key not in self._known:
            self._renew()
            verdict = judge_stored(trial, task, output, sandbox)
            if verdict is not None and verdict.reason == "time_limit" and _differs(trial, verdict):
                # This machine may have been busy: time alone is asked twice.
                verdict = judge_stored(trial, task, output, sandbox)
            self._known[key] = verdict
        return self._known[key]

    def _renew(self) -> None:
        self._grade.keep(due_at=timezone.now() + LEASE)


def _key(trial: Trial) -> Key:
    return trial.suite, trial.task_id, trial.trial


def _differs(trial: Trial, verdict: TaskScore) -> bool:
    return any(getattr(trial, name) != getattr(verdict, name) for name in VERDICT_FIELDS)
