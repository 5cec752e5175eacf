"""Code and files that a model made, judged again on the stored outputs in the site's own sandbox.

A row of `Grade` is the queue: a worker takes one that is due for the time of a lease, which it
renews at every trial. A worker that is killed renews nothing, and the row is due again.

What comes out otherwise than the file says is a finding for a moderator, the level is `reported`,
and the run has the verdicts and the scores of this site from then on, shown or not; the file's own
bytes stay as they are. Without a sandbox nothing is lost: the row waits, and a finding says so.
"""

from __future__ import annotations

import logging
import random
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
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
from bench_loop.errors import BenchLoopError, SandboxError
from bench_loop.report.printable import printable
from bench_loop.result.records import RunResult, Trial
from bench_loop.sandboxes.ladder import open_sandbox
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import judge_ending, needs_sandbox
from runs.models import Run
from submissions import levels, rejudging
from submissions.checks import Finding, Upload
from submissions.checks.finding import needs_review
from submissions.models import AuditEvent, Grade, Submission
from submissions.models.grades import LEASE, MOST_ATTEMPTS

logger = logging.getLogger("benchloop.grading")

CODES = frozenset({"code_waiting", "code_judged", "code_mismatch", "code_not_judged"})
"""Of the findings about code, which are told anew each time it is judged."""

MOST_MISMATCHES_TOLD = 50

NO_SANDBOX_WAIT = timedelta(hours=1)
FAILED_WAIT = timedelta(minutes=2)

Key = tuple[str, str, int]
"""Suite, task and number of a trial."""


class LeaseLostError(Exception):
    """Another worker has taken the run, since this one was not heard of for so long."""


def enqueue(run: Run, result: RunResult) -> Grade:
    """Put an upload in the queue, or say that it has no code to judge. Once is enough."""
    count = len(code_trials(result))
    state = Grade.State.WAITING if count else Grade.State.NOT_NEEDED
    grade, _ = Grade.objects.get_or_create(
        run=run,
        defaults={
            "state": state,
            "code_trials": count,
            "due_at": timezone.now() if count else None,
        },
    )
    return grade


def enqueue_missing() -> int:
    """Put every upload in the queue that is not in it yet. Gives how many."""
    missing = list(Run.objects.filter(submission__isnull=False, grade__isnull=True))
    for run in missing:
        enqueue(run, run.filed_result())
    return len(missing)


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


def grade_due(kind: str | None = None) -> int:
    """Judge what is due, one run after another, until nothing is. Gives how many were begun.

    `kind` of the sandbox; None: the one of the settings.
    """
    enqueue_missing()
    _give_up()
    if not Grade.objects.due(timezone.now()).exists():
        return 0
    try:
        sandbox = open_sandbox(kind or settings.CODE_SANDBOX, warn=logger.warning)
    except SandboxError as error:
        _without_sandbox(error)
        return 0
    begun = 0
    with closing(sandbox):
        while (grade := claim()) is not None:
            judge_claimed(grade, sandbox)
            levels.look_at_levels()
            begun += 1
    return begun


def claim(pk: int | None = None) -> Grade | None:
    """Take the run that is due longest, or `pk` if that is due; None: there is none."""
    now = timezone.now()
    due = Grade.objects.due(now)
    for candidate in (due if pk is None else due.filter(pk=pk))[:20]:
        lease = secrets.token_hex(16)
        # Of two workers the one whose update comes first finds the row as both have read it.
        taken = Grade.objects.filter(pk=candidate.pk, lease=candidate.lease).update(
            state=Grade.State.WAITING, lease=lease, due_at=now + LEASE, attempts=F("attempts") + 1
        )
        if taken:
            claimed: Grade = Grade.objects.select_related("run").get(pk=candidate.pk)
            return claimed
    return None


