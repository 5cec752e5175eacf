"""What the program of a harness adds to a trial, as far as a forecast can know it beforehand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bench_loop.contracts.harness import Capability
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.suitability import why_not

OWN_PROMPT_TOKENS = 4_500
"""Instructions and tools in the first prompt: the mean of the six programs that were measured."""
NOT_CACHED = 0.1
"""Share of them that is read anew in each later trial: servers keep the prompt before."""
OWN_S = 6.0
"""Start, end and all between of the program itself: the median of the six."""


@dataclass(frozen=True, slots=True)
class Added:
    """Tokens that are read, and seconds that are spent, beside the task's own."""

    prompt_tokens: float = 0.0
    seconds: float = 0.0


def added(
    task: BenchmarkTask, capabilities: Collection[Capability], *, is_first: bool
) -> Added | None:
    """What a program with these `capabilities` adds to `task`; None: it is not given the task."""
    if why_not(task, capabilities) is not None:
        return None
    return Added(OWN_PROMPT_TOKENS * (1.0 if is_first else NOT_CACHED), OWN_S)
