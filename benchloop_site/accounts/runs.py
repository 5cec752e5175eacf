"""One's own runs as the account page shows them: how each stands, and what is to do."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.report import figures
from bench_loop.report import views as report
from submissions.models import Submission

NEXT = {
    "pending": "Wait: a moderator looks at it before it is shown.",
    "approved": "Nothing: it is on the board.",
    "rejected": "Read the reason, mend what it names, and submit a new run.",
    "flagged": "Read the reason: a moderator takes it up again once the question is settled.",
    "withdrawn": "Nothing: a withdrawn run stays so. A new run can take its place.",
}
OTHERWISE = "Read the reason: it says what is asked of you."
FINDINGS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class OwnRun:
    """`href` is empty while the run has no page; `findings` are severity, field and sentence."""

    public_id: str
    model: str
    profile: str
    sent: str
    status: str
    level: str
    reason: str
    next_step: str
    href: str
    findings: tuple[tuple[str, str, str], ...]
    is_open: bool


def own_run(submission: Submission) -> OwnRun:
    run = submission.run
    has_page = getattr(run, "entry", None) is not None
    return OwnRun(
        public_id=run.public_id,
        model=report.one_line(str(run.header["subject"]["model_id"])),
        profile=report.one_line(str(run.header["profile"])),
        sent=figures.moment(submission.created_at),
        status=submission.status.replace("_", " "),
        level=submission.level,
        reason=report.one_line(submission.reason, 400),
        next_step=NEXT.get(submission.status, OTHERWISE),
        href=run.get_absolute_url() if has_page else "",
        findings=_findings(submission),
        is_open=submission.status != Submission.Status.WITHDRAWN,
    )


def _findings(submission: Submission) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (
            str(finding["severity"]).replace("_", " "),
            report.one_line(str(finding["field"])),
            report.one_line(str(finding["sentence"]), 400),
        )
        for finding in submission.findings[:FINDINGS_SHOWN]
    )
