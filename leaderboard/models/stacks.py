"""Stacks: what the board ranks, and the leagues inside which it does."""

from __future__ import annotations

from django.db import models

from leaderboard.models.names import LONGEST_NAME, LanguageModel


class League(models.Model):
    """Stacks that are ranked together. Whoever changes one of them locks this row first."""

    key = models.CharField(max_length=71, unique=True)

    def __str__(self) -> str:
        return self.key


class Stack(models.Model):
    """Model x quantization x harness x device class, in one league, which names the harness.

    Every number here follows from the entries, and is kept in the transaction that changes one.
    """

    model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="stacks")
    quantization = models.CharField(
        max_length=LONGEST_NAME, blank=True, help_text="In capitals; empty: unknown."
    )
    device_class = models.CharField(max_length=LONGEST_NAME)
    league = models.ForeignKey(League, on_delete=models.PROTECT, related_name="stacks")

    shown = models.OneToOneField(
        "leaderboard.Entry",
        null=True,
        on_delete=models.SET_NULL,
        related_name="shown_by",
        help_text="The run that stands for it; null: all were withdrawn.",
    )
    run_count = models.PositiveIntegerField(
        default=0, help_text="Runs among which the shown one is the median."
    )
    owner_count = models.PositiveIntegerField(default=0, help_text="Owners of those runs.")
    uncounted_count = models.PositiveIntegerField(
        default=0, help_text="Published runs that are not ranked while others here are."
    )
    withdrawn_count = models.PositiveIntegerField(default=0)
    overall_low = models.FloatField(null=True, help_text="Lowest overall score of those runs.")
    overall_high = models.FloatField(null=True, help_text="Highest overall score of those runs.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "quantization", "device_class", "league"],
                name="one_row_per_stack",
            )
        ]

    def __str__(self) -> str:
        return " / ".join(filter(None, (str(self.model), self.quantization, self.device_class)))
