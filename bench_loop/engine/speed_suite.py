"""The speed suite of one run: its plan, repeats until the figures stand, and what was asked on top.

Every step ends early when the server is gone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from bench_loop.engine.events import SpeedExtended
from bench_loop.engine.ledger import Ledger
from bench_loop.engine.speed import SpeedRun
from bench_loop.engine.speed_plans import (
    STREAM,
    WARMUP_ROUNDS,
    Rates,
    Timing,
    expected_s,
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

    def expected_seconds(self) -> Iterator[float]:
        """Expected time of each trial to come, the sustained load left out.

        Of streams at once the first is given the time of all, as if they came one after another.
        """
        for timing in self._schedule:
            yield expected_s(self._rates, (timing.shape,))
        for shape in self._curve:
            if not self._ledger.scored(shape.task_id):
                yield expected_s(self._rates, (shape,))
        for streams in filter(self._wants_streams, self._concurrency):
            yield expected_s(self._rates, [STREAM] * streams)
            yield from [0.0] * (streams - 1)

    def measure(self, budget_s: float) -> None:
        """All but the sustained load; `budget_s` bounds the repeats of the plan's headline."""
        self._measure_plan(budget_s)
        self._measure_curve()
        self._measure_concurrency()

    def sustain(self, seconds: float) -> None:
        """One request after another without a pause, until `seconds` have passed."""
        shape = sustained_shape(self._rates, seconds)
        began, number = time.monotonic(), 0
        while time.monotonic() - began < seconds and not self._ledger.is_server_gone:
            number += 1
            self._ledger.announce("speed", sustained_id(shape), is_timed=True)
            self._ledger.keep(self._timer.measure_sustained(shape, number, began))

    def _measure_plan(self, budget_s: float) -> None:
        """The trials of the plan, then more of the headline's until its spread is small enough."""
        end = time.monotonic() + budget_s - self._spent_s()
        self._warm_again()
        for timing in self._schedule:
            if self._ledger.is_server_gone:
                return
            self._time(timing)
        shape = usual_headline(self._plan)
        if is_too_fast(self._ledger.scored(shape.task_id), self._plan):
            shape = FAST_HEADLINE
        self._tell_of_repeats(shape, budget_s)
        while self._wants_another(shape) and time.monotonic() < end:
            self._time_again(shape)

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
            if self._ledger.is_server_gone:
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

    def _spent_s(self) -> float:
        """What the trials of an earlier part took of the budget."""
        return sum(
            trial.latency_s or 0.0
            for trial in self._ledger.trials
            if trial.suite == "speed" and Shape.parse(trial.task_id)
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
        self._ledger.keep(self._timer.measure(timing))

    def _time_again(self, shape: Shape) -> None:
        if not self._ledger.is_server_gone:
            self._time(Timing(shape, self._ledger.free_number(shape.task_id), False))

    def _wants_another(self, shape: Shape) -> bool:
        """Whether the headline needs more trials of `shape`, and may have them.

        It does while they are few, while their windows are too short together, and while their
        spread is too wide.
        """
        done = self._ledger.scored(shape.task_id)
        if self._ledger.is_server_gone:
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

    def _tell_of_repeats(self, shape: Shape, budget_s: float) -> None:
        """Say how many more trials `shape` will need, by the spread of those so far."""
        if not self._wants_another(shape):
            return
        done = len(self._ledger.scored(shape.task_id))
        each_s = expected_s(self._rates, (shape,))
        most = min(MAX_SPEED_TRIALS - done, math.ceil(budget_s / each_s))
        more = max(1, HEADLINE_TRIALS - done if self._plan != "minimum" else 1)
        speed = measure_speed(self._ledger.trials, self._plan)
        widths = (speed.generation_half_width, speed.ttft_half_width)
        for width in widths if done >= HEADLINE_TRIALS else ():
            if width is not None:
                more = max(more, math.ceil(done * (width / TARGET_HALF_WIDTH) ** 2) - done)
        self._ledger.listen(SpeedExtended(min(more, most), each_s))

    def _is_unrated(self, shape: Shape) -> bool:
        """Whether the windows of these trials are too short together, and more would help."""
        done = self._ledger.scored(shape.task_id)
        if len(done) >= MAX_SPEED_TRIALS or self._ledger.is_server_gone:
            return False
        found = measure_speed(done, self._plan).shapes
        return any(map(generation_rate, done)) and found[0].generation_tps is None
