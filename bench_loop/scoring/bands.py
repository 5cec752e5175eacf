"""Rank bands: the places that a row can hold, given how sure the differences are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench_loop.scoring.constants import ALPHA, BAND_ROWS
from bench_loop.scoring.intervals import Z


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A score with its 95 % interval; both ends None: its uncertainty is unknown."""

    score: float
    low: float | None
    high: float | None

    @property
    def standard_error(self) -> float | None:
        """From the longer arm of the interval, since the other may have been clipped."""
        if self.low is None or self.high is None:
            return None
        return max(self.score - self.low, self.high - self.score) / Z


@dataclass(frozen=True, slots=True)
class Band:
    """Best and worst place; `1-1` is a sure first place."""

    low: int
    high: int


def unpaired_p(a: RankedRow, b: RankedRow) -> float:
    """p = erfc(|difference| / (sqrt(2) x SE)) from the intervals of two rows of different runs.

    SE^2 is the sum of both; 1 where an interval is unknown. Runs of the same tasks are not
    independent, which makes this cautious: it finds fewer sure differences than a paired test.
    """
    first, second = a.standard_error, b.standard_error
    if first is None or second is None:
        return 1.0
    error = math.hypot(first, second)
    difference = abs(a.score - b.score)
    if error == 0:
        return 1.0 if difference == 0 else 0.0
    return math.erfc(difference / (math.sqrt(2) * error))


def rank_bands(rows: Sequence[RankedRow], *, is_higher_better: bool = True) -> list[Band | None]:
    """The bands of a board's rows, told apart by `unpaired_p`."""
    sign = 1 if is_higher_better else -1
    return bands_of(
        [sign * row.score for row in rows],
        lambda first, second: unpaired_p(rows[first], rows[second]),
    )


def bands_of(scores: Sequence[float], p_value: Callable[[int, int], float]) -> list[Band | None]:
    """Band = 1 + rows surely better .. rows not surely worse (the row itself among them).

    Sure: p < ALPHA after Holm's adjustment over the row's own comparisons inside its league. Only
    the best BAND_ROWS rows of a league get one; filters and pages never change it. A higher score
    is the better one; `p_value` compares two rows by their places in `scores`.
    """
    best = sorted(range(len(scores)), key=lambda index: -scores[index])[:BAND_ROWS]
    bands: list[Band | None] = [None] * len(scores)
    for index in best:
        others = [other for other in best if other != index]
        adjusted = holm([p_value(index, other) for other in others])
        gaps = [scores[other] - scores[index] for other in others]
        sure = [gap for gap, p in zip(gaps, adjusted, strict=True) if p < ALPHA]
        better = sum(gap > 0 for gap in sure)
        worse = sum(gap < 0 for gap in sure)
        bands[index] = Band(1 + better, len(best) - worse)
    return bands


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (Holm 1979), in the order given.

    The i-th smallest of m is multiplied by m - i + 1, and never smaller than the one before it.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for rank, index in enumerate(order):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = floor
    return adjusted
