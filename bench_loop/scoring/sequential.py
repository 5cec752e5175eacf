"""Which of several models does most tasks: evidence that may be looked at after every task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from bench_loop.scoring.constants import ALPHA


class Shares(NamedTuple):
    """Share of passed trials of one task, of a model and of its rival."""

    own: float
    rival: float


@dataclass(frozen=True, slots=True)
class Duel:
    """A model against a rival on the tasks that both were given, in the order of the plan."""

    wins: int
    """Tasks that the model alone passed."""
    losses: int
    """Tasks that the rival alone passed."""
    tasks: int
    evidence: float
    """The most evidence at any task that the model is better; see `evidence_of`."""
    rival_evidence: float
    """The same for the rival."""


def duel(pairs: Iterable[Shares]) -> Duel:
    """Follow two models task by task."""
    wins = losses = tasks = 0
    most = rival_most = 1.0
    for pair in pairs:
        tasks += 1
        wins += pair.own > pair.rival
        losses += pair.own < pair.rival
        most = max(most, evidence_of(wins, losses))
        rival_most = max(rival_most, evidence_of(losses, wins))
    return Duel(wins, losses, tasks, most, rival_most)


@lru_cache(maxsize=16_384)
def evidence_of(wins: int, losses: int) -> float:
    """Evidence that a model is better = likelihood ratio of "wins more often than not" against "a
    fair coin", over the n tasks that only one of two models passed.

    The chance of a win is drawn evenly from 1/2 to 1, which gives sum over k = 0 .. wins of
    C(n + 1, k) / ((n + 1) C(n, wins)). For models that are equal this is a test martingale: the
    chance that it ever reaches c is 1 / c at most (Ville 1939; Robbins 1970), so that it may be
    looked at after every task and the run stopped at any time without any further error.
    """
    n = wins + losses
    above = sum(math.comb(n + 1, k) for k in range(wins + 1))
    return above / ((n + 1) * math.comb(n, wins))


def evidence_needed(model_count: int) -> float:
    """A model is clearly better than a rival at (models - 1) / ALPHA.

    Then the chance that any model is called clearly better than the truly best one, at any look, is
    ALPHA at most, whatever the number of models.
    """
    return max(1, model_count - 1) / ALPHA


def fewest_wins(model_count: int) -> int:
    """Tasks that a model must win without any loss to be clearly better: the least that can do."""
    wins = 1
    while evidence_of(wins, 0) < evidence_needed(model_count):
        wins += 1
    return wins


def places(
    passed: Sequence[float], speeds: Sequence[float | None], sizes: Sequence[int | None]
) -> list[int]:
    """Indices of the models from first to last: more right answers (a share), else faster, else
    smaller. What is unknown comes last.
    """

    def key(index: int) -> tuple[float, float, float]:
        speed, size = speeds[index], sizes[index]
        return (-passed[index], -(speed or 0.0), math.inf if size is None else size)

    return sorted(range(len(passed)), key=key)
