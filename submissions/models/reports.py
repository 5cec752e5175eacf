"""What readers say about a submission."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils import timezone

from submissions.models.audit import AuditEvent
from submissions.models.errors import ModerationError
from submissions.models.reasons import required
from submissions.roles import is_moderator

LONGEST_REPORT = 2000


class Report(models.Model):
    """A reader's doubt about a run, open until a moderator resolves it; only moderators read it."""

    class Kind(models.TextChoices):
        COPIED = "copied", "copied from another run"
        WRONG_LABEL = "wrong_label", "model, quantization or machine are not what it says"
        IMPLAUSIBLE = "implausible", "figures that cannot be"
        PRIVATE_DATA = "private_data", "personal data or secrets in it"
        OTHER = "other", "something else"

    submission = models.ForeignKey(
        "submissions.Submission", on_delete=models.PROTECT, related_name="reports"
    )
    reporter = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Empty: somebody without an account.",
    )
    reporter_hash = models.CharField(
        max_length=64,
        editable=False,
        help_text="Keyed hash of the account or, without one, of the address.",
    )
    kind = models.CharField(max_length=20, choices=Kind.choices)
    text = models.TextField(max_length=LONGEST_REPORT)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    resolved_at = models.DateTimeField(null=True, blank=True, help_text="Null: it is open.")
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    resolution = models.TextField(blank=True, help_text="Public, as part of the run's history.")

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "reporter_hash"], name="one_report_per_reporter_and_run"
            )
        ]

    def __str__(self) -> str:
        return f"report {self.pk} on {self.submission}"

    def resolve(self, moderator: User, resolution: str) -> None:
        """Close the report with words that the public reads. Raises ModerationError."""
        with transaction.atomic():
            self.refresh_from_db(from_queryset=Report.objects.select_for_update())
            if not is_moderator(moderator):
                raise ModerationError("Only a moderator can resolve reports.")
            if moderator.pk == self.submission.owner_id:
                raise ModerationError("Nobody resolves reports about their own submission.")
            if self.resolved_at is not None:
                raise ModerationError(f"The report was resolved already: {self.resolution}")
            self.resolution = required(resolution)
            self.resolved_by, self.resolved_at = moderator, timezone.now()
            self.save(update_fields=["resolution", "resolved_by", "resolved_at"])
            AuditEvent.objects.create(
                submission=self.submission,
                actor=moderator,
                kind="report_resolved",
                data={"report": self.pk, "reason": self.resolution},
            )
