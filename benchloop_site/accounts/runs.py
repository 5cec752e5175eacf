"""One's own runs as the account page shows them: how each stands, and what is to do."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.report import figures
from bench_loop.report import views as report
from submissions.models import Submission

NEXT = {
    "pending": "Wait: a moderator looks at it before it is shown.",
    "approved": "Nothing: it is on the board.",
    "withdrawn": "Nothing: a withdrawn run stays so. A new run can take its place.",
}
OTHERWISE = "See the page of the run."
FINDINGS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class OwnRun:
    """`asked` is what a moderator wants to know; `verbs` are addresses and words of what to do.

    `findings` are severity, field and sentence.
    """

    public_id: str
    href: str
    model: str
    profile: str
    sent: str
    status: str
    level: str
    reason: str
    asked: str
    next_step: str
    verbs: tuple[tuple[str, str], ...]
    findings: tuple[tuple[str, str, str], ...]


def own_run(submission: Submission) -> OwnRun:
    run = submission.run
    return OwnRun(
        public_id=run.public_id,
        href=run.get_absolute_url(),
        model=report.one_line(str(run.header["subject"]["model_id"])),
        profile=report.one_line(str(run.header["profile"])),
        sent=figures.moment(submission.created_at),
        status=submission.status,
        level=submission.level,
        # The last decision's reason is no reason of a withdrawal.
        reason="" if submission.status == "withdrawn" else report.one_line(submission.reason, 400),
        asked=report.one_line(submission.requested_changes, 400),
        next_step=_next_step(submission),
        verbs=tuple(_verbs(submission)),
        findings=_findings(submission),
    )


def _next_step(submission: Submission) -> str:
    if submission.requested_changes:
        return "Answer what a moderator asks; then it waits for them again."
    if submission.appealed_at is not None:
        return "Wait: a moderator reads your appeal and decides anew."
    if submission.duplicate_of is not None:
        return f"It counts as a copy of {submission.duplicate_of}. Appeal where that is wrong."
    if submission.can_be_appealed:
        return "Read the reason. Submit a new run without the fault, or appeal where it is wrong."
    return NEXT.get(submission.status, OTHERWISE)


def _verbs(submission: Submission) -> list[tuple[str, str]]:
    """What can be done on the page of the run, the next step first."""
    address = submission.run.get_absolute_url()
    verbs = []
    if submission.requested_changes:
        verbs.append((f"{address}answer/", "Answer"))
    if submission.can_be_appealed:
        verbs.append((f"{address}appeal/", "Appeal"))
    if submission.status != Submission.Status.WITHDRAWN:
        verbs.append((f"{address}withdraw/", "Withdraw"))
    return verbs


def _findings(submission: Submission) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (
            str(finding["severity"]).replace("_", " "),
            report.one_line(str(finding["field"])),
            report.one_line(str(finding["sentence"]), 400),
        )
        for finding in submission.findings[:FINDINGS_SHOWN]
    )
