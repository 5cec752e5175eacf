"""Which decision can be taken when: a pure rule."""

from __future__ import annotations

from django.db import models


class Decision(models.TextChoices):
    """What a moderator can do with a submission; the values are the names of its methods."""

    APPROVE = "approve", "Approve"
    VERIFY = "verify", "Verify"
    UNVERIFY = "unverify", "Take verification back"
    REQUEST_CHANGES = "request_changes", "Request changes"
    FLAG = "flag", "Flag"
    MARK_DUPLICATE = "mark_duplicate", "Mark as duplicate"
    REJECT = "reject", "Reject"


_STATUS_AFTER: dict[str, str] = {
    Decision.APPROVE: "approved",
    Decision.FLAG: "flagged",
    Decision.REJECT: "rejected",
    Decision.MARK_DUPLICATE: "rejected",
}


def why_not(
    decision: Decision, *, status: str, level: str, is_appealed: bool, is_duplicate: bool
) -> str:
    """Why `decision` can't be taken about a submission in this state; empty: it can.

    An appeal is answered by any decision, the same one again included.
    """
    is_verified = level == "verified"
    if status == "withdrawn":
        return "The submission was withdrawn; nothing changes it any more."
    if decision == Decision.REQUEST_CHANGES:
        return "" if status == "pending" else f"The submission is {status} already."
    if decision in (Decision.VERIFY, Decision.UNVERIFY):
        if status != "approved":
            return "Only an approved submission is verified."
        if decision == Decision.UNVERIFY:
            return "" if is_verified else "The submission is not verified."
        return "The submission is verified already." if is_verified else ""
    is_news = decision == Decision.MARK_DUPLICATE and not is_duplicate
    if status == _STATUS_AFTER[decision] and not is_appealed and not is_news:
        return f"The submission is {status} already."
    return ""
