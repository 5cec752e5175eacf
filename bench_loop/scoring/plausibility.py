"""What the hardware allows: ceilings on speed from memory bandwidth and peak compute.

Every token decoded reads the weights once, and every prompt token costs two operations a weight. A
speed above the ceiling is a reason for a person to look, never for a refusal: tables err, and so do
the names that sizes are taken from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bench_loop.result.records import Trial
from bench_loop.scoring.constants import LARGEST_CACHE_MIB, PLAUSIBLE_FACTOR
from bench_loop.scoring.rates import Rate, generation_rate, prompt_rate
from bench_loop.scoring.speed import known_overhead

Kind = Literal["generation", "prompt"]


@dataclass(frozen=True, slots=True)
class WeightsPart:
    """Weights that lie in one memory, and how fast that memory is read."""

    bytes_read: float
    """Bytes read for each token: of a mixture of experts, those of the active ones."""
    bandwidth_gbs: float


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The most tokens a second that the hardware allows; None: not known, so not checked."""

    generation_tps: float | None
    prompt_tps: float | None


@dataclass(frozen=True, slots=True)
class Implausible:
    """A request that was faster than its hardware allows."""

    index: int
    """Place of the trial among the run's trials."""
    kind: Kind
    tps: float
    ceiling_tps: float


def split_generation_ceiling(parts: Sequence[WeightsPart], accepted_drafts: float = 0.0) -> float:
    """Ceiling in tok/s where the parts are read one after another, as with layers on two devices.

    (1 + accepted drafts) / sum of bytes / bandwidth: the harmonic mean of the bandwidths by bytes.
    `accepted_drafts` is the mean of accepted draft tokens a step.
    """
    seconds = math.fsum(part.bytes_read / (part.bandwidth_gbs * 1e9) for part in parts)
    return (1 + accepted_drafts) / seconds if seconds else math.inf


def parallel_generation_ceiling(
    bytes_read: float, bandwidths_gbs: Iterable[float], accepted_drafts: float = 0.0
) -> float:
    """Ceiling in tok/s where all memories are read at once, as with tensor parallelism."""
    whole = WeightsPart(bytes_read, math.fsum(bandwidths_gbs))
    return split_generation_ceiling([whole], accepted_drafts)


def prompt_ceiling(active_parameters_b: float, dense_tflops: Iterable[float]) -> float:
    """Ceiling in prompt tok/s: peak dense compute by two operations a parameter and token."""
    return math.fsum(dense_tflops) * 1e12 / (2 * active_parameters_b * 1e9)


def fits_cache(weights_bytes: float, devices: int = 1) -> bool:
    """Whether all weights may lie in the last-level caches, so that memory sets no ceiling."""
    return weights_bytes <= devices * LARGEST_CACHE_MIB * 2**20


def implausible(trials: Sequence[Trial], ceilings: Ceilings) -> Iterator[Implausible]:
    """The requests above PLAUSIBLE_FACTOR x the ceiling of their hardware.

    Trials of several requests are left out, whose times belong to no single one.
    """
    known = known_overhead(trials)
    for index, trial in enumerate(trials):
        if trial.turns > 1:
            continue
        yield from _above(index, "generation", generation_rate(trial), ceilings.generation_tps)
        yield from _above(index, "prompt", prompt_rate(trial, known), ceilings.prompt_tps)


def _above(index: int, kind: Kind, rate: Rate | None, ceiling: float | None) -> list[Implausible]:
    if rate is None or ceiling is None or rate.tps <= PLAUSIBLE_FACTOR * ceiling:
        return []
    return [Implausible(index, kind, rate.tps, ceiling)]
