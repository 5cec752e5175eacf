"""How long a run may still take: a range, from what it has measured itself and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance

EVIDENCE = 3
"""Finished trials below which nothing is said."""


def time_left(
    finished: Mapping[str, Sequence[float]], to_come: Mapping[str, int]
) -> tuple[float, float] | None:
    """Seconds left, low and high, or None before there is evidence.

    `finished` holds the seconds of each finished trial by suite, `to_come` the number of trials
    still to come by suite. The range is the expected sum and its standard deviation, taken twice
    and more often the fewer trials stand behind it. A suite with enough trials of its own is judged
    by them; any other suite may on average be as slow or as quick as any single trial seen so far.
    No trial is expected to take less than half of the quickest one seen.
    """
    seen = [seconds for suite in finished.values() for seconds in suite]
    if len(seen) < EVIDENCE:
        return None
    expected = spread = 0.0
    for suite, count in to_come.items():
        own = finished.get(suite, ())
        has_evidence = len(own) >= EVIDENCE
        sample = own if has_evidence else seen
        doubt_of_mean = variance(sample) / len(sample) if has_evidence else variance(sample)
        expected += count * fmean(sample)
        spread += count * variance(sample) + count**2 * doubt_of_mean
    margin = (2 + 6 / len(seen)) * math.sqrt(spread)
    floor = sum(to_come.values()) * min(seen) / 2
    return max(expected - margin, floor), expected + margin
