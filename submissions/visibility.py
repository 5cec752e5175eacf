"""Who may see which submissions."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from submissions.models import AuditEvent, Submission, is_moderator

Reader = AbstractBaseUser | AnonymousUser


def readable_by(reader: Reader) -> QuerySet[Submission]:
    """All that `reader` may see: what was published once, the reader's own, all for moderators.

    What was published and taken back stays readable as a tombstone.
    """
    if is_moderator(reader):
        return Submission.objects.all()
    published = Q(status=Submission.Status.APPROVED) | Q(run__entry__isnull=False)
    return Submission.objects.filter(published | Q(owner_id=reader.pk))


def listed_for(reader: Reader) -> QuerySet[Submission]:
    """The list of `reader`: what is published now, the reader's own, all for moderators."""
    if is_moderator(reader):
        return Submission.objects.all()
    return Submission.objects.filter(Q(status=Submission.Status.APPROVED) | Q(owner_id=reader.pk))


def public_trail() -> QuerySet[AuditEvent]:
    """What was done to the submissions that are or were published."""
    return AuditEvent.objects.filter(submission__run__entry__isnull=False)
