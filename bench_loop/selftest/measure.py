"""Measures simulated servers over the product's own path, and holds its figures to the log."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from bench_loop.contracts.chat import ChatReply, ChatRequest, Message
from bench_loop.engine.trial import clock_fields
from bench_loop.errors import EngineRejectedError
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.result.records import Trial
from bench_loop.scoring.constants import OVERHEAD_PROMPT_TOKENS, OVERHEAD_TRIALS
from bench_loop.scoring.rates import (
    Overhead,
    Rate,
    Shape,
    client_rate,
    engine_rate,
    prompt_rate,
    ttfa_s,
    ttft_s,
)
from bench_loop.scoring.speed import known_overhead, measure_speed
from bench_loop.selftest.cases import NOTHING, TRAP_SHAPE, TRIALS, Case, Trap, cases, traps
from bench_loop.selftest.simulated import Sent, Simulated, simulator
from bench_loop.selftest.words import half_known_words, words
from bench_loop.simulator.pace import now
from bench_loop.simulator.settings import Settings

GENERATION_BAR = 0.01
"""Greatest relative error of generation tok/s."""
PROMPT_BAR = 0.02
"""Greatest relative error of prompt tok/s."""
FIRST_TOKEN_BAR_S = 0.010
"""Greatest error of TTFT and TTFA."""
DELAY_BAR_S = 0.002
"""Greatest delay between sending and noticing an event, in 99 of 100 events."""

OF_THE_MACHINE = frozenset({"drifting", "engine_client_gap", "wide_spread"})
"""Findings that say how quiet this machine is, and nothing about a trap."""

SAME_TIME_TRAPS = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what really happened, what was measured, and how far apart they may be.

    `name` is `generation`, `engine` (the server's own generation speed) or `prompt` (tokens per
    second; the error is relative), `ttft` or `ttfa` (seconds, as is their error), or `content`
    (0 where text and counts are as they were sent).
    """

    name: str
    true: float
    measured: float | None
    error: float | None
    bar: float

    @property
    def passes(self) -> bool:
        return self.error is not None and abs(self.error) <= self.bar

    @classmethod
    def relative(cls, name: str, true: float, measured: float | None, bar: float) -> Figure:
        """A figure whose error is a share of the truth."""
        return cls(name, true, measured, None if measured is None else measured / true - 1, bar)

    @classmethod
    def absolute(cls, name: str, true: float, measured: float | None, bar: float) -> Figure:
        """A figure whose error is a difference."""
        return cls(name, true, measured, None if measured is None else measured - true, bar)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What was measured of one case: the same figures of every trial, and the events' delays."""

    case: Case
    trials: tuple[tuple[Figure, ...], ...]
    delays_s: tuple[float, ...]
    """For each event with text: from its sending to its being handed on."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Of each figure, the trial with the median error."""
        return tuple(middle(same) for same in zip(*self.trials, strict=True))

    @property
    def worst(self) -> tuple[Figure, ...]:
        """Of each figure, the trial with the greatest error."""
        return tuple(max(same, key=size_of_error) for same in zip(*self.trials, strict=True))

    @property
    def passes(self) -> bool:
        return all(figure.passes for figure in self.figures)


@dataclass(frozen=True, slots=True)
class TrapResult:
    """What was noticed of one trap: codes of findings and errors."""

    trap: Trap
    noticed: tuple[str, ...]

    @property
    def passes(self) -> bool:
        if self.trap.code == NOTHING:
            return not self.noticed
        return self.trap.code in self.noticed


Result = CaseResult | TrapResult


class Watch(Protocol):
    """Is told what the self-test does."""

    def phase(self, what: str) -> None:
        """This is measured now, and no case is."""

    def begins(self, case: Case) -> None:
        """This case is measured now."""

    def ended(self, result: Result) -> None:
        """This is what came out of a case or a trap."""


