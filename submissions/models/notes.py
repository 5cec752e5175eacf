"""What moderators tell each other about a submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from submissions.models.errors import ModerationError
from submissions.models.reasons import LONGEST_REASON, text_of
from submissions.roles import is_moderator

if TYPE_CHECKING:
    from submissions.models.submission import Submission


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
