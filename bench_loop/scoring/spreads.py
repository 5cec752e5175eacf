"""Several measurements of one quantity, made into one record."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench_loop.contracts.chat import Basis
from bench_loop.result.records import Spread
from bench_loop.scoring.intervals import mean, stdev


def spread(values: Sequence[float], basis: Basis | None = None) -> Spread | None:
    """Peak, mean, median, sample standard deviation and number; None of no values."""
    if not values:
        return None
    return Spread(
        peak=max(values),
        mean=mean(values),
        median=float(median(values)),
        stdev=stdev(values),
        n=len(values),
        basis=basis,
    )