def measure_cases(*, is_quick: bool, watch: Watch) -> list[CaseResult]:
    """Every case, one after another: nothing else may run meanwhile."""
    chosen = cases(is_quick=is_quick)
    results: dict[Case, CaseResult] = {}
    for dialect in dict.fromkeys(case.dialect for case in chosen):
        own = {_model(n): case for n, case in enumerate(chosen) if case.dialect == dialect}
        programs = {model: case.program for model, case in own.items()}
        with simulator(Settings(dialect, programs)) as server:
            bench = Bench(server)
            for model, case in own.items():
                watch.begins(case)
                results[case] = measure_case(bench, model, case)
                watch.ended(results[case])
            bench.close()
    return [results[case] for case in chosen]


def measure_traps(watch: Watch) -> list[TrapResult]:
    """Every trap; several at a time, since nothing of them is timed closely."""
    chosen = traps()
    watch.phase(f"{len(chosen)} traps")
    results = []
    for trap in chosen:
        if trap.code == NOTHING:
            results.append(measure_trap(trap))
            watch.ended(results[-1])
    with ThreadPoolExecutor(SAME_TIME_TRAPS) as pool:
        others = [trap for trap in chosen if trap.code != NOTHING]
        for result in pool.map(measure_trap, others):
            results.append(result)
            watch.ended(result)
    return results


def measure_case(bench: Bench, model: str, case: Case) -> CaseResult:
    """Ask for the case's shape as often as it says, and compare every answer with the log.

    A case of fewer than TRIALS trials that meets its bars with these needs no more; else it gets
    all. Every trial has an overhead of its own, so that a pause of the machine in it stays there.
    """
    result = CaseResult(case, (), ())
    while len(result.trials) < case.trials or (len(result.trials) < TRIALS and not result.passes):
        figures, delays = bench.compare(model, case)
        result = replace(
            result,
            trials=(*result.trials, tuple(figures)),
            delays_s=(*result.delays_s, *delays),
        )
    return result


def measure_trap(trap: Trap) -> TrapResult:
    """Ask a server that misbehaves, and collect what the product notices of it."""
    noticed: set[str] = set()
    with simulator(Settings(trap.dialect, {"sim": trap.program})) as server:
        bench = Bench(server)
        trials = bench.overhead_trials("sim") if trap.dialect == "openai" else []
        for number in range(1, trap.trials + 1):
            prompt = half_known_words(TRAP_SHAPE.prompt_tokens, number)
            try:
                reply = bench.ask("sim", prompt, TRAP_SHAPE, wall_limit_s=trap.wall_limit_s)
            except EngineRejectedError as error:
                noticed.add(error.reason)
                continue
            if reply.tokens.prompt not in (None, TRAP_SHAPE.prompt_tokens):
                noticed.add("prompt_cut")
            trials.append(as_trial(reply, TRAP_SHAPE, number))
        bench.close()
    if not noticed:
        noticed |= set(measure_speed(trials, "minimum").findings) - OF_THE_MACHINE
    return TrapResult(trap, tuple(sorted(noticed)))


