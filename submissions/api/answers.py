"""What stands in the answers about submissions, and who reads which part of it."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from submissions import levels
from submissions.models import AuditEvent, Submission, is_moderator
from submissions.visibility import Reader


def receipt(request: Request, submission: Submission) -> dict[str, Any]:
    """What an uploader needs to find it again."""
    return {
        "id": submission.run.public_id,
        "status": submission.status,
        "level": submission.level,
        "url": request.build_absolute_uri(submission.run.get_absolute_url()),
    }


def submission(request: Request, row: Submission) -> dict[str, Any]:
    """What every reader of a submission may see, in lists and alone."""
    header = row.run.header
    return receipt(request, row) | {
        "owner": row.owner.get_username(),
        "model_id": header["subject"]["model_id"],
        "harness": header["subject"]["harness"],
        "profile": header["profile"],
        "notes": row.notes,
        "labels": row.labels,
        "created_at": row.created_at,
        "decided_at": row.decided_at,
    }


def detail(request: Request, row: Submission, reader: Reader) -> dict[str, Any]:
    """With its history; reason and findings for owner and moderators, reports for moderators."""
    body = submission(request, row)
    body["history"] = [event(one) for one in row.audit.select_related("submission")]
    body["evidence"] = levels.shown_evidence(row)
    if reader.pk == row.owner_id or is_moderator(reader):
        body |= {"reason": row.reason, "findings": row.findings}
    if is_moderator(reader) and reader.pk != row.owner_id:
        body["reports"] = [
            {"kind": report.kind, "text": report.text, "at": report.created_at}
            for report in row.reports.all()
        ]
    return body


def event(one: AuditEvent) -> dict[str, Any]:
    """One line of a history, by role and never by name."""
    return {
        "at": one.created_at,
        "kind": one.kind,
        "role": one.role,
        "reason": one.public_reason,
    }


def trail_event(request: Request, one: AuditEvent) -> dict[str, Any]:
    """One line of the public trail."""
    run = one.submission.run
    return event(one) | {
        "run": run.public_id,
        "url": request.build_absolute_uri(run.get_absolute_url()),
    }
