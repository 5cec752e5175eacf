"""What the speed suite may time: shapes, the plans made of them, and what a plan will cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench_loop.contracts.chat import ChatReply
from bench_loop.engine.plan import UNMEASURED_WALL_LIMIT_S
from bench_loop.result.records import SpeedPlan
from bench_loop.scoring.constants import (
    HEADLINE_OUTPUT_TOKENS,
    HEADLINE_PROMPT_TOKENS,
    MIN_ARRIVALS,
    OVERHEAD_PROMPT_TOKENS,
    PREFILL_PROMPT_TOKENS,
)
from bench_loop.scoring.load import CURVE_SHAPES
from bench_loop.scoring.rates import Shape

CORE_CURVE_LIMIT_S = 120.0
"""Expected seconds up to which the first point of the context curve belongs to a long profile."""

SUSTAINED_REQUEST_SHARE = 0.025
"""Share of a sustained load that one request may take, where the machine allows."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds that predictions and wall limits rest on, in tokens per second."""

    prompt_tps: float
    generation_tps: float

    def seconds(self, prompt_tokens: int, output_tokens: float) -> float:
        """Expected time of one request."""
        return prompt_tokens / self.prompt_tps + output_tokens / self.generation_tps


@dataclass(frozen=True, slots=True)
class Timing:
    """One trial of the schedule: a shape, and 1, 2, ... among its scored trials (0: warm-up)."""

    shape: Shape
    number: int
    is_warmup: bool


HEADLINE = Shape(HEADLINE_PROMPT_TOKENS, HEADLINE_OUTPUT_TOKENS)
PREFILL = Shape(PREFILL_PROMPT_TOKENS, 64)
CALIBRATION = Shape(512, 64)
OVERHEAD = Shape(OVERHEAD_PROMPT_TOKENS, 8)
"""Prompt so short that its time is all overhead: L0, where the engine has no clock of its own."""
STREAM = Shape(512, 128)
"""What each of several streams at once asks for."""

_NINE = tuple(Shape(prompt, output) for prompt in (128, 1024, 4096) for output in (64, 256, 768))
_FIVE = (Shape(128, 256), Shape(1024, 64), HEADLINE, Shape(1024, 768), PREFILL)

# Rounds of shapes; the first round of `nine` and `five` is a warm-up that is kept and not scored.
PLANS: dict[SpeedPlan, tuple[tuple[Shape, ...], ...]] = {
    "nine": (_NINE,) * 4,
    "five": (_FIVE,) * 4,
    "headline": ((HEADLINE, PREFILL, Shape(128, 64)), (HEADLINE,), (HEADLINE,)),
    "minimum": ((Shape(1024, 64),),) * 3,
}
WARMUP_ROUNDS: dict[SpeedPlan, int] = {"nine": 1, "five": 1, "headline": 0, "minimum": 0}


def expected_s(rates: Rates, shapes: Iterable[Shape]) -> float:
    """Expected time of one request of each of `shapes`."""
    return sum(rates.seconds(shape.prompt_tokens, shape.output_tokens) for shape in shapes)


def curve_shapes(window: int, rates: Rates, *, is_asked: bool) -> tuple[Shape, ...]:
    """The points of the context curve that fit the loaded window.

    Where nobody asked for the curve it is the first point alone, and only if it is cheap.
    """
    fitting = tuple(shape for shape, filled in CURVE_SHAPES.items() if filled <= window)
    if is_asked:
        return fitting
    return tuple(s for s in fitting[:1] if expected_s(rates, (s,)) < CORE_CURVE_LIMIT_S)


def sustained_shape(rates: Rates, seconds: float) -> Shape:
    """The request that a load of so many seconds repeats: long, but many in that time."""
    for output in (768, 256):
        shape = Shape(128, output)
        if expected_s(rates, (shape,)) <= SUSTAINED_REQUEST_SHARE * seconds:
            return shape
    return Shape(128, 64)


def wall_limit_s(rates: Rates | None, prompt_tokens: int, budget: int) -> float:
    """Wall limit of one request: 120 s + 3 x its expected time; fixed before anything is known."""
    if rates is None:
        return UNMEASURED_WALL_LIMIT_S
    return 120.0 + 3 * rates.seconds(prompt_tokens, budget)


def calibrated(reply: ChatReply) -> Rates:
    """Rough speeds from the calibration, good enough to predict with; never published.

    Of a stream that came in a few large pieces both are too low: its times are no token's own.
    """
    marks = [reply.t_first_thinking_s, reply.t_first_answer_s]
    first = min((mark for mark in marks if mark is not None), default=reply.latency_s)
    prompt = reply.tokens.prompt or CALIBRATION.prompt_tokens
    generated = reply.tokens.completion or 1
    window = reply.latency_s - first
    arrivals = reply.stream.distinct_arrivals if reply.stream else 0
    if arrivals < min(MIN_ARRIVALS, generated):
        first = window = reply.latency_s
    return Rates(prompt / max(first, 1e-3), max(generated - 1, 1) / max(window, 1e-3))
