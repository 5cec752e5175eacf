"""Where a run stands among the shown runs of the same model on the same class of device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench_loop.report.figures import significant
from leaderboard import publish
from leaderboard.models import Entry
from runs.models import Run

MEASURES = (
    ("generation_tps", "generation", "tok/s"),
    ("prompt_tps", "prompt", "tok/s"),
    ("ttft_s", "time to first token", "s"),
    ("quality_score", "quality", "of 100"),
)
"""Column of an entry, its name, its unit."""

WIDTH = 560
MARGIN = 10
"""Of the drawing, in its own units."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One measure: the others as dots on a line, the median, and this run's mark.

    `own` None: this run has no such figure. Places are x in a drawing WIDTH wide.
    """

    name: str
    unit: str
    n: int
    own: str | None
    median: str | None
    low: str | None
    high: str | None
    ratio: str | None
    dots: tuple[float, ...]
    median_x: float | None
    own_x: float | None
    ends: tuple[str, str]


def same_stack(run: Run) -> tuple[str, list[Entry]]:
    """What the runs are compared by, in words, and the others that are shown."""
    own = publish.columns(run.run_header())
    entries = Entry.objects.shown().filter(
        model_id=own["model_id"],
        quantization=own["quantization"],
        device_class=own["device_class"],
    )
    words = " ".join(filter(None, (own["model_id"], own["quantization"])))
    return f"{words} on {own['device_class']}", list(entries.exclude(run=run))


def strips(run: Run, others: Sequence[Entry]) -> list[Strip]:
    """A strip for each measure that this run or another one has."""
    own = publish.columns(run.run_header())
    # Quality by other tasks, settings or formulas is another measure.
    alike = [entry for entry in others if entry.league == own["league"]]
    made = (
        _strip(
            name, unit, own[column], _values(alike if column == "quality_score" else others, column)
        )
        for column, name, unit in MEASURES
    )
    return [strip for strip in made if strip.n or strip.own is not None]


def _values(entries: Sequence[Entry], column: str) -> list[float]:
    return sorted(value for entry in entries if (value := getattr(entry, column)) is not None)


def _strip(name: str, unit: str, own: float | None, values: list[float]) -> Strip:
    middle = median(values) if values else None
    every = [*values, *([] if own is None else [own])]
    # From zero, so that a run twice as fast stands twice as far out.
    top = max(every, default=0.0) * 1.05 or 1.0

    def place(value: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * value / top, 1)

    return Strip(
        name=name,
        unit=unit,
        n=len(values),
        own=None if own is None else significant(own, 3),
        median=None if middle is None else significant(middle, 3),
        low=significant(values[0], 3) if values else None,
        high=significant(values[-1], 3) if values else None,
        ratio=f"{significant(own / middle, 2)} ×" if own is not None and middle else None,
        dots=tuple(map(place, values)),
        median_x=None if middle is None else place(middle),
        own_x=None if own is None else place(own),
        ends=("0", significant(top, 2)),
    )
