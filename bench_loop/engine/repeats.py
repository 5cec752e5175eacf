"""How many trials of the headline the stopping rule of speed will ask for, by those seen so far."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from bench_loop.engine.speed_plans import Rates
from bench_loop.result.records import SpeedPlan, Trial
from bench_loop.scoring.constants import (
    FAST_GENERATION_TPS,
    HEADLINE_PROMPT_TOKENS,
    HEADLINE_TRIALS,
    MAX_SPEED_TRIALS,
    TARGET_HALF_WIDTH,
)
from bench_loop.scoring.intervals import TWO_SIDED, t_quantile
from bench_loop.scoring.rates import Shape, generation_rate, ttft_s
from bench_loop.scoring.speed import FAST_HEADLINE, half_width, is_too_fast, usual_headline
from bench_loop.scoring.spreads import spread

USUAL_SPREAD = 0.02
"""Standard deviation of timed trials, a share of their mean, before any was seen."""
PRIOR_TRIALS = 1.0
"""Trials that it is worth against those seen."""


class HeadlineTrials:
    """The timed trials of a run so far. `speed_plan` None has no headline, `minimum` no repeats."""

    def __init__(self, speed_plan: SpeedPlan | None, rates: Rates | None) -> None:
        self._plan: SpeedPlan = speed_plan or "headline"
        self._rates = rates
        self._trials: dict[Shape, list[Trial]] = defaultdict(list)
        self.is_closed = speed_plan in (None, "minimum")
        """Whether no trial comes beyond those of the plan."""

    def add(self, trial: Trial) -> None:
        shape = Shape.parse(trial.task_id)
        if shape is not None and not trial.is_warmup:
            self._trials[shape].append(trial)

    @property
    def shape(self) -> Shape:
        """The shape that is repeated."""
        usual = usual_headline(self._plan)
        done = self._trials.get(usual, [])
        rates = self._rates
        is_fast = rates is not None and rates.generation_tps > FAST_GENERATION_TPS
        if done:
            is_fast = is_too_fast(done, self._plan)
        return FAST_HEADLINE if is_fast and self._plan != "minimum" else usual

    def repeats(self, planned: int) -> tuple[int, int, int]:
        """Trials beyond those seen and `planned`: probably, at least, and at most."""
        done = len(self._trials.get(self.shape, ()))
        is_decided = done >= HEADLINE_TRIALS and not planned and self._is_steady()
        if self.is_closed or is_decided:
            return 0, 0, 0
        expected, fewest, most = (
            max(0, trials_needed(share * self.spread) - done - planned) for share in (1.0, 0.5, 2.0)
        )
        return expected, fewest, most

    @property
    def spread(self) -> float:
        """Standard deviation of the headline's trials, a share of their mean.

        Both figures of the stopping rule have to be steady, so it is the larger one of them. Few
        trials say little of it: the calibration is then taken as one of them, and it is drawn to
        what is usual.
        """
        rates, firsts = self._figures()
        if self._rates and len(rates) < HEADLINE_TRIALS:
            rates = [self._rates.generation_tps, *rates]
        return max(_drawn(rates), _drawn(firsts) if len(firsts) > 1 else 0.0)

    def _is_steady(self) -> bool:
        """Whether the trials so far would content the stopping rule."""
        spreads = [spread(values) for values in self._figures()]
        widths = [half_width(one) for one in spreads if one is not None]
        return all(width is not None and width <= TARGET_HALF_WIDTH for width in widths)

    def _figures(self) -> tuple[list[float], list[float]]:
        """Generation speeds of the headline, and TTFT of all prompts of its size."""
        rates = [generation_rate(trial) for trial in self._trials.get(self.shape, ())]
        firsts = [
            ttft_s(trial)
            for shape, trials in self._trials.items()
            if shape.prompt_tokens == HEADLINE_PROMPT_TOKENS
            for trial in trials
        ]
        return [rate.tps for rate in rates if rate], [one for one in firsts if one is not None]


def trials_needed(deviation: float) -> int:
    """Trials until t(0.975, n - 1) x deviation / sqrt(n) is small enough to stop."""
    for n in range(HEADLINE_TRIALS, MAX_SPEED_TRIALS):
        if t_quantile(TWO_SIDED, n - 1) * deviation / math.sqrt(n) <= TARGET_HALF_WIDTH:
            return n
    return MAX_SPEED_TRIALS


def _drawn(values: Sequence[float]) -> float:
    """The relative standard deviation of `values`, drawn to the usual one by PRIOR_TRIALS."""
    seen = spread(values)
    if seen is None or seen.stdev is None:
        return USUAL_SPREAD
    more = seen.n - 1
    squares = PRIOR_TRIALS * USUAL_SPREAD**2 + more * (seen.stdev / seen.mean) ** 2
    return math.sqrt(squares / (PRIOR_TRIALS + more))