def judge_claimed(grade: Grade, sandbox: Sandbox) -> None:
    """Judge a run that this worker has taken, and keep what comes of it."""
    try:
        judged = _judge(grade, sandbox)
        _finish(grade, judged, sandbox)
    except LeaseLostError:
        logger.warning("Run %s was taken by another worker.", grade.run.public_id)
    except Exception as error:
        sentence = error.message if isinstance(error, BenchLoopError) else type(error).__name__
        logger.exception("Run %s could not be judged.", grade.run.public_id)
        _failed(grade, printable(sentence))


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


def _judge(grade: Grade, sandbox: Sandbox) -> Judged:
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
        _keep(grade, picked=drawn)
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
        _keep(self._grade, due_at=timezone.now() + LEASE)


def _key(trial: Trial) -> Key:
    return trial.suite, trial.task_id, trial.trial


def _differs(trial: Trial, verdict: TaskScore) -> bool:
    return any(getattr(trial, name) != getattr(verdict, name) for name in VERDICT_FIELDS)


def _keep(grade: Grade, **fields: Any) -> None:
    """Write to a grade that is still this worker's. Raises LeaseLostError."""
    if not Grade.objects.filter(pk=grade.pk, lease=grade.lease).update(**fields):
        raise LeaseLostError


def _finish(grade: Grade, judged: Judged, sandbox: Sandbox) -> None:
    """Keep the verdicts, tell the findings, and give the level that follows, all or nothing."""
    mismatches = judged.mismatches
    with transaction.atomic():
        submission = Submission.objects.select_for_update().get(run=grade.run_id)
        if judged.not_judged:
            names = ", ".join(judged.not_judged)
            reason = f"The pack of {names} has changed since."
            _end(grade, submission, Grade.State.FAILED, reason)
            return
        _keep(
            grade,
            state=Grade.State.DONE,
            judged=len(judged.picked),
            picked=list(judged.picked),
            mismatches=len(mismatches),
            sandbox=sandbox.kind,
            reason="",
            due_at=None,
            lease="",
            finished_at=timezone.now(),
            seen_status="",
        )
        if mismatches or submission.run.verdicts is not None:
            rejudging.keep(submission.run, judged.filed, judged.found.after)
        _tell(submission, list(_findings(judged, grade, sandbox)))
        _record(
            submission,
            "code_judged",
            f"{len(judged.picked)} of {grade.code_trials} verdicts on code were judged in the "
            f"site's {sandbox.kind} sandbox; {len(mismatches)} came out otherwise.",
            code_trials=grade.code_trials,
            judged=len(judged.picked),
            mismatches=len(mismatches),
            sandbox=sandbox.kind,
        )
        if mismatches and submission.level == "verified":
            # The moderator decided about verdicts that the outputs do not bear out.
            told = "The outputs were judged otherwise than the file says."
            submission.change_level("reported", None, told)
        levels.settle(submission)


def _findings(judged: Judged, grade: Grade, sandbox: Sandbox) -> Iterator[Finding]:
    """One for each verdict that came out otherwise, then one for each suite."""
    mismatches = judged.mismatches
    claimed_in = judged.filed.sandbox.kind if judged.filed.sandbox else None
    for place, trial, verdict in mismatches[:MOST_MISMATCHES_TOLD]:
        name = next(one for one in VERDICT_FIELDS if getattr(trial, one) != getattr(verdict, one))
        yield needs_review(
            "code_mismatch",
            f"trials[{place}].{name}",
            f"This site judged the stored output of {trial.task_id} otherwise than the file says.",
            claimed=_told(trial.outcome, trial.reason),
            judged=_told(verdict.outcome, verdict.reason),
            claimed_score=trial.score,
            judged_score=verdict.score,
            claimed_in=claimed_in,
            judged_in=sandbox.kind,
        )
    suites = [suite.suite for suite in judged.filed.suites]
    code = [judged.filed.trials[place] for place in code_trials(judged.filed)]
    for index, suite in enumerate(suites):
        total = sum(trial.suite == suite for trial in code)
        done = sum(judged.filed.trials[place].suite == suite for place in judged.picked)
        wrong = sum(trial.suite == suite for _, trial, _ in mismatches)
        if total:
            yield Finding(
                "needs_review" if wrong else "note",
                "code_judged",
                f"suites[{index}]",
                f"Of {total} verdicts of {suite} that need code to be run, this site judged {done} "
                f"in its {sandbox.kind} sandbox; {wrong} came out otherwise than the file says.",
                {"verdicts": total, "judged": done, "mismatches": wrong},
            )


