"""How far the next-token predictions of two models are apart, from their most likely tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench_loop.scoring.intervals import mean, stdev, wilson

LEAST_REST = 1e-9
"""Probability that the tokens outside of a list are given at least: the lists are rounded."""

Logprobs = Mapping[int, float]
"""Natural logarithms of the probabilities of the most likely next tokens, by token id."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """What two models make of the same positions of a text."""

    positions: int
    agreement: float
    """Share of positions at which both hold the same token most likely."""
    agreement_interval: tuple[float, float]
    """At 95 %, by Wilson, as if the positions were independent."""
    mean_kl: float
    """Mean of `kl_at_least` in nats: a lower bound of the mean KL divergence of b from a."""
    mean_kl_error: float | None
    """Standard error of that mean; None of one position."""
    compared_share: float
    """Mean probability, by a, of the tokens that are in both lists."""


def divergence(a: Sequence[Logprobs], b: Sequence[Logprobs]) -> Divergence:
    """Compare two models position by position; both need the same positions, at least one."""
    same = sum(max(p, key=p.__getitem__) == max(q, key=q.__getitem__) for p, q in pairs(a, b))
    bounds = [kl_at_least(p, q) for p, q in pairs(a, b)]
    spread = stdev(bounds)
    low, high = wilson(same, len(bounds))
    return Divergence(
        positions=len(bounds),
        agreement=same / len(bounds),
        agreement_interval=(low, high),
        mean_kl=mean(bounds),
        mean_kl_error=None if spread is None else spread / math.sqrt(len(bounds)),
        compared_share=mean([sum(math.exp(p[t]) for t in p.keys() & q) for p, q in pairs(a, b)]),
    )


def pairs(a: Sequence[Logprobs], b: Sequence[Logprobs]) -> list[tuple[Logprobs, Logprobs]]:
    return list(zip(a, b, strict=True))


def kl_at_least(a: Logprobs, b: Logprobs) -> float:
    """A lower bound of the KL divergence of b from a, in nats.

    Only the most likely tokens of each are known. Each token in both lists is compared for itself,
    those in a's list alone as one, all others as one: lumping outcomes together never makes a
    divergence larger. What b gives to a's own tokens is unknown, but each of them gets no more than
    the last in b's list; within that it is what makes the divergence smallest.
    """
    shared = a.keys() & b.keys()
    total = sum(math.exp(a[token]) * (a[token] - b[token]) for token in shared)
    own = [math.exp(a[token]) for token in a.keys() - shared]
    own_a = sum(own)
    rest_a = max(0.0, 1 - own_a - sum(math.exp(a[token]) for token in shared))
    left_b = max(LEAST_REST, 1 - sum(math.exp(b[token]) for token in shared))
    own_b = _share(own_a, rest_a) * left_b
    if b:
        own_b = min(own_b, len(own) * math.exp(min(b.values())))
    return max(0.0, total + _term(own_a, own_b) + _term(rest_a, left_b - own_b))


def _share(part: float, other: float) -> float:
    return part / (part + other) if part + other > 0 else 0.0


def _term(p: float, q: float) -> float:
    return p * math.log(p / max(q, LEAST_REST)) if p > 0 else 0.0
