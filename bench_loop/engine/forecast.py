"""How long the rest of a run will take, revised after every trial: the one place that predicts.

What is left is the sum over the trials of the plan (pace.py), the repeats that the stopping rule of
speed will probably ask for, and what is asked beside the trials. The total is the time gone by and
what is left.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from bench_loop.engine.determinism import DETERMINISM_REQUESTS, DETERMINISM_TOKENS
from bench_loop.engine.pace import Pace, Work, rates_of
from bench_loop.engine.speed_plans import Rates
from bench_loop.result.records import SpeedPlan, Trial
from bench_loop.scoring.constants import (
    FAST_GENERATION_TPS,
    HEADLINE_TRIALS,
    MAX_SPEED_TRIALS,
    TARGET_HALF_WIDTH,
)
from bench_loop.scoring.intervals import TWO_SIDED, t_quantile
from bench_loop.scoring.load import is_sustained, streams_of
from bench_loop.scoring.rates import Shape, generation_rate, ttft_s
from bench_loop.scoring.speed import FAST_HEADLINE, half_width, is_too_fast, usual_headline
from bench_loop.scoring.spreads import spread

USUAL_SPREAD = 0.02
"""Standard deviation of timed trials, a share of their mean, before any was seen."""
PRIOR_TRIALS = 1.0
"""Trials that it is worth against those seen."""
TASK_SPREAD = 0.9
"""Standard deviation of what a single task takes, a share of what is expected: a few answers run to
the end of their budget."""
LEAST_EVIDENCE = 3
"""Finished trials before which nothing is said where there was no calibration."""
PACE_DOUBT = 0.1
"""How much slower or quicker the machine may become for the rest of the run, however steady."""
MOST_EVIDENCE = 5
"""Trials from which on more of them do not make the machine's pace surer: its load changes."""
LATE = 0.5
"""A trial that takes longer than expected is expected to take so much of the excess again."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Seconds left when a trial begins: expected, and the range that they are probably in."""

    low: float
    expected: float
    high: float
    next_s: float = 0.0
    """Of these, what the trial that comes next is expected to take."""
    timed_trials: int = 0
    """Trials of the speed suite to come, with the repeats that are expected."""

    def after(self, spent_s: float) -> TimeLeft:
        """The same when `spent_s` have gone by and the next trial is not finished."""
        gone = min(spent_s, self.next_s) - LATE * max(0.0, spent_s - self.next_s)
        low, expected, high = (max(0.0, s - gone) for s in (self.low, self.expected, self.high))
        return TimeLeft(low, expected, high, max(0.0, self.next_s - spent_s), self.timed_trials)


