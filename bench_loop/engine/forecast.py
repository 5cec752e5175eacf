"""How long the rest of a run will take, revised after every trial: the one place that predicts.

What is left is the sum over the trials of the plan (pace.py), the repeats that the stopping rule of
speed will probably ask for (repeats.py), and what is asked beside the trials. The total is the time
gone by and what is left.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from bench_loop.engine.determinism import DETERMINISM_REQUESTS, DETERMINISM_TOKENS
from bench_loop.engine.pace import Pace, Work, rates_of
from bench_loop.engine.repeats import HeadlineTrials
from bench_loop.engine.speed_plans import Rates
from bench_loop.result.records import SpeedPlan, Trial
from bench_loop.scoring.load import is_sustained, streams_of
from bench_loop.scoring.rates import Shape

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
        self._pace = Pace(rates) if rates else None
        self._evidence = 0 if rates else LEAST_EVIDENCE
        self._to_come = list(to_come)
        self._headline = HeadlineTrials(speed_plan, rates)
        self._speed_left_s = speed_budget_s
        self._is_probed = is_probed
        self._sustained_s = sustained_s
        self._beside_s = 0.0
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
        self._headline.is_closed = True

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
            self._headline.add(trial)
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
        repeats = self._repeats(pace)
        beside_s = self._beside_s + self._probes_s(pace)
        expected = repeats.seconds + beside_s + sum(map(sum, by_suite.values()))
        # The machine's own pace: single trials differ, and their mean is known from few of them.
        trials = [*chain.from_iterable(by_suite.values()), repeats.seconds]
        seen = max(1, min(self._finished, MOST_EVIDENCE))
        squares = sum(one**2 for one in trials) + expected**2 / seen
        variance = (
            repeats.doubt_s**2 + self._headline.spread**2 * squares + (PACE_DOUBT * expected) ** 2
        )
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
            len(by_suite["speed"]) + repeats.trials,
        )

    def has_time_to_repeat(self, seconds: float | None) -> bool:
        """Whether one more timed trial fits: what may be spent on speed, and `seconds` in all.

        Of the whole run, that is when the rest fits as well if it is as slow as it may be.
        """
        left = self.left()
        if self._pace is None or left is None:
            return True
        repeats = self._repeats(self._pace)
        if repeats.each_s > self._speed_left_s:
            return False
        return seconds is None or repeats.each_s + left.high - repeats.seconds <= seconds

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
        repeats = self._repeats(pace)
        if repeats.trials:
            return repeats.each_s
        return self._probes_s(pace) + (pace.seconds(first) if first else 0.0)

    def _probes_s(self, pace: Pace) -> float:
        if not self._is_probed:
            return 0.0
        return DETERMINISM_REQUESTS * pace.request_s(64, DETERMINISM_TOKENS)

    def _repeats(self, pace: Pace) -> _Repeats:
        shape = self._headline.shape
        planned = sum(work.task_id == shape.task_id for work in self._to_come)
        expected, fewest, most = self._headline.repeats(planned)
        each_s = pace.seconds(Work.of(shape))
        timed_s = sum(pace.seconds(work) for work in self._to_come if work.is_timed)
        limit_s = max(0.0, self._speed_left_s - timed_s)
        seconds = min(expected * each_s, limit_s)
        # As likely to be any number between the fewest and the most.
        doubt_s = min((most - fewest) * each_s, limit_s) / math.sqrt(12)
        return _Repeats(round(seconds / each_s) if each_s else 0, each_s, seconds, doubt_s)


class _Repeats(NamedTuple):
    """Trials beyond the plan: how many, seconds of each and of all, and the doubt in these."""

    trials: int
    each_s: float
    seconds: float
    doubt_s: float
