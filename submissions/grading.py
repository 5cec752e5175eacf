"""Code and files that a model made, judged again on the stored outputs in the site's own sandbox.

A row of `Grade` is the queue: a worker takes one that is due for the time of a lease, which it
renews at every trial. A worker that is killed renews nothing, and the row is due again.

What comes out otherwise than the file says is a finding for a moderator, the level is `reported`,
and the run has the verdicts and the scores of this site from then on, shown or not; the file's own
bytes stay as they are. Without a sandbox nothing is lost: the row waits, and a finding says so.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Collection
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.errors import BenchLoopError, SandboxError
from bench_loop.report.printable import printable
from bench_loop.result.records import RunResult
from bench_loop.sandboxes.ladder import open_sandbox
from runs.models import Run
from submissions import code_findings, judgements, levels
from submissions.code_judging import Judged, code_trials, judge_code
from submissions.models import AuditEvent, Grade, Submission
from submissions.models.grades import LEASE, MOST_ATTEMPTS, LeaseLostError

logger = logging.getLogger("benchloop.grading")

NO_SANDBOX_WAIT = timedelta(hours=1)
FAILED_WAIT = timedelta(minutes=2)


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
        _finish(grade, judge_code(grade, sandbox), sandbox)
    except LeaseLostError:
        logger.warning("Run %s was taken by another worker.", grade.run.public_id)
    except Exception as error:
        sentence = error.message if isinstance(error, BenchLoopError) else type(error).__name__
        logger.exception("Run %s could not be judged.", grade.run.public_id)
        _failed(grade, printable(sentence))


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
        grade.keep(
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
            judgements.keep(submission.run, judged.filed, judged.found.after)
        code_findings.tell(submission, list(code_findings.of_judged(judged, sandbox.kind)))
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
    grade.keep(state=state, reason=reason, due_at=again_at, lease="", finished_at=timezone.now())
    if not is_news:
        return
    code_findings.tell(submission, [code_findings.of_not_judged(grade, reason)])
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
