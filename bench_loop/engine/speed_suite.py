"""The speed suite of one run: its plan, repeats until the figures stand, and what was asked on top.

Every step ends early when the server is gone.
"""

from __future__ import annotations

import time

from bench_loop.engine.ledger import Ledger
from bench_loop.engine.speed import SpeedRun
from bench_loop.engine.speed_plans import (
    STREAM,
    WARMUP_ROUNDS,
    Rates,
    Timing,
    sustained_shape,
)
from bench_loop.result.records import SpeedPlan
from bench_loop.scoring.constants import HEADLINE_TRIALS, MAX_SPEED_TRIALS, TARGET_HALF_WIDTH
from bench_loop.scoring.load import stream_id, sustained_id
from bench_loop.scoring.rates import Shape, generation_rate
from bench_loop.scoring.speed import FAST_HEADLINE, is_too_fast, measure_speed, usual_headline


class SpeedSuite:
    """Measures speed by one plan. Raises ContextCutError when the server cuts a prompt."""

    def __init__(
        self,
        timer: SpeedRun,
        ledger: Ledger,
        plan: SpeedPlan,
        rates: Rates,
        curve: tuple[Shape, ...] = (),
        concurrency: tuple[int, ...] = (),
    ) -> None:
        """`ledger` may hold trials of an earlier part of the run: they are not measured again."""
        self._timer = timer
        self._ledger = ledger
        self._plan = plan
        self._rates = rates
        self._is_resumed = bool(ledger.trials)
        self._schedule = [timing for timing in timer.schedule(plan) if not self._is_done(timing)]
        self._curve = curve
        self._concurrency = concurrency

    def measure(self) -> None:
        """All but the sustained load."""
        self._measure_plan()
        self._measure_curve()
        self._measure_concurrency()

    def sustain(self, seconds: float) -> None:
        """One request after another without a pause, until `seconds` have passed."""
        shape = sustained_shape(self._rates, seconds)
        began, number = time.monotonic(), 0
        while time.monotonic() - began < seconds and not self._ledger.is_over:
            number += 1
            self._ledger.announce("speed", sustained_id(shape), is_timed=True)
            self._ledger.keep(self._timer.measure_sustained(shape, number, began))

    def _measure_plan(self) -> None:
        """The trials of the plan, then more of the headline's until its spread is small enough.

        Where time runs short, it is these repeats that are left out.
        """
        self._warm_again()
        for timing in self._schedule:
            if self._ledger.is_over or not self._ledger.has_time_for("speed", timing.shape.task_id):
                return
            self._time(timing)
        shape = usual_headline(self._plan)
        if is_too_fast(self._ledger.scored(shape.task_id), self._plan):
            shape = FAST_HEADLINE
        while self._wants_another(shape) and self._ledger.has_time_to_repeat:
            self._time_again(shape)
        self._ledger.end_repeats()

    def _measure_curve(self) -> None:
        """Each point of the context curve, as often as its generation speed needs to be rated."""
        for shape in self._curve:
            if not self._ledger.scored(shape.task_id):
                self._time_again(shape)
            while self._is_unrated(shape):
                self._time_again(shape)

    def _measure_concurrency(self) -> None:
        """So many streams at once, level after level."""
        for streams in filter(self._wants_streams, self._concurrency):
            if self._ledger.is_over:
                return
            self._ledger.announce("speed", stream_id(streams, STREAM), is_timed=True)
            self._ledger.keep(*self._timer.measure_together(streams))

    def _wants_streams(self, streams: int) -> bool:
        return not self._ledger.scored(stream_id(streams, STREAM))

    def _is_done(self, timing: Timing) -> bool:
        """Whether an earlier part of the run has this trial."""
        return any(
            (trial.task_id, trial.trial, trial.is_warmup)
            == (timing.shape.task_id, timing.number, timing.is_warmup)
            for trial in self._ledger.trials
        )

    def _warm_again(self) -> None:
        """After a pause, one discarded request of each shape whose warm-up lies before it."""
        if not (self._is_resumed and WARMUP_ROUNDS[self._plan]):
            return
        to_come = dict.fromkeys(timing.shape for timing in self._schedule)
        warmed_anyway = {timing.shape for timing in self._schedule if timing.is_warmup}
        headline = usual_headline(self._plan)
        repeated = [headline] if self._wants_another(headline) else []
        for shape in to_come or repeated:
            if shape not in warmed_anyway:
                self._timer.measure(Timing(shape, 0, True))

    def _time(self, timing: Timing) -> None:
        self._ledger.announce("speed", timing.shape.task_id, is_timed=True)
        trial = self._timer.measure(timing)
        if trial.finish_reason == "limit" and not self._ledger.has_time(0.0):
            return  # Cut by the budget of the run: not the shape that was to be timed.
        self._ledger.keep(trial)

    def _time_again(self, shape: Shape) -> None:
        if not self._ledger.is_over:
            self._time(Timing(shape, self._ledger.free_number(shape.task_id), False))

    def _wants_another(self, shape: Shape) -> bool:
        """Whether the headline needs more trials of `shape`, and may have them.

        It does while they are few, while their windows are too short together, and while their
        spread is too wide.
        """
        done = self._ledger.scored(shape.task_id)
        if self._ledger.is_over:
            return False
        if self._plan == "minimum":
            return not done
        if len(done) < HEADLINE_TRIALS or len(done) >= MAX_SPEED_TRIALS:
            return len(done) < HEADLINE_TRIALS
        speed = measure_speed(self._ledger.trials, self._plan)
        if speed.generation_tps is None and any(map(generation_rate, done)):
            return True
        widths = (speed.generation_half_width, speed.ttft_half_width)
        return any(width is not None and width > TARGET_HALF_WIDTH for width in widths)

    def _is_unrated(self, shape: Shape) -> bool:
        """Whether the windows of these trials are too short together, and more would help."""
        done = self._ledger.scored(shape.task_id)
        if len(done) >= MAX_SPEED_TRIALS or self._ledger.is_over:
            return False
        found = measure_speed(done, self._plan).shapes
        return any(map(generation_rate, done)) and found[0].generation_tps is None
