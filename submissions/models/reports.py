"""What readers say about a submission."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

LONGEST_REPORT = 2000


class Report(models.Model):
    """A reader's doubt about a run. Moderators alone read it."""

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

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "reporter_hash"], name="one_report_per_reporter_and_run"
            )
        ]

    def __str__(self) -> str:
        return f"report {self.pk} on {self.submission}"
