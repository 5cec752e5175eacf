"""The same clocks against a real engine: llama.cpp's own timings stand in for the log."""

from __future__ import annotations

import importlib.util
import secrets
from contextlib import closing
from dataclasses import dataclass

from bench_loop.contracts.provider import Provider
from bench_loop.errors import BenchLoopError, EngineRejectedError
from bench_loop.providers import embedded
from bench_loop.result.records import Trial
from bench_loop.scoring.rates import Shape, client_rate, engine_rate, ttft_s
from bench_loop.selftest.measure import (
    FIRST_TOKEN_BAR_S,
    GENERATION_BAR,
    Figure,
    Watch,
    as_trial,
    middle,
    speed_request,
    tps,
)

SHAPE = Shape(256, 64)
WINDOW = 2048
TRIALS = 3

_PROSE = "The meter in the cellar reads forty-two and nobody knows why it does. "


@dataclass(frozen=True, slots=True)
class EngineResult:
    """The client's figures beside the engine's; `why_not` says why there are none."""

    figures: tuple[Figure, ...] = ()
    why_not: str | None = None

    @property
    def passes(self) -> bool:
        return all(figure.passes for figure in self.figures)


def measure_engine(watch: Watch) -> EngineResult:
    """Measure the embedded engine with its default model; without it, say why not."""
    if importlib.util.find_spec("xllamacpp") is None:
        return EngineResult(why_not="the extra local-model is not installed")
    watch.phase(f"llama.cpp with {embedded.DEFAULT_MODEL}")
    try:
        with closing(embedded.start(embedded.DEFAULT_MODEL, WINDOW)) as provider:
            figures = compare_clocks(provider)
    except BenchLoopError as error:
        return EngineResult(why_not=error.message)
    return EngineResult(figures)


def compare_clocks(provider: Provider) -> tuple[Figure, ...]:
    """The median error of each figure over TRIALS cold trials, by the engine's own clock."""
    _trial(provider, 0)  # the first request also warms the engine up
    rounds = [_figures(_trial(provider, number)) for number in range(1, TRIALS + 1)]
    return tuple(middle(same) for same in zip(*rounds, strict=True))


def _trial(provider: Provider, number: int) -> Trial:
    prompt = f"{secrets.token_hex(4)} {_PROSE * (SHAPE.prompt_tokens // 16)}"
    request = speed_request(embedded.DEFAULT_MODEL, prompt, SHAPE, wall_limit_s=120.0)
    reply = provider.chat(request.model_copy(update={"use_prompt_cache": False}))
    return as_trial(reply, SHAPE, number)


def _figures(trial: Trial) -> list[Figure]:
    """Generation speed, and TTFT beside the time that the engine worked on the prompt."""
    timings = trial.engine_timings
    generation, prompt_s = tps(engine_rate(trial)), timings.prompt_s if timings else None
    if generation is None or prompt_s is None:
        raise EngineRejectedError("The engine gave no timings.", reason="engine_crashed")
    return [
        Figure.relative("generation", generation, tps(client_rate(trial)), GENERATION_BAR),
        Figure.absolute("ttft", prompt_s, ttft_s(trial), FIRST_TOKEN_BAR_S),
    ]