def _told(outcome: str | None, reason: str | None) -> str:
    return f"{outcome} ({reason})" if reason else str(outcome)


def _tell(submission: Submission, found: Sequence[Finding]) -> None:
    """Put these findings about code in the place of the ones before, the worst first."""
    kept = [one for one in submission.findings if one["code"] not in CODES]
    new = [one.as_json() for one in found]
    worst = [one for one in new if one["severity"] == "needs_review"]
    submission.findings = worst + kept + [one for one in new if one not in worst]
    submission.save(update_fields=["findings"])


def _record(submission: Submission, kind: str, reason: str, **data: Any) -> None:
    AuditEvent.objects.create(
        submission=submission, actor=None, kind=kind, data={**data, "reason": reason}
    )


def _failed(grade: Grade, reason: str) -> None:
    """Leave the run for another try, or give it up."""
    if grade.attempts >= MOST_ATTEMPTS:
        _end_alone(grade, Grade.State.FAILED, reason)
        return
    wait = FAILED_WAIT * grade.attempts
    Grade.objects.filter(pk=grade.pk, lease=grade.lease).update(
        due_at=timezone.now() + wait, lease="", reason=reason
    )


def _give_up() -> None:
    """Runs at which as many workers have died as may try."""
    for grade in Grade.objects.due(timezone.now()).filter(attempts__gte=MOST_ATTEMPTS):
        reason = grade.reason or "The worker that judged it ended, each time."
        _end_alone(grade, Grade.State.FAILED, reason)


def _without_sandbox(error: SandboxError) -> None:
    """Nothing is lost: all that is due waits for a sandbox, and says so."""
    logger.error("Code cannot be judged: %s", error.message)
    for grade in Grade.objects.due(timezone.now()):
        _end_alone(
            grade,
            Grade.State.NO_SANDBOX,
            "This site has no sandbox now.",
            again_at=timezone.now() + NO_SANDBOX_WAIT,
        )


def _end_alone(
    grade: Grade, state: Grade.State, reason: str, again_at: datetime | None = None
) -> None:
    try:
        with transaction.atomic():
            submission = Submission.objects.select_for_update().get(run=grade.run_id)
            _end(grade, submission, state, reason, again_at)
    except LeaseLostError:
        logger.warning("Run %s was taken by another worker.", grade.run_id)


def _end(
    grade: Grade,
    submission: Submission,
    state: Grade.State,
    reason: str,
    again_at: datetime | None = None,
) -> None:
    """Say why the code was not judged: in the queue, in the findings, and when it is news."""
    is_news = (grade.state, grade.reason) != (state, reason)
    _keep(grade, state=state, reason=reason, due_at=again_at, lease="", finished_at=timezone.now())
    if not is_news:
        return
    finding = needs_review(
        "code_not_judged",
        "suites",
        f"{grade.code_trials} verdicts need code to be run and are as reported: {reason}",
        verdicts=grade.code_trials,
    )
    _tell(submission, [finding])
    _record(submission, "code_not_judged", reason, code_trials=grade.code_trials)
    levels.settle(submission)


def reset(grades: Collection[Grade]) -> None:
    """Have runs judged from the beginning, whatever came of them before."""
    Grade.objects.filter(pk__in=[grade.pk for grade in grades]).exclude(
        state=Grade.State.NOT_NEEDED
    ).update(state=Grade.State.WAITING, attempts=0, due_at=timezone.now(), lease="", reason="")


def await_sandbox_no_more() -> None:
    """Runs that wait for a sandbox are due now: a worker has started, and may have one."""
    waiting = Grade.objects.filter(state=Grade.State.NO_SANDBOX)
    waiting.update(due_at=timezone.now(), attempts=0)
