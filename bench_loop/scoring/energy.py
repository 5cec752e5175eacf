"""Energy over a stretch of time, from the readings of a power sensor. Pure arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from bench_loop.scoring.constants import (
    MAX_READING_GAP_S,
    MIN_COVERED_SHARE,
    MIN_IDLE_SECONDS,
)

Window = tuple[float, float]
"""Begin and end in seconds on the clock of the readings."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a sensor: when, and watts, or joules since some moment in the past."""

    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Piece:
    """The time between two readings that lie close enough together, and its energy."""

    begin: float
    end: float
    joules: float

    @property
    def watts(self) -> float:
        return self.joules / (self.end - self.begin)


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of some windows; `joules` is None where the readings do not cover them."""

    joules: float | None
    coverage: float


class Trace:
    """The power of one run, by the time between one reading and the next.

    Between two readings it counts as constant. Where more than MAX_READING_GAP_S s lie between two,
    that time is not covered.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.pieces = tuple(pieces)
        self._begins = [piece.begin for piece in self.pieces]
        self._ends = [piece.end for piece in self.pieces]

    @classmethod
    def of_watts(cls, readings: Sequence[Reading]) -> Trace:
        """By the trapezium rule: the energy between two readings is their mean by the time."""
        return cls(
            Piece(a.at, b.at, (a.value + b.value) / 2 * (b.at - a.at))
            for a, b in pairwise(readings)
            if 0 < b.at - a.at <= MAX_READING_GAP_S
        )

    @classmethod
    def of_counter(cls, readings: Sequence[Reading]) -> Trace:
        """By a counter of joules; where it fell it was reset, and that time is not covered."""
        return cls(
            Piece(a.at, b.at, b.value - a.value)
            for a, b in pairwise(readings)
            if 0 < b.at - a.at <= MAX_READING_GAP_S and b.value >= a.value
        )

    @property
    def interval_s(self) -> float | None:
        """Median time between two readings."""
        return median(p.end - p.begin for p in self.pieces) if self.pieces else None

    def energy(self, windows: Sequence[Window]) -> Energy:
        """Energy of all windows together, what is not covered taken at the mean of the rest.

        Null where less than MIN_COVERED_SHARE is covered, never zero. Joules per generated token
        are taken over the windows from the first token to the last of the headline shape, joules
        per right answer from the first trial of the quality suites to the last. Idle power is in
        both.
        """
        whole_s = math.fsum(end - begin for begin, end in windows)
        shares = [share for window in windows for share in self._within(window)]
        covered_s = math.fsum(seconds for seconds, _ in shares)
        coverage = min(1.0, covered_s / whole_s) if whole_s > 0 else 0.0
        if coverage < MIN_COVERED_SHARE:
            return Energy(None, coverage)
        return Energy(math.fsum(joules for _, joules in shares) / coverage, coverage)

    def idle_w(self, window: Window) -> float | None:
        """Median of the power in each second of a window without requests.

        By seconds, since counters move in steps. Null below MIN_IDLE_SECONDS covered seconds.
        """
        begin, end = window
        starts = [begin + second for second in range(max(0, int(end - begin)))]
        found = [self.energy([(start, start + 1)]).joules for start in starts]
        watts = [joules for joules in found if joules is not None]
        return median(watts) if len(watts) >= MIN_IDLE_SECONDS else None

    def _within(self, window: Window) -> list[tuple[float, float]]:
        """Seconds and joules of each piece, as far as it lies in the window."""
        begin, end = window
        found = []
        for piece in self.pieces[bisect_right(self._ends, begin) : bisect_left(self._begins, end)]:
            seconds = min(piece.end, end) - max(piece.begin, begin)
            found.append((seconds, piece.watts * seconds))
        return found
