"""What the program of a harness may use in one trial, beside the tokens that `raw` may use too."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.budget import most_prompt_tokens
from bench_loop.engine.speed_plans import Rates, wall_limit_s

OWN_REQUESTS = 12
"""Requests beyond twice those of the tool loop: a harness looks around, repeats, names its chat."""
OWN_PROMPT_TOKENS = 26_000
"""Twice the longest first prompt of a harness that was measured: instructions and tools, read anew
once where the prompt cache loses them."""
START_S = 60.0
"""Time for the program itself: the slowest took 25 s to its first request on a busy machine."""

RULE = (
    f"as many tokens as raw; {OWN_REQUESTS} requests + 2 x the turn limit; {START_S:g} s + the "
    f"wall limit with {OWN_PROMPT_TOKENS:,} prompt tokens more"
)


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """What a program may use beside the tokens of its trial."""

    requests: int
    wall_s: float


def harness_limits(task: BenchmarkTask, rates: Rates | None, budget: int) -> TrialLimits:
    """The limits of a trial of `task`, whose answers may take `budget` tokens in all."""
    prompt_tokens = OWN_PROMPT_TOKENS + most_prompt_tokens(task)
    return TrialLimits(
        requests=OWN_REQUESTS + 2 * task.turn_limit,
        wall_s=START_S + wall_limit_s(rates, prompt_tokens, budget),
    )
