"""What this site found when it judged runs itself: the queue of that work, and what it changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from runs.models import Run

LEASE = timedelta(minutes=10)
"""A worker says more often than this that it still judges; one that does not is taken for dead."""

MOST_ATTEMPTS = 5
"""A worker that is restarted while it judges has had one as well."""


class LeaseLostError(Exception):
    """Another worker has taken the run, since this one was not heard of for so long."""


class Grades(models.QuerySet["Grade"]):
    def due(self, now: datetime) -> Grades:
        """What a worker may take now: it waits, or whoever took it has not been heard of."""
        return self.filter(due_at__lte=now).order_by("due_at", "pk")

    def with_news(self) -> Grades:
        """Those whose submission has another status or level than when levels were looked at.

        Nobody has to say so: what is not seen yet shows in the rows themselves.
        """
        submission = "run__submission__"
        is_seen = models.Q(
            seen_status=models.F(f"{submission}status"), seen_level=models.F(f"{submission}level")
        )
        return self.filter(run__submission__isnull=False).exclude(is_seen).order_by("pk")


class Grade(models.Model):
    """One run whose code this site is to judge: the row is the queue, a task only says "look"."""

    class State(models.TextChoices):
        NOT_NEEDED = "not_needed", "no verdict needs code to be run"
        WAITING = "waiting", "waits, or is being judged"
        DONE = "done", "judged"
        NO_SANDBOX = "no_sandbox", "there was no sandbox"
        FAILED = "failed", "could not be judged"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="grade")
    state = models.CharField(max_length=10, choices=State.choices, db_index=True)
    code_trials = models.PositiveIntegerField(help_text="Verdicts that need code to be run.")
    picked: models.JSONField[list[int] | None, list[int] | None] = models.JSONField(
        null=True,
        editable=False,
        help_text="Places of the trials that are judged, chosen by this site. Null: not yet.",
    )
    judged = models.PositiveIntegerField(default=0, help_text="Code verdicts that were judged.")
    mismatches = models.PositiveIntegerField(default=0, help_text="Those that came out otherwise.")
    sandbox = models.CharField(max_length=20, blank=True, help_text="Kind of the sandbox.")
    reason = models.TextField(blank=True, help_text="Why it could not be judged.")
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, db_index=True, help_text="Null: nothing to do.")
    lease = models.CharField(max_length=32, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True)
    seen_status = models.CharField(
        max_length=9, blank=True, editable=False, help_text="For which levels were looked at last."
    )
    seen_level = models.CharField(max_length=10, blank=True, editable=False)

    objects: ClassVar[Any] = Grades.as_manager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.run_id} {self.state}"

    @property
    def is_sampled(self) -> bool:
        """Whether only a part of the code verdicts was judged."""
        return self.state == self.State.DONE and self.judged < self.code_trials

    def keep(self, **fields: Any) -> None:
        """Write to the row while this worker has it. Raises LeaseLostError."""
        if not Grade.objects.filter(pk=self.pk, lease=self.lease).update(**fields):
            raise LeaseLostError

    @classmethod
    def of(cls, run: Run) -> Grade | None:
        """The grade of a run; None: it is not in the queue yet."""
        found: Grade | None = cls.objects.filter(run=run).first()
        return found


class Regrade(models.Model):
    """One time that all runs were judged again, since something that judges was mended."""

    reason = models.TextField()
    bench_loop = models.CharField(max_length=40)
    scoring_version = models.CharField(max_length=40)
    packs: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        help_text="Pack hash by suite."
    )
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M} {self.reason}"


class Judgement(models.Model):
    """A run before and after this site judged it otherwise. Rows are added and never deleted."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="judgements")
    regrade = models.ForeignKey(
        Regrade,
        null=True,
        on_delete=models.PROTECT,
        related_name="judgements",
        help_text="Null: its code was judged after the upload.",
    )
    league = models.CharField(max_length=71, help_text="Before.")
    score_before = models.FloatField(null=True, help_text="Overall score; null: it has none.")
    score_after = models.FloatField(null=True)
    header_before = models.JSONField(null=True, help_text="Null: nothing changed.")
    header_after = models.JSONField(null=True, help_text="Null: nothing changed.")
    verdicts_before = models.JSONField(null=True)
    verdicts_after = models.JSONField(null=True)
    notes: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="What could not be judged again, as sentences."
    )
    band_before = models.JSONField(null=True, help_text="Best and worst rank; null: unranked.")
    band_after = models.JSONField(null=True)
    made_at = models.DateTimeField(default=timezone.now)
    applied_at = models.DateTimeField(null=True, help_text="Null: not shown yet.")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["regrade", "run"], name="one_judgement_per_regrade")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.made_at:%Y-%m-%d %H:%M}"

    @property
    def is_changed(self) -> bool:
        """Whether any verdict, score or pack is another one."""
        return self.header_after is not None

    @property
    def has_moved(self) -> bool:
        """Whether its overall score or its rank is another one."""
        return (self.score_before, self.band_before) != (self.score_after, self.band_after)
