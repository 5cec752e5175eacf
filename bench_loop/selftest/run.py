"""The whole self-test and its bars: how far a figure may be off, and how far the worst one was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from bench_loop.selftest.bare import Noise, measure_noise
from bench_loop.selftest.cases import TRIALS
from bench_loop.selftest.engine import EngineResult, measure_engine
from bench_loop.selftest.measure import (
    DELAY_BAR_S,
    FIRST_TOKEN_BAR_S,
    GENERATION_BAR,
    PROMPT_BAR,
    CaseResult,
    TrapResult,
    Watch,
    measure_cases,
    measure_traps,
    size_of_error,
    title,
)

Unit = Literal["share", "seconds", "count"]

DELAY_SHARE = 0.99
"""Share of all events that the bar of their delay holds for."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One claim about BenchLoop's clocks: of every case the median trial, of these the worst.

    `worst` None: something was not measured at all. `worst_trial` is the worst of all trials, which
    has no bar: it holds the pauses of the machine too. `machine` is the same of a bare socket.
    """

    name: str
    unit: Unit
    bar: float
    worst: float | None
    where: str | None = None
    """The case with the worst figure."""
    worst_trial: float | None = None
    machine: float | None = None

    @property
    def passes(self) -> bool:
        return self.worst is not None and self.worst <= self.bar


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Everything that was measured."""

    cases: tuple[CaseResult, ...]
    traps: tuple[TrapResult, ...]
    engine: EngineResult
    noise: Noise
    is_quick: bool = False

    @property
    def passes(self) -> bool:
        return all(bar.passes for bar in self.bars())

    def bars(self) -> tuple[Bar, ...]:
        """All bars; those of the real engine only where it ran."""
        own = (
            replace(
                _worst("generation tok/s", "share", GENERATION_BAR, self.cases, ("generation",)),
                machine=max(self.noise.generation, default=None),
            ),
            _worst("engine's tok/s", "share", GENERATION_BAR, self.cases, ("engine",)),
            _worst("prompt tok/s", "share", PROMPT_BAR, self.cases, ("prompt",)),
            replace(
                _worst("TTFT and TTFA", "seconds", FIRST_TOKEN_BAR_S, self.cases, ("ttft", "ttfa")),
                machine=max(self.noise.ttft_s, default=None),
            ),
            self._delay_bar(),
            _worst("text and counts", "count", 0.0, self.cases, ("content",)),
            _missed(self.traps),
        )
        return own + _engine_bars(self.engine)

    def _delay_bar(self) -> Bar:
        """That of the events which are sent in one piece: others take time to be sent."""
        whole = [case.delays_s for case in self.cases if case.case.has_whole_events]
        return Bar(
            "event delay, p99",
            "seconds",
            DELAY_BAR_S,
            p99(chain.from_iterable(whole)),
            machine=p99(self.noise.delays_s),
        )


def p99(delays_s: Iterable[float]) -> float | None:
    """The delay that all but the slowest hundredth stay below; None of none."""
    delays = sorted(delays_s)
    return delays[int(DELAY_SHARE * (len(delays) - 1))] if delays else None


def self_test(*, is_quick: bool, watch: Watch) -> SelfTest:
    """Measure everything; a quick test leaves out the slow servers and the real engine."""
    watch.phase("this machine with a bare socket")
    rounds = 1 if is_quick else TRIALS
    before = measure_noise(rounds)
    cases = tuple(measure_cases(is_quick=is_quick, watch=watch))
    watch.phase("this machine with a bare socket again")
    noise = before + measure_noise(rounds)
    traps = tuple(measure_traps(watch))
    engine = EngineResult(why_not="left out") if is_quick else measure_engine(watch)
    return SelfTest(cases, traps, engine, noise, is_quick)


def _worst(
    name: str, unit: Unit, bar: float, results: Sequence[CaseResult], figures: Sequence[str]
) -> Bar:
    found = [
        (size_of_error(figure), title(result.case))
        for result in results
        for figure in result.figures
        if figure.name in figures
    ]
    size, where = max(found)
    trial = max(
        size_of_error(figure)
        for result in results
        for figure in result.worst
        if figure.name in figures
    )
    return Bar(name, unit, bar, _finite(size), where if size else None, _finite(trial))


def _finite(size: float) -> float | None:
    return None if size == float("inf") else size


def _missed(results: Sequence[TrapResult]) -> Bar:
    missed = [result for result in results if not result.passes]
    where = title(missed[0].trap) if missed else None
    return Bar("traps not noticed", "count", 0.0, float(len(missed)), where)


def _engine_bars(result: EngineResult) -> tuple[Bar, ...]:
    units: dict[str, Unit] = {"generation": "share", "ttft": "seconds"}
    names = {"generation": "llama.cpp tok/s", "ttft": "llama.cpp TTFT"}
    return tuple(
        Bar(
            names[figure.name],
            units[figure.name],
            figure.bar,
            None if figure.error is None else abs(figure.error),
        )
        for figure in result.figures
    )
