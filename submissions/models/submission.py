"""Submissions: an upload on its way to the leaderboard, and what was decided about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models, transaction
from django.utils import timezone

from bench_loop.report.figures import moment
from leaderboard import publish
from leaderboard.models import LEVELS, Entry
from runs.models import Run
from submissions.anonymous import is_anonymous
from submissions.models.audit import AuditEvent, without_addresses
from submissions.models.errors import ChangedMeanwhileError, ModerationError
from submissions.models.reasons import LONGEST_REASON, required, text_of
from submissions.models.rules import Decision, why_not
from submissions.roles import is_moderator

APPROVED = "A moderator read it and found nothing against it."
WITHDRAWN = "Withdrawn by its owner."
EDITABLE = ("notes", "labels")


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
    notes = models.TextField(blank=True, max_length=2000, help_text="The owner's, for readers.")
    labels: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, blank=True, help_text="The owner's words to find it by."
    )
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
    requested_changes = models.TextField(
        blank=True,
        max_length=LONGEST_REASON,
        help_text="What a moderator asks of the owner; empty: nothing is asked.",
    )
    appeal_text = models.TextField(
        blank=True,
        max_length=LONGEST_REASON,
        help_text="The owner's, against the present status; empty: there is none.",
    )
    appealed_at = models.DateTimeField(null=True, blank=True)
    duplicate_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="duplicates"
    )
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

    @property
    def version(self) -> int:
        """Grows with every change: the id of the newest event of its audit trail."""
        return self.audit.aggregate(newest=models.Max("pk"))["newest"] or 0

    def approve(
        self,
        moderator: User,
        reason: str = APPROVED,
        *,
        seen: int | None = None,
        template: str = "",
    ) -> None:
        """Show the run on the leaderboard.

        Like every decision: `seen` is the version that the moderator looked at (None: not asked),
        `template` the code of the reason's template. Raises ModerationError when it is not allowed,
        ChangedMeanwhileError when the submission has another version by now.
        """
        with transaction.atomic():
            reason = self._begin(Decision.APPROVE, moderator, reason, seen)
            self._settle(self.Status.APPROVED, moderator, reason, template)
            publish.publish(self.run, level=self.level, is_local=False)

    def reject(
        self, moderator: User, reason: str, *, seen: int | None = None, template: str = ""
    ) -> None:
        """Keep the run off the leaderboard."""
        with transaction.atomic():
            reason = self._begin(Decision.REJECT, moderator, reason, seen)
            self._take_off(self.Status.REJECTED, moderator, reason, template)

    def flag(
        self, moderator: User, reason: str, *, seen: int | None = None, template: str = ""
    ) -> None:
        """Take the run off the leaderboard until a question about it is settled."""
        with transaction.atomic():
            reason = self._begin(Decision.FLAG, moderator, reason, seen)
            self._take_off(self.Status.FLAGGED, moderator, reason, template)

    def mark_duplicate(
        self,
        moderator: User,
        reason: str,
        *,
        original: Submission,
        seen: int | None = None,
        template: str = "",
    ) -> None:
        """Reject it as a copy of `original`, which is named on its page."""
        with transaction.atomic():
            reason = self._begin(Decision.MARK_DUPLICATE, moderator, reason, seen)
            if original.pk == self.pk:
                raise ModerationError("A submission is no duplicate of itself; name the first one.")
            if original.duplicate_of is not None:
                raise ModerationError(
                    f"{original} is a duplicate of {original.duplicate_of}; name that one."
                )
            self._take_off(self.Status.REJECTED, moderator, reason, template, original)

    def request_changes(
        self, moderator: User, reason: str, *, seen: int | None = None, template: str = ""
    ) -> None:
        """Ask the owner for something; it stays pending and waits for the answer."""
        with transaction.atomic():
            reason = self._begin(Decision.REQUEST_CHANGES, moderator, reason, seen)
            self.moderator, self.requested_changes = moderator, reason
            self.save(update_fields=["moderator", "requested_changes"])
            self._record("changes_requested", moderator, reason=reason, template=template)

    def verify(
        self, moderator: User, reason: str, *, seen: int | None = None, template: str = ""
    ) -> None:
        """Raise the level of a run that is shown, on a moderator's own judgement."""
        with transaction.atomic():
            reason = self._begin(Decision.VERIFY, moderator, reason, seen)
            if is_anonymous(self.owner):
                raise ModerationError("What was sent without an account stays at its level.")
            self.change_level("verified", moderator, reason, kind="verified", template=template)

    def unverify(
        self, moderator: User, reason: str, *, seen: int | None = None, template: str = ""
    ) -> None:
        """Take a verification back: the level is again the one before it."""
        with transaction.atomic():
            reason = self._begin(Decision.UNVERIFY, moderator, reason, seen)
            self._unverify(moderator, reason, template)

    def why_not(self, decision: Decision) -> str:
        """Why `decision` can't be taken now, as a sentence; empty: it can."""
        return why_not(
            decision,
            status=self.status,
            level=self.level,
            is_appealed=self.appealed_at is not None,
            is_duplicate=self.duplicate_of_id is not None,
        )

    def change_level(
        self,
        level: str,
        actor: User | None,
        reason: str,
        *,
        kind: str = "level_changed",
        template: str = "",
    ) -> None:
        """Set the level here and on the leaderboard, and say so in the audit trail.

        Call it inside a transaction. Nothing happens when it has that level.
        """
        before = self.level
        if before == level:
            return
        self.level = level
        self.save(update_fields=["level"])
        Entry.objects.filter(run=self.run).update(level=level)
        data = {"from": before, "to": level, "reason": reason, "template": template}
        self._record(kind, actor, **data)

    @property
    def can_be_appealed(self) -> bool:
        """Whether its owner may appeal now: once against each decision that keeps the run off."""
        decided = (self.Status.REJECTED, self.Status.FLAGGED)
        return self.status in decided and self.appealed_at is None

    def appeal(self, actor: User, text: str) -> None:
        """The owner asks for another decision, and says why. Raises ModerationError."""
        with transaction.atomic():
            self._lock_for_owner(actor, "Only its owner can appeal.")
            if self.appealed_at is not None:
                raise ModerationError(
                    "This decision was appealed already; a moderator will answer."
                )
            if not self.can_be_appealed:
                raise ModerationError("Only a rejection or a flag can be appealed.")
            self.appeal_text = text_of(text, "why the decision is wrong")
            self.appealed_at = timezone.now()
            self.save(update_fields=["appeal_text", "appealed_at"])
            self._record("appealed", actor, reason=self.appeal_text)

    def answer_request(self, actor: User, text: str) -> None:
        """The owner answers what a moderator asked, so that it waits for moderators again.

        Raises ModerationError.
        """
        with transaction.atomic():
            self._lock_for_owner(actor, "Only its owner can answer.")
            if not self.requested_changes:
                raise ModerationError("Nothing is asked of its owner now.")
            answer = text_of(text, "the answer")
            self.requested_changes = ""
            self.save(update_fields=["requested_changes"])
            self._record("answered", actor, reason=answer)

    def edit(self, actor: User, changes: Mapping[str, Any]) -> None:
        """The owner sets notes or labels, never the run; what they were before is written down.

        Raises ModerationError.
        """
        with transaction.atomic():
            self._lock_for_owner(actor, "Only its owner can edit a submission.")
            before = {name: getattr(self, name) for name in EDITABLE if name in changes}
            new = {name: changes[name] for name in before if changes[name] != before[name]}
            if not new:
                return
            for name, value in new.items():
                setattr(self, name, value)
            self.save(update_fields=list(new))
            old = {name: before[name] for name in new}
            AuditEvent.objects.create(
                submission=self, actor=actor, kind="edited", data={"before": old, "after": new}
            )

    def withdraw(self, actor: User) -> None:
        """The owner takes the run back, for good. Raises ModerationError."""
        with transaction.atomic():
            self._lock_for_owner(actor, "Only its owner can withdraw a submission.")
            before, self.status = self.status, self.Status.WITHDRAWN
            self._close_questions()
            self.save(update_fields=["status", *_QUESTIONS])
            self._record("withdrawn", actor, **{"from": before, "reason": WITHDRAWN})
            publish.withdraw(self.run, WITHDRAWN)

    def _lock_for_owner(self, actor: User, otherwise: str) -> None:
        if actor.pk != self.owner_id:
            raise ModerationError(otherwise)
        self._lock()

    def _lock(self, seen: int | None = None) -> None:
        """Read it anew, held against other writers until the transaction ends."""
        self.refresh_from_db(from_queryset=Submission.objects.select_for_update())
        if seen is not None and self.version != seen:
            raise ChangedMeanwhileError(self._what_happened_since(seen))
        if self.status == self.Status.WITHDRAWN:
            raise ModerationError("The submission was withdrawn; nothing changes it any more.")

    def _what_happened_since(self, seen: int) -> str:
        events = self.audit.filter(pk__gt=seen).select_related("actor")
        told = [
            f"{event.words} by {event.actor or 'the site'} at {moment(event.created_at)}"
            + (f" ({event.data['reason']})" if event.data.get("reason") else "")
            for event in events
        ]
        return f"It was changed after this page was made: {'; '.join(told)}. Look again."

    def _begin(self, decision: Decision, moderator: User, reason: str, seen: int | None) -> str:
        """Lock it and refuse what is not allowed; gives the reason as it will be kept."""
        self._lock(seen)
        if not is_moderator(moderator):
            raise ModerationError("Only a moderator can decide about submissions.")
        if moderator.pk == self.owner_id:
            raise ModerationError("Nobody decides about their own submission.")
        if why := self.why_not(decision):
            raise ModerationError(why)
        return required(reason)

    def _settle(
        self,
        status: str,
        moderator: User,
        reason: str,
        template: str,
        original: Submission | None = None,
    ) -> None:
        before, self.status = self.status, status
        self.moderator, self.reason, self.decided_at = moderator, reason, timezone.now()
        self.duplicate_of = original
        self._close_questions()
        self.save(
            update_fields=[
                *("status", "moderator", "reason", "decided_at", "duplicate_of"),
                *_QUESTIONS,
            ]
        )
        data = {"from": before, "reason": reason, "template": template}
        self._record(status, moderator, **data, duplicate_of=str(original) if original else "")

    def _take_off(
        self,
        status: str,
        moderator: User,
        reason: str,
        template: str,
        original: Submission | None = None,
    ) -> None:
        self._settle(status, moderator, reason, template, original)
        if self.level == "verified":
            self._unverify(moderator, reason, template)
        publish.withdraw(self.run, without_addresses(reason))

    def _unverify(self, moderator: User, reason: str, template: str) -> None:
        verified = self.audit.filter(kind="verified").last()
        before = verified.data.get("from") if verified else None
        self.change_level(
            before or "reported", moderator, reason, kind="unverified", template=template
        )

    def _close_questions(self) -> None:
        """A decision answers what was open between owner and moderators."""
        self.requested_changes = self.appeal_text = ""
        self.appealed_at = None

    def _record(self, kind: str, actor: User | None, **data: str) -> None:
        told = {name: value for name, value in data.items() if value}
        AuditEvent.objects.create(submission=self, actor=actor, kind=kind, data=told)


_QUESTIONS = ("requested_changes", "appeal_text", "appealed_at")
