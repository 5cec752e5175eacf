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


def evidence_needed(model_count: int, task_count: int) -> float:
    """A model is clearly better than a rival at the evidence of `fewest_wins` in a row.

    The chance that, of models that are all equal, any is called clearly the best, and the chance
    that any is called clearly better than the truly best one, are then ALPHA at most, with looks
    after every task.
    """
    return evidence_of(fewest_wins(model_count, task_count), 0)


@lru_cache(maxsize=256)
def fewest_wins(model_count: int, task_count: int) -> int:
    """Tasks that a model must win without any loss to be clearly better: the least that can do.

    It is the smallest m with (models) x P(evidence reaches that of m wins in a row) <= ALPHA, P for
    a fair coin on as many tasks as there are at most. Where m is larger than the number of tasks,
    these cannot make any model clearly better.
    """
    wins = 1
    while max(2, model_count) * chance_of_evidence(evidence_of(wins, 0), task_count) > ALPHA:
        wins += 1
    return wins


def fewest_tasks(model_count: int) -> int:
    """Tasks that a race needs at least, so that any of its models may be clearly the best."""
    tasks = 1
    while fewest_wins(model_count, tasks) > tasks:
        tasks += 1
    return tasks


def chance_of_evidence(needed: float, task_count: int) -> float:
    """How often one of two equal models seems to be better than the other, by so much evidence, at
    any look: exactly, where all of so many tasks are passed by one of the two alone.

    Task by task over all counts of wins; what has reached `needed` counts, and goes on no more.
    """
    reached, going = 0.0, {0: 1.0}
    for tasks in range(1, task_count + 1):
        chances: dict[int, float] = {}
        for wins, chance in going.items():
            for after in (wins, wins + 1):
                chances[after] = chances.get(after, 0.0) + chance / 2
        going = {}
        for wins, chance in chances.items():
            if evidence_of(wins, tasks - wins) >= needed:
                reached += chance
            else:
                going[wins] = chance
    return reached


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