class Bench:
    """A provider connected to a simulator, and the number of chats that it was asked."""

    def __init__(self, server: Simulated) -> None:
        self._server = server
        self._provider = server.connect()
        self._asked = 0
        self._arrivals: list[float] = []

    def close(self) -> None:
        self._provider.close()

    def ask(self, model: str, prompt: str, shape: Shape, wall_limit_s: float = 600.0) -> ChatReply:
        """One chat over the product's own path. Raises EngineRejectedError."""
        self._arrivals = []
        self._asked += 1
        return self._provider.chat(
            speed_request(model, prompt, shape, wall_limit_s),
            lambda _: self._arrivals.append(now()),
        )

    def overhead_trials(self, model: str, output_tokens: int = 8) -> list[Trial]:
        """The short prompts whose time is all overhead: L0.

        Only their first event is timed: `output_tokens` need be no more than it holds.
        """
        shape = Shape(OVERHEAD_PROMPT_TOKENS, output_tokens)
        return [
            as_trial(self.ask(model, words(shape.prompt_tokens), shape), shape, number)
            for number in range(1, OVERHEAD_TRIALS + 1)
        ]

    def compare(self, model: str, case: Case) -> tuple[list[Figure], list[float]]:
        """One trial of `case`: its figures, and the delay of every event with text."""
        overhead: Overhead | None = None
        if case.has_prompt_speed:
            overhead = known_overhead(self.overhead_trials(model, case.program.tokens_per_chunk))
        reply = self.ask(model, words(case.shape.prompt_tokens), case.shape)
        sent = self._server.sent(self._asked - 1)
        return _figures(case, as_trial(reply, case.shape, 1), sent, overhead), self.delays()

    def delays(self) -> list[float]:
        """Of the last chat: from the sending of each event with text to its being handed on."""
        moments = [moment for moment, _, _ in self._server.sent(self._asked - 1).events]
        return [seen - was for seen, was in zip(self._arrivals, moments, strict=False)]


def title(measured: Case | Trap) -> str:
    """A case or a trap in words, with its server."""
    return f"{measured.name}, {measured.dialect}"


def tps(rate: Rate | None) -> float | None:
    return rate.tps if rate is not None else None


def speed_request(model: str, prompt: str, shape: Shape, wall_limit_s: float) -> ChatRequest:
    """A request like those of the speed suite."""
    return ChatRequest(
        model_id=model,
        messages=(Message(role="user", content=prompt),),
        max_tokens=shape.output_tokens,
        force_length=True,
        wall_limit_s=wall_limit_s,
    )


def as_trial(reply: ChatReply, shape: Shape, number: int) -> Trial:
    """A reply as a trial of the speed suite."""
    return Trial.model_validate(
        {
            "suite": "speed",
            "task_id": shape.task_id,
            "prompt_hash": tagged_hash(shape.task_id),
            "trial": number,
            "latency_s": reply.latency_s,
            "tokens": reply.tokens,
            "finish_reason": reply.finish_reason,
            "output": reply.text,
            "thinking": reply.thinking or None,
            **clock_fields(reply),
        }
    )


def middle(same: Sequence[Figure]) -> Figure:
    """Of one figure in several trials, the one with the median error; a missing one counts most.

    What must be exact counts by its worst.
    """

    ordered = sorted(same, key=size_of_error)
    return ordered[len(same) // 2 if same[0].bar else -1]


def size_of_error(figure: Figure) -> float:
    """The error without its sign; infinite where the figure is missing."""
    return float("inf") if figure.error is None else abs(figure.error)


def _figures(case: Case, trial: Trial, sent: Sent, overhead: Overhead | None) -> list[Figure]:
    ours, engines = client_rate(trial), engine_rate(trial)
    found = [Figure.relative("generation", sent.generation_tps, tps(ours), GENERATION_BAR)]
    if engines is not None:
        found.append(Figure.relative("engine", sent.engine_tps, engines.tps, GENERATION_BAR))
    if case.has_prompt_speed:
        prompt = prompt_rate(trial, overhead)
        found.append(Figure.relative("prompt", sent.prompt_tps, tps(prompt), PROMPT_BAR))
    found.append(Figure.absolute("ttft", sent.ttft_s, ttft_s(trial), FIRST_TOKEN_BAR_S))
    found.append(Figure.absolute("ttfa", sent.ttfa_s, ttfa_s(trial), FIRST_TOKEN_BAR_S))
    is_same = (
        (trial.thinking or "") + (trial.output or "") == sent.text
        and trial.tokens.completion == sent.completion_tokens
        and trial.tokens.prompt == sent.prompt_tokens
    )
    found.append(Figure("content", 0.0, float(not is_same), float(not is_same), 0.0))
    return found


def _model(number: int) -> str:
    return f"sim-{number}"
