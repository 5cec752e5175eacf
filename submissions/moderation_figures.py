"""What moderation did, as figures that everybody may read: no names, no single run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import F, Min

from submissions import moderation_queue
from submissions.models import AuditEvent, Report

DAYS = 90
DECISIONS = ("approved", "rejected", "flagged")
OWN_WORDS = "in the moderator's own words"


@dataclass(frozen=True, slots=True)
class Reason:
    """How often a decision was taken for a reason, which is a template's name or OWN_WORDS."""

    decision: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The state now, and the decisions of the last `days`. Times in seconds; None: none."""

    days: int
    pending: int
    waits_for_owner: int
    oldest_pending_s: float | None
    appeals_open: int
    reports_open: int
    decided: int
    median_to_decision_s: float | None
    decisions: dict[str, int]
    reasons: tuple[Reason, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def figures(now: datetime) -> Figures:
    """The figures at `now`."""
    since = now - timedelta(days=DAYS)
    submissions = moderation_queue.queue()
    pending = submissions.filter(moderation_queue.PENDING)
    oldest = pending.order_by(F("waiting_since")).first()
    waits = _times_to_decision(since)
    events = AuditEvent.objects.filter(kind__in=DECISIONS, created_at__gte=since)
    taken = Counter(
        (kind, _reason(data)) for kind, data in events.order_by().values_list("kind", "data")
    )
    return Figures(
        days=DAYS,
        pending=pending.count(),
        waits_for_owner=submissions.filter(moderation_queue.WAITS_FOR_OWNER).count(),
        oldest_pending_s=(now - getattr(oldest, "waiting_since", now)).total_seconds()
        if oldest
        else None,
        appeals_open=submissions.filter(moderation_queue.APPEALED).count(),
        reports_open=Report.objects.filter(resolved_at__isnull=True).count(),
        decided=len(waits),
        median_to_decision_s=median(waits) if waits else None,
        decisions={
            kind: sum(count for (decision, _), count in taken.items() if decision == kind)
            for kind in DECISIONS
        },
        reasons=tuple(
            Reason(decision, reason, count)
            for (decision, reason), count in sorted(
                taken.items(), key=lambda item: (DECISIONS.index(item[0][0]), -item[1], item[0][1])
            )
        ),
    )


def _times_to_decision(since: datetime) -> list[float]:
    """Seconds from the upload to the first decision, of submissions first decided since then."""
    first = (
        AuditEvent.objects.filter(kind__in=DECISIONS)
        .order_by()
        .values("submission", sent=F("submission__created_at"))
        .annotate(decided=Min("created_at"))
    )
    return [
        (row["decided"] - row["sent"]).total_seconds() for row in first if row["decided"] >= since
    ]


def _reason(data: dict[str, Any]) -> str:
    template = data.get("template")
    return template.replace("-", " ") if isinstance(template, str) and template else OWN_WORDS
