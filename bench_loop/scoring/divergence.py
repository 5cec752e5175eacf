"""How far the next-token predictions of two models are apart, from their most likely tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench_loop.scoring.intervals import TWO_SIDED, mean, t_quantile, wilson

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
    """At 95 %, by Wilson, of as many independent positions as these are worth."""
    mean_kl: float
    """Mean of `kl_at_least` in nats: a lower bound of the mean KL divergence of b from a."""
    mean_kl_interval: tuple[float, float] | None
    """At 95 %, by Student's t over the pieces; None of one piece."""
    compared_share: float
    """Mean probability, by a, of the tokens that are in both lists."""


def divergence(a: Sequence[Sequence[Logprobs]], b: Sequence[Sequence[Logprobs]]) -> Divergence:
    """Compare two models position by position; both need the same pieces, none of them empty.

    The positions of one piece of text are alike, so the error is taken between the pieces.
    """
    pieces = [list(zip(ours, theirs, strict=True)) for ours, theirs in zip(a, b, strict=True)]
    same = [[float(_likeliest(p) == _likeliest(q)) for p, q in piece] for piece in pieces]
    bounds = [[kl_at_least(p, q) for p, q in piece] for piece in pieces]
    positions = sum(map(len, pieces))
    agreement, mean_kl = _mean(same), _mean(bounds)
    return Divergence(
        positions=positions,
        agreement=agreement,
        agreement_interval=_share_interval(agreement, positions, error_between(same)),
        mean_kl=mean_kl,
        mean_kl_interval=_mean_interval(mean_kl, len(pieces), error_between(bounds)),
        compared_share=_mean(
            [[sum(math.exp(p[t]) for t in p.keys() & q) for p, q in piece] for piece in pieces]
        ),
    )


def error_between(pieces: Sequence[Sequence[float]]) -> float | None:
    """Standard error of the mean over all values, which are alike inside of a piece.

    The ratio estimator's of samples in clusters (Cochran, Sampling Techniques, 1977, 9A); None of
    one piece.
    """
    if len(pieces) < 2:
        return None
    centre = _mean(pieces)
    off = math.fsum(math.fsum(value - centre for value in piece) ** 2 for piece in pieces)
    return math.sqrt(off * len(pieces) / (len(pieces) - 1)) / sum(map(len, pieces))


def _share_interval(share: float, n: int, error: float | None) -> tuple[float, float]:
    """Wilson's, with n divided by the design effect where the pieces differ more than by chance."""
    variance = share * (1 - share) / n
    effect = max(1.0, error * error / variance) if error is not None and variance > 0 else 1.0
    return wilson(share * n / effect, n / effect)


def _mean_interval(value: float, pieces: int, error: float | None) -> tuple[float, float] | None:
    if error is None:
        return None
    reach = t_quantile(TWO_SIDED, pieces - 1) * error
    return max(0.0, value - reach), value + reach


def _mean(pieces: Sequence[Sequence[float]]) -> float:
    return mean([value for piece in pieces for value in piece])


def _likeliest(known: Logprobs) -> int:
    return max(known, key=known.__getitem__)


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
