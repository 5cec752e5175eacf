"""What readers say about a submission, and what moderators tell each other about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils import timezone

from submissions.models.audit import AuditEvent
from submissions.models.errors import ModerationError
from submissions.models.reasons import LONGEST_REASON, required, text_of
from submissions.roles import is_moderator

if TYPE_CHECKING:
    from submissions.models.submission import Submission


class Report(models.Model):
    """A reader's doubt about a run, open until a moderator resolves it; only moderators read it."""

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
    text = models.TextField(max_length=LONGEST_REASON)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    resolution = models.TextField(blank=True, help_text="Public, as part of the run's history.")

    class Meta:
        ordering = ["created_at", "pk"]

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


class ModeratorNote(models.Model):
    """What moderators tell each other about a submission. It is never shown to anybody else."""

    submission = models.ForeignKey(
        "submissions.Submission", on_delete=models.PROTECT, related_name="moderator_notes"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=LONGEST_REASON)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"note {self.pk} on {self.submission}"

    @classmethod
    def write(cls, submission: Submission, author: User, text: str) -> ModeratorNote:
        """Keep a note of `author`. Raises ModerationError."""
        if not is_moderator(author):
            raise ModerationError("Only moderators write notes here.")
        if author.pk == submission.owner_id:
            raise ModerationError("Nobody moderates their own submission.")
        note = cls(submission=submission, author=author, text=text_of(text, "the note"))
        note.save()
        return note
