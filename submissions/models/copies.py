"""What is kept of a run's timings, so that nobody sends them as their own."""

from __future__ import annotations

from django.db import models

from runs.models import Run


class TimingMark(models.Model):
    """A hash of the timings of one trial of a run; of each run the smallest are kept."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="timing_marks")
    mark = models.BigIntegerField()

    class Meta:
        # By the mark first: it is what is looked for.
        constraints = [models.UniqueConstraint(fields=["mark", "run"], name="one_mark_per_run")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.mark}"
