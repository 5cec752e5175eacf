"""How long a run may still take: a range, from what it has measured itself and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import variance
from typing import NamedTuple

EVIDENCE = 3
"""Finished trials below which nothing is learnt from them."""
TIMED = "speed"
"""The suite whose trials say nothing about the length of answers."""
DOUBT_OF_FORECAST = 0.5
"""Standard deviation, as a share, of how long answers are, before any was seen."""


class Finished(NamedTuple):
    """Seconds that a trial took, and what it was expected to take; 1 where nothing was expected."""

    seconds: float
    expected: float = 1.0


class TimeLeft(NamedTuple):
    """Seconds left."""

    low: float
    expected: float
    high: float


@dataclass(frozen=True, slots=True)
class _Pace:
    """Seconds by expected seconds, how much that varies, and how well it is known."""

    ratio: float
    variance: float
    variance_of_ratio: float


def time_left(
    finished: Mapping[str, Sequence[Finished]],
    to_come: Mapping[str, Sequence[float]],
    *,
    is_forecast: bool = False,
) -> TimeLeft | None:
    """Seconds left, or None before there is evidence.

    `finished` holds the finished trials by suite, `to_come` what each trial still to come is
    expected to take; with `is_forecast` these are seconds of a forecast, else all are 1. The range
    is the expected sum and its standard deviation, taken twice and more often the fewer trials
    stand behind it. A suite with enough trials of its own is judged by them; any other suite may on
    average be as slow or as quick as any single trial seen so far. No trial is expected to take
    less than half of the quickest one seen.
    """
    seen = [one for suite, trials in finished.items() if suite != TIMED for one in trials]
    others = _pace(seen, has_own_mean=False)
    if others is None:
        if not is_forecast:
            return None
        others = _forecast_pace(finished.get(TIMED, ()))
    expected = spread = 0.0
    for suite, costs in to_come.items():
        pace = _pace(finished.get(suite, ()), has_own_mean=True) or others
        expected += pace.ratio * sum(costs)
        spread += pace.variance * sum(cost**2 for cost in costs)
        spread += pace.variance_of_ratio * sum(costs) ** 2
    margin = (2 + 6 / max(len(seen), EVIDENCE)) * math.sqrt(spread)
    floor = sum(map(sum, to_come.values())) * _quickest(seen) / 2
    return TimeLeft(max(expected - margin, floor), expected, expected + margin)


def _pace(trials: Sequence[Finished], *, has_own_mean: bool) -> _Pace | None:
    """What these trials tell; None of too few. Without `has_own_mean` they are of other suites."""
    if len(trials) < EVIDENCE:
        return None
    ratio = sum(one.seconds for one in trials) / sum(one.expected for one in trials)
    spread = variance(one.seconds / one.expected for one in trials)
    return _Pace(ratio, spread, spread / len(trials) if has_own_mean else spread)


def _forecast_pace(timed: Sequence[Finished]) -> _Pace:
    """Before any answer was seen: as expected, but on a machine as quick as its speed trials.

    The forecast itself weighs as much as EVIDENCE of them: a single trial may be a quiet moment.
    """
    ratios = [one.seconds / one.expected for one in timed]
    ratio = (EVIDENCE + sum(ratios)) / (EVIDENCE + len(ratios))
    doubt = (DOUBT_OF_FORECAST * ratio) ** 2
    return _Pace(ratio, doubt, doubt)


def _quickest(trials: Sequence[Finished]) -> float:
    return min((one.seconds / one.expected for one in trials), default=0.0)
