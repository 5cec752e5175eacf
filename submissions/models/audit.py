"""The audit trail of submissions."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from submissions.models.errors import ModerationError

NEVER_CHANGED = "The audit trail is never changed."

WORDS = {
    "changes_requested": "changes requested",
    "answered": "request answered",
    "appealed": "appealed",
    "unverified": "verification taken back",
    "report_resolved": "report resolved",
    "level_changed": "level changed",
    "account_closed": "account of its owner closed",
}
"""Kinds whose name is no phrase of itself."""

_E_MAIL = re.compile(r"[^\s@<>()]+@[^\s@<>()]+\.[^\s@<>()]+")


class AuditEvents(models.QuerySet["AuditEvent"]):
    """The audit trail in bulk: it grows, and nothing else."""

    def update(self, **values: Any) -> int:
        raise ModerationError(NEVER_CHANGED)

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        raise ModerationError(NEVER_CHANGED)

    def delete(self) -> tuple[int, dict[str, int]]:
        raise ModerationError(NEVER_CHANGED)


class AuditEvent(models.Model):
    """What was done to a submission, by whom. Rows are added and never changed.

    `data` may hold `reason` (a text that everybody may read), `from` and `to`; nothing in it is
    private. No actor: the site did it by itself.
    """

    submission = models.ForeignKey(
        "submissions.Submission", on_delete=models.PROTECT, related_name="audit"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    kind = models.CharField(max_length=40)
    data: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = AuditEvents.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.submission} {self.kind}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the row; raises ModerationError when it exists."""
        if self.pk is not None:
            raise ModerationError(NEVER_CHANGED)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Always raises ModerationError."""
        raise ModerationError(NEVER_CHANGED)

    @property
    def role(self) -> str:
        """By whom, without a name: `automatic`, `owner` or `moderator`."""
        if self.actor_id is None:
            return "automatic"
        return "owner" if self.actor_id == self.submission.owner_id else "moderator"

    @property
    def words(self) -> str:
        """What happened: `approved`, `level changed, consistent to reproduced`."""
        words = WORDS.get(self.kind, self.kind.replace("_", " "))
        before, after = self.data.get("from"), self.data.get("to")
        if isinstance(before, str) and isinstance(after, str):
            words += f", {before} to {after}"
        if original := self.data.get("duplicate_of"):
            words += f" as a duplicate of {original}"
        return words

    @property
    def public_reason(self) -> str:
        """The reason as everybody may read it: without e-mail addresses."""
        reason = self.data.get("reason")
        return _E_MAIL.sub("[e-mail address]", reason) if isinstance(reason, str) else ""
