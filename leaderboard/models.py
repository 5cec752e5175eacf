"""Entries: the rows of the leaderboard, a column for all that is filtered or shown."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from runs.models import Run

LEVELS = [
    ("reported", "reported"),
    ("consistent", "consistent"),
    ("reproduced", "reproduced"),
    ("verified", "verified"),
]

CPU_ONLY = "CPU only"


class EntryQuerySet(models.QuerySet["Entry"]):
    def shown(self) -> EntryQuerySet:
        """What visitors may see; a withdrawn entry is a tombstone."""
        return self.filter(withdrawn_at__isnull=True)

    def best_first(self) -> EntryQuerySet:
        """By overall score, ranked entries first, unknown scores last, ties by age."""
        return self.order_by(
            models.F("is_ranked").desc(),
            models.F("overall_score").desc(nulls_last=True),
            "published_at",
            "pk",
        )


class Entry(models.Model):
    """A published run. Null is unknown; scores are 0 to 100 with a 95 % interval."""

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="entry")
    level = models.CharField(max_length=10, choices=LEVELS, db_index=True)
    is_sampled = models.BooleanField(
        default=False, help_text="Of the verdicts that need code to be run, a sample was checked."
    )
    evidence = models.JSONField(
        default=list, editable=False, help_text="What speaks for its level: level and sentence."
    )
    is_local = models.BooleanField()
    is_ranked = models.BooleanField()
    not_ranked_reason = models.CharField(max_length=200, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.TextField(blank=True)
    published_at = models.DateTimeField(default=timezone.now, db_index=True)

    model_id = models.CharField(max_length=1000)
    model_family = models.CharField(max_length=1000, null=True, db_index=True)  # noqa: DJ001
    parameters_b = models.FloatField(null=True)
    quantization = models.CharField(max_length=1000, null=True, db_index=True)  # noqa: DJ001
    thinking = models.BooleanField(null=True)
    provider = models.CharField(max_length=1000, db_index=True)
    harness = models.CharField(max_length=1000, db_index=True)
    harness_version = models.CharField(max_length=1000)
    custom_reason = models.CharField(
        max_length=1000,
        blank=True,
        help_text="Why its harness was not run as BenchLoop pins it; empty: it was.",
    )
    device_class = models.CharField(max_length=1000, db_index=True)
    gpu_model = models.CharField(max_length=1000, null=True, db_index=True)  # noqa: DJ001
    gpu_memory_gb = models.FloatField(null=True)
    system_memory_gb = models.FloatField(null=True)
    profile = models.CharField(max_length=20, db_index=True)
    league = models.CharField(
        max_length=71, db_index=True, help_text="Runs with the same key are ranked together."
    )
    scoring_version = models.CharField(max_length=1000)
    finished_at = models.DateTimeField(db_index=True)

    overall_score = models.FloatField(null=True, db_index=True)
    overall_score_low = models.FloatField(null=True)
    overall_score_high = models.FloatField(null=True)
    quality_score = models.FloatField(null=True)
    quality_score_low = models.FloatField(null=True)
    quality_score_high = models.FloatField(null=True)
    speed_score = models.FloatField(null=True)
    speed_score_low = models.FloatField(null=True)
    speed_score_high = models.FloatField(null=True)
    reliability_score = models.FloatField(null=True)
    reliability_score_low = models.FloatField(null=True)
    reliability_score_high = models.FloatField(null=True)
    value_score = models.FloatField(null=True)
    value_score_low = models.FloatField(null=True)
    value_score_high = models.FloatField(null=True)
    answers_per_minute = models.FloatField(null=True)

    generation_tps = models.FloatField(null=True, help_text="Median tokens a second.")
    generation_tps_peak = models.FloatField(null=True)
    generation_tps_mean = models.FloatField(null=True)
    generation_tps_stdev = models.FloatField(null=True)
    generation_tps_reach = models.FloatField(null=True, help_text="Half of its 95 % interval.")
    prompt_tps = models.FloatField(null=True, help_text="Median prompt tokens a second.")
    ttft_s = models.FloatField(null=True, help_text="Median seconds to the first token.")
    ttft_s_reach = models.FloatField(null=True, help_text="Half of its 95 % interval.")
    load_s = models.FloatField(null=True, help_text="Seconds to load the model.")

    band_low = models.PositiveIntegerField(null=True, help_text="Best rank it may have.")
    band_high = models.PositiveIntegerField(null=True, help_text="Worst rank it may have.")

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.model_id} / {self.harness} / {self.device_class}"

    def get_absolute_url(self) -> str:
        return self.run.get_absolute_url()


class Outline(models.Model):
    """An entry's result without its texts, kept when it is published: matrices are made of it."""

    entry = models.OneToOneField(
        Entry, on_delete=models.CASCADE, primary_key=True, related_name="outline"
    )
    data = models.BinaryField(help_text="As bench_loop.result.outline writes it.")

    def __str__(self) -> str:
        return str(self.entry_id)
