"""What the owner of a submission may change about it: notes and labels, never the run."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from submissions.models import AuditEvent, ModerationError, Submission

EDITABLE = ("notes", "labels")


def edit(submission: Submission, actor: User, changes: dict[str, Any]) -> None:
    """Set the notes or labels named in `changes`, and write down what they were before.

    Raises ModerationError when `actor` is not the owner or the submission was withdrawn.
    """
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if actor.pk != locked.owner_id:
            raise ModerationError("Only its owner can edit a submission.")
        if locked.status == Submission.Status.WITHDRAWN:
            raise ModerationError("The submission was withdrawn; nothing changes it any more.")
        new = {
            name: changes[name]
            for name in EDITABLE
            if name in changes and changes[name] != getattr(locked, name)
        }
        if not new:
            return
        old = {name: getattr(locked, name) for name in new}
        for name, value in new.items():
            setattr(locked, name, value)
            setattr(submission, name, value)
        locked.save(update_fields=list(new))
        AuditEvent.objects.create(
            submission=locked, actor=actor, kind="edited", data={"before": old, "after": new}
        )
