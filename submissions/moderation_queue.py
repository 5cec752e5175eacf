"""The moderation queue: what waits for a moderator, since when, and how much there is of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from submissions.models import AuditEvent, Report, Submission

PENDING = Q(status="pending", requested_changes="")
APPEALED = Q(appealed_at__isnull=False)
REPORTED = Q(open_reports__gt=0)
WAITING = PENDING | APPEALED | REPORTED
WAITS_FOR_OWNER = Q(status="pending") & ~Q(requested_changes="")

SEVERITY_RANKS = (("refused", 3), ("needs_review", 2), ("note", 1))


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is, for one moderator: their own submissions wait for somebody else."""

    waiting: int
    pending: int
    appeals: int
    reported: int
    waits_for_owner: int
    flagged: int
    oldest: datetime | None


def queue() -> QuerySet[Submission]:
    """All submissions with what a moderator chooses them by.

    Adds `open_reports`, `answered_at` (of the owner's newest answer), `waiting_since`, `severity`
    (3 refused, 2 needs review, 1 note, 0 nothing) and `newest_event`, the version.
    """
    reports = (
        Report.objects.filter(submission=OuterRef("pk"), resolved_at__isnull=True)
        .order_by()
        .values("submission")
    )
    answered = (
        AuditEvent.objects.filter(submission=OuterRef("pk"), kind="answered")
        .order_by()
        .values("submission")
    )
    found = Submission.objects.select_related("run", "owner", "moderator").defer(
        "run__result_bytes"
    )
    found = found.annotate(
        open_reports=Coalesce(Subquery(reports.annotate(n=Count("pk")).values("n")), 0),
        answered_at=Subquery(answered.annotate(at=Max("created_at")).values("at")),
        findings_text=Cast("findings", TextField()),
        waiting_since=Case(
            When(APPEALED, then=F("appealed_at")),
            When(
                status="pending",
                then=Coalesce(F("answered_at"), F("created_at")),
            ),
            default=Coalesce(
                Subquery(reports.annotate(at=Min("created_at")).values("at")), F("created_at")
            ),
            output_field=DateTimeField(),
        ),
    )
    return found.annotate(
        severity=Case(
            *(
                When(findings_text__contains=f'"severity": "{name}"', then=Value(rank))
                for name, rank in SEVERITY_RANKS
            ),
            default=Value(0),
            output_field=IntegerField(),
        )
    )


def waits_for(user: User) -> QuerySet[Submission]:
    """What `user` can do something about, the longest waiting first."""
    return queue().filter(WAITING).exclude(owner=user).order_by(F("waiting_since"), "pk")


def counts(user: User) -> Counts:
    """The figures above the queue."""
    others = queue().exclude(owner=user)
    found = others.aggregate(
        waiting=Count("pk", filter=WAITING),
        pending=Count("pk", filter=PENDING),
        appeals=Count("pk", filter=APPEALED),
        reported=Count("pk", filter=REPORTED),
        waits_for_owner=Count("pk", filter=WAITS_FOR_OWNER),
        flagged=Count("pk", filter=Q(status="flagged")),
    )
    first = others.filter(WAITING).order_by(F("waiting_since")).first()
    return Counts(**found, oldest=getattr(first, "waiting_since", None))


def age(span: timedelta) -> str:
    """`3 days`, `5 hours`, `12 minutes`: how long something waits, rounded down."""
    minutes = int(span.total_seconds() // 60)
    for name, length in (("day", 24 * 60), ("hour", 60), ("minute", 1)):
        if minutes >= length:
            number = minutes // length
            return f"{number} {name}{'' if number == 1 else 's'}"
    return "less than a minute"
