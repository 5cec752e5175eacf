"""The audit trail of submissions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from submissions.models.errors import ModerationError


class AuditEvents(models.QuerySet["AuditEvent"]):
    """The audit trail in bulk: it grows, and nothing else."""

    def update(self, **values: Any) -> int:
        raise ModerationError("The audit trail is never changed.")

    def bulk_update(self, *args: Any, **kwargs: Any) -> int:
        raise ModerationError("The audit trail is never changed.")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise ModerationError("The audit trail is never changed.")


class AuditEvent(models.Model):
    """What was done to a submission, by whom. Rows are added and never changed."""

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
            raise ModerationError("The audit trail is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Always raises ModerationError."""
        raise ModerationError("The audit trail is never changed.")
