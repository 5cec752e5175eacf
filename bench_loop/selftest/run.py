"""The whole self-test and its bars: how far a figure may be off, and how far the worst one was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench_loop.selftest.engine import EngineResult, measure_engine
from bench_loop.selftest.measure import (
    DELAY_BAR_S,
    FIRST_TOKEN_BAR_S,
    GENERATION_BAR,
    PROMPT_BAR,
    CaseResult,
    Figure,
    Say,
    TrapResult,
    measure_cases,
    measure_traps,
)

Unit = Literal["share", "seconds", "count"]

DELAY_SHARE = 0.99
"""Share of all events that the bar of their delay holds for."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One claim about BenchLoop's clocks; `worst` None: something was not measured at all."""

    name: str
    unit: Unit
    bar: float
    worst: float | None
    where: str | None = None
    """The case with the worst figure."""

    @property
    def passes(self) -> bool:
        return self.worst is not None and self.worst <= self.bar


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Everything that was measured."""

    cases: tuple[CaseResult, ...]
    traps: tuple[TrapResult, ...]
    engine: EngineResult

    @property
    def passes(self) -> bool:
        return all(bar.passes for bar in self.bars())

    def bars(self) -> tuple[Bar, ...]:
        """All bars; those of the real engine only where it ran."""
        own = (
            _worst("generation tok/s", "share", GENERATION_BAR, self.cases, ("generation",)),
            _worst("engine's tok/s", "share", GENERATION_BAR, self.cases, ("engine",)),
            _worst("prompt tok/s", "share", PROMPT_BAR, self.cases, ("prompt",)),
            _worst("TTFT and TTFA", "seconds", FIRST_TOKEN_BAR_S, self.cases, ("ttft", "ttfa")),
            Bar("delay of events", "seconds", DELAY_BAR_S, self.delay_s()),
            _worst("text and counts", "count", 0.0, self.cases, ("content",)),
            _missed(self.traps),
        )
        return own + _engine_bars(self.engine)

    def delay_s(self) -> float | None:
        """The delay that all but the slowest hundredth of the events stay below."""
        delays = sorted(delay for case in self.cases for delay in case.delays_s)
        return delays[int(DELAY_SHARE * (len(delays) - 1))] if delays else None


def self_test(*, is_quick: bool, say: Say) -> SelfTest:
    """Measure everything; a quick test leaves out the slow servers and the real engine."""
    return SelfTest(
        cases=tuple(measure_cases(is_quick=is_quick, say=say)),
        traps=tuple(measure_traps(say)),
        engine=EngineResult(why_not="left out") if is_quick else measure_engine(say),
    )


def _worst(
    name: str, unit: Unit, bar: float, results: Sequence[CaseResult], figures: Sequence[str]
) -> Bar:
    found = [
        (_size(figure), f"{result.case.name}, {result.case.dialect}")
        for result in results
        for figure in result.figures
        if figure.name in figures
    ]
    size, where = max(found)
    return Bar(name, unit, bar, None if size == float("inf") else size, where if size else None)


def _size(figure: Figure) -> float:
    return float("inf") if figure.error is None else abs(figure.error)


def _missed(results: Sequence[TrapResult]) -> Bar:
    missed = [result for result in results if not result.passes]
    where = f"{missed[0].trap.name}, {missed[0].trap.dialect}" if missed else None
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
