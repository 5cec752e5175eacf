"""Submissions: an upload on its way to the leaderboard, and what was decided about it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models, transaction
from django.utils import timezone

from leaderboard import publish
from leaderboard.models import LEVELS
from runs.models import Run
from submissions.models.audit import AuditEvent
from submissions.models.errors import ModerationError
from submissions.roles import is_moderator


class Submission(models.Model):
    """One uploaded run. Its status says whether it is shown, its level how well it is evidenced."""

    class Status(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        REJECTED = "rejected"
        FLAGGED = "flagged"
        WITHDRAWN = "withdrawn"

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="submission")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions"
    )
    status = models.CharField(
        max_length=9, choices=Status.choices, default=Status.PENDING, db_index=True
    )
    level = models.CharField(max_length=10, choices=LEVELS, default="reported", db_index=True)
    findings = models.JSONField(default=list)
    idempotency_key = models.CharField(max_length=100, null=True, editable=False)  # noqa: DJ001
    moderator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="moderated_submissions",
    )
    reason = models.TextField(blank=True, help_text="The moderator's, for the present status.")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["-created_at"]
        permissions = [("moderate_submission", "Can approve, reject and flag submissions")]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "idempotency_key"], name="one_submission_per_idempotency_key"
            )
        ]

    def __str__(self) -> str:
        return self.run.public_id

    def is_readable_by(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """Whether `user` may see it: everybody once it is approved, else owner and moderators."""
        if self.status == self.Status.APPROVED or user.pk == self.owner_id:
            return True
        return is_moderator(user)

    def approve(self, moderator: User, reason: str = "") -> None:
        """Show the run on the leaderboard."""
        self._decide(self.Status.APPROVED, moderator, reason)

    def reject(self, moderator: User, reason: str) -> None:
        """Keep the run off the leaderboard, for a reason that its owner will read."""
        self._decide(self.Status.REJECTED, moderator, _required(reason))

    def flag(self, moderator: User, reason: str) -> None:
        """Take the run off the leaderboard until a question about it is settled."""
        self._decide(self.Status.FLAGGED, moderator, _required(reason))

    def withdraw(self, actor: User) -> None:
        """The owner takes the run back, for good."""
        with transaction.atomic():
            before = self._locked_status()
            if actor.pk != self.owner_id:
                raise ModerationError("Only its owner can withdraw a submission.")
            self._change(before, self.Status.WITHDRAWN, actor, "Withdrawn by its owner.")
            publish.withdraw(self.run, "Withdrawn by its owner.")

    def _decide(self, status: str, moderator: User, reason: str) -> None:
        with transaction.atomic():
            before = self._locked_status()
            if not is_moderator(moderator):
                raise ModerationError("Only a moderator can decide about submissions.")
            if moderator.pk == self.owner_id:
                raise ModerationError("Nobody decides about their own submission.")
            self.moderator = moderator
            self.reason = reason
            self.decided_at = timezone.now()
            self._change(before, status, moderator, reason)
            if status == self.Status.APPROVED:
                publish.publish(self.run, level=self.level, is_local=False)
            else:
                publish.withdraw(self.run, reason)

    def _locked_status(self) -> str:
        """The status in the database, held against other writers until the transaction ends."""
        locked = Submission.objects.select_for_update().get(pk=self.pk)
        if locked.status == self.Status.WITHDRAWN:
            raise ModerationError("The submission was withdrawn; nothing changes it any more.")
        return locked.status

    def _change(self, before: str, status: str, actor: User, reason: str) -> None:
        if before == status:
            raise ModerationError(f"The submission is {status} already.")
        self.status = status
        self.save(update_fields=["status", "moderator", "reason", "decided_at"])
        AuditEvent.objects.create(
            submission=self, actor=actor, kind=status, data={"from": before, "reason": reason}
        )


def _required(reason: str) -> str:
    if not reason.strip():
        raise ModerationError("A reason is needed; the owner will read it.")
    return reason.strip()
