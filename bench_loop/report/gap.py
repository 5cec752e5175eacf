"""The gap between frozen and fresh, as sentences and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bench_loop.report import figures

if TYPE_CHECKING:
    from bench_loop.engine.gap import FoundGap
    from bench_loop.scoring.gap import Gap


def gap_sentences(found: FoundGap) -> tuple[str, str]:
    """What the two came to, and how that may be read: with care."""
    gap = found.gap
    noun = "family" if gap.family_count == 1 else "families"
    by = figures.difference(gap.difference, (gap.low, gap.high))
    return (
        f"The same {gap.family_count} {noun}: frozen {figures.number(gap.frozen, 1)} (run "
        f"{found.frozen_run_id}), fresh {figures.number(gap.fresh, 1)}; fresh minus frozen "
        f"{by.value} ({by.interval}) points.",
        _reading(gap),
    )


def _reading(gap: Gap) -> str:
    if gap.high < 0:
        return (
            "Chance hardly explains the loss. The official tasks may be known by heart; or these "
            "instances are harder, which another seed would show."
        )
    if gap.low > 0:
        return (
            "Chance hardly explains the gain. These instances may be easier, which another seed "
            "would show; it says nothing of memory."
        )
    return (
        "The interval holds 0: that is no sign of tasks known by heart, and with so few families "
        "no proof against it either."
    )


def gap_json(found: FoundGap) -> dict[str, Any]:
    """The same for a program to read, nothing rounded."""
    gap = found.gap
    return {
        "frozen_run_id": found.frozen_run_id,
        **asdict(gap),
        "suites": list(gap.suites),
        "difference": gap.difference,
    }
