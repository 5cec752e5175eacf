"""Power and memory beside a run: which readings belong to which of its trials."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from bench_loop.machine.sampling import Sampler
from bench_loop.result.records import PeakMemory, Power, SpeedPlan, Trial
from bench_loop.scoring.energy import Reading, Trace, Window
from bench_loop.scoring.rates import Shape, client_rate
from bench_loop.scoring.speed import FAST_HEADLINE, usual_headline
from bench_loop.scoring.suites import is_scored

IDLE_S = 30.0
"""Time without a request, with the model loaded, that gives the idle power."""


class Telemetry:
    """Reads from its beginning to its end; it is told of each trial as it is finished."""

    def __init__(
        self,
        sampler: Sampler,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock` is the sampler's."""
        self._sampler = sampler
        self._clock = clock
        self._pause = pause
        self._idle: Window | None = None
        self._streams: list[tuple[Shape, Window, float]] = []
        self._quality: list[tuple[Trial, Window]] = []
        self._all: list[Window] = []

    def __enter__(self) -> Self:
        self._sampler.__enter__()
        return self

    def __exit__(self, *stop: object) -> None:
        self._sampler.__exit__(*stop)

    @property
    def has_power(self) -> bool:
        return self._sampler.power is not None

    def rest(self) -> None:
        """Wait for the idle power. The model is loaded, and nothing is asked of it."""
        began = self._clock()
        self._pause(IDLE_S)
        self._idle = (began, self._clock())

    def note(self, trial: Trial, began: float) -> None:
        """A trial has just ended that began at `began`; of several at once, the whole group's."""
        window = (began, self._clock())
        self._all.append(window)
        if trial.suite != "speed":
            self._quality.append((trial, window))
        elif (shape := Shape.parse(trial.task_id)) and not trial.is_warmup:
            self._note_stream(shape, trial, began)

    def _note_stream(self, shape: Shape, trial: Trial, began: float) -> None:
        """The window from the first token to the last, and the tokens that came in it."""
        rate = client_rate(trial)
        if rate is None or trial.t_last_s is None or not trial.requests:
            return
        end = began + trial.requests[-1].sent_s + trial.t_last_s
        self._streams.append((shape, (end - rate.window_s, end), rate.tps * rate.window_s))

    def power(self, speed_plan: SpeedPlan | None) -> Power | None:
        """What the sensor said of the run; None without a sensor."""
        sensor = self._sampler.power
        if sensor is None or not self._all:
            return None
        readings = [Reading(at, value) for at, value in self._sampler.samples.power]
        trace = (Trace.of_counter if sensor.is_counter else Trace.of_watts)(readings)
        whole = trace.energy([_span(self._all)])
        return Power(
            source=sensor.source,
            scope=sensor.scope,
            interval_s=trace.interval_s,
            coverage=whole.coverage,
            idle_w=trace.idle_w(self._idle) if self._idle else None,
            energy_j=whole.joules,
            joules_per_token=self._joules_per_token(trace, speed_plan),
            joules_per_correct_answer=self._joules_per_correct_answer(trace),
        )

    def _joules_per_token(self, trace: Trace, plan: SpeedPlan | None) -> float | None:
        if plan is None:
            return None
        shapes = {shape for shape, _, _ in self._streams}
        headline = FAST_HEADLINE if FAST_HEADLINE in shapes else usual_headline(plan)
        seen = [(window, tokens) for shape, window, tokens in self._streams if shape == headline]
        joules = trace.energy([window for window, _ in seen]).joules
        return None if joules is None else joules / sum(tokens for _, tokens in seen)

    def _joules_per_correct_answer(self, trace: Trace) -> float | None:
        if not self._quality:
            return None
        joules = trace.energy([_span([window for _, window in self._quality])]).joules
        passed = sum(trial.outcome == "pass" and is_scored(trial) for trial, _ in self._quality)
        return joules / passed if joules is not None and passed else None

    def peak_memory(self) -> PeakMemory | None:
        """The most memory that was seen in use; None where none was read."""
        samples, memory = self._sampler.samples, self._sampler.memory
        if samples.peak_ram_gb is None and samples.peak_vram_gb is None:
            return None
        return PeakMemory(
            ram_gb=samples.peak_ram_gb,
            ram_scope=memory.scope if memory and samples.peak_ram_gb is not None else None,
            vram_gb=samples.peak_vram_gb,
        )


def _span(windows: list[Window]) -> Window:
    return min(begin for begin, _ in windows), max(end for _, end in windows)