class Forecast:
    """Predicts one run. It is told when a trial begins and when it is finished, in any order.

    `rates` are those of the calibration, None where there was none. `speed_plan` has repeats, and
    these and its own trials take no more than `speed_budget_s`.
    """

    def __init__(
        self,
        rates: Rates | None,
        to_come: Iterable[Work],
        *,
        speed_plan: SpeedPlan | None = None,
        speed_budget_s: float = 0.0,
        is_probed: bool = False,
        sustained_s: float = 0.0,
    ) -> None:
        self._rates = rates
        self._pace = Pace(rates) if rates else None
        self._evidence = 0 if rates else LEAST_EVIDENCE
        self._is_fast = rates is not None and rates.generation_tps > FAST_GENERATION_TPS
        self._to_come = list(to_come)
        self._speed_plan = speed_plan
        self._may_repeat = speed_plan not in (None, "minimum")
        self._speed_left_s = speed_budget_s
        self._is_probed = is_probed
        self._sustained_s = sustained_s
        self._beside_s = 0.0
        self._timed: dict[str, list[Trial]] = defaultdict(list)
        self._finished = 0

    def add_before(self, seconds: float) -> None:
        """So many seconds are spent on other things before the first trial."""
        self._beside_s += seconds

    @property
    def to_come(self) -> tuple[Work, ...]:
        """The planned trials that are not finished, in their order."""
        return tuple(self._to_come)

    def begin(self, suite: str) -> None:
        """A trial of `suite` begins: what comes before it is over."""
        self._beside_s = 0.0
        if suite != "speed":
            self.end_repeats()
            self._is_probed = False

    def end_repeats(self) -> None:
        """The stopping rule is content: no trial comes beyond those of the plan."""
        self._may_repeat = False

    def finish(self, trial: Trial, seconds: float) -> None:
        """Take in a trial that took `seconds` from its announcement to its record.

        Several streams at once say nothing of how long one request takes alone.
        """
        self._finished += 1
        if is_sustained(trial.task_id):
            self._sustained_s -= seconds
            return
        work = self._take(trial)
        if trial.suite == "speed":
            self._speed_left_s -= seconds
            if not trial.is_warmup:
                self._timed[trial.task_id].append(trial)
        if work is None or streams_of(trial.task_id) is not None:
            return
        if self._pace is None and (rates := rates_of(trial)):
            self._pace = Pace(rates)
        if self._pace is not None:
            self._pace.learn(work, trial, seconds)

    def left(self) -> TimeLeft | None:
        """Seconds left from now on, a trial that has begun counted whole; None: nothing is known.

        The range is two standard deviations to each side: of the machine's pace, of the length of
        each suite's answers and of single tasks in it, and of the number of repeats.
        """
        pace = self._pace
        if pace is None or self._finished < self._evidence:
            return None
        by_suite: dict[str, list[float]] = defaultdict(list)
        for work in self._to_come:
            by_suite[work.suite].append(pace.seconds(work))
        repeats, repeats_s, doubt_s = self._repeats()
        beside_s = self._beside_s + self._probes_s(pace)
        expected = repeats_s + beside_s + sum(map(sum, by_suite.values()))
        # The machine's own pace: single trials differ, and their mean is known from few of them.
        trials = [*chain.from_iterable(by_suite.values()), repeats_s]
        seen = max(1, min(self._finished, MOST_EVIDENCE))
        squares = sum(one**2 for one in trials) + expected**2 / seen
        variance = doubt_s**2 + self._spread() ** 2 * squares + (PACE_DOUBT * expected) ** 2
        for suite, seconds in by_suite.items():
            if suite != "speed":
                variance += (pace.doubt(suite) * sum(seconds)) ** 2
                variance += sum((TASK_SPREAD * one) ** 2 for one in seconds)
        margin = 2 * math.sqrt(variance)
        fixed_s = max(0.0, self._sustained_s)
        return TimeLeft(
            fixed_s + max(expected - margin, expected / 4),
            fixed_s + expected,
            fixed_s + expected + margin,
            self._next_s(pace),
            len(by_suite["speed"]) + round(repeats),
        )

    def has_time_to_repeat(self, seconds: float | None) -> bool:
        """Whether one more timed trial fits: what may be spent on speed, and `seconds` in all.

        Of the whole run, that is when the rest fits as well if it is as slow as it may be.
        """
        left = self.left()
        if self._pace is None or left is None:
            return True
        repeats, repeats_s, _ = self._repeats()
        each_s = repeats_s / repeats if repeats else self._pace.seconds(Work.of(self._headline()))
        if each_s > self._speed_left_s:
            return False
        return seconds is None or each_s + left.high - repeats_s <= seconds

    def seconds(self, suite: str, task_id: str) -> float:
        """Expected seconds of a planned trial; 0 where nothing is known."""
        planned = (work for work in self._to_come if (work.suite, work.task_id) == (suite, task_id))
        work = next(planned, None)
        return self._pace.seconds(work) if work and self._pace else 0.0

    def _take(self, trial: Trial) -> Work | None:
        """The planned work that this trial was, which is then no more to come; else a repeat's."""
        for at, work in enumerate(self._to_come):
            if (work.suite, work.task_id) == (trial.suite, trial.task_id):
                return self._to_come.pop(at)
        shape = Shape.parse(trial.task_id) if trial.suite == "speed" else None
        return Work.of(shape) if shape else None

    def _next_s(self, pace: Pace) -> float:
        """What comes next, with what is asked before it: timed trials, repeats, then the tasks."""
        first = self._to_come[0] if self._to_come else None
        if first is not None and first.is_timed:
            return self._beside_s + pace.seconds(first)
        if self._repeats()[0]:
            return pace.seconds(Work.of(self._headline()))
        return self._probes_s(pace) + (pace.seconds(first) if first else 0.0)

    def _probes_s(self, pace: Pace) -> float:
        if not self._is_probed:
            return 0.0
        return DETERMINISM_REQUESTS * pace.request_s(64, DETERMINISM_TOKENS)

    def _headline(self) -> Shape:
        """The shape that the stopping rule repeats."""
        plan = self._speed_plan or "headline"
        usual = usual_headline(plan)
        done = self._timed.get(usual.task_id, [])
        is_fast = is_too_fast(done, plan) if done else self._is_fast
        return FAST_HEADLINE if is_fast and plan != "minimum" else usual

    def _repeats(self) -> tuple[float, float, float]:
        """How many trials the stopping rule will add, their seconds, and the doubt in these."""
        if not self._may_repeat or self._pace is None:
            return 0.0, 0.0, 0.0
        shape = self._headline()
        done = len(self._timed[shape.task_id])
        planned = sum(work.task_id == shape.task_id for work in self._to_come)
        if done >= HEADLINE_TRIALS and not planned and self._is_steady():
            return 0.0, 0.0, 0.0
        deviation, have = self._spread(), done + planned
        expected, fewest, most = (
            max(0, trials_needed(share * deviation) - have) for share in (1.0, 0.5, 2.0)
        )
        each_s = self._pace.seconds(Work.of(shape))
        timed_s = sum(self._pace.seconds(work) for work in self._to_come if work.is_timed)
        limit_s = max(0.0, self._speed_left_s - timed_s)
        seconds = min(expected * each_s, limit_s)
        doubt_s = min((most - fewest) * each_s, limit_s) / math.sqrt(12)
        return (seconds / each_s if each_s else 0.0), seconds, doubt_s

    def _spread(self) -> float:
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
        """Whether the headline's trials so far would content the stopping rule."""
        spreads = [spread(values) for values in self._figures()]
        widths = [half_width(one) for one in spreads if one is not None]
        return all(width is not None and width <= TARGET_HALF_WIDTH for width in widths)

    def _figures(self) -> tuple[list[float], list[float]]:
        """Generation speeds and times to the first token of the headline's trials."""
        done = self._timed.get(self._headline().task_id, [])
        rates = [rate.tps for trial in done if (rate := generation_rate(trial))]
        return rates, [first for trial in done if (first := ttft_s(trial)) is not None]


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
