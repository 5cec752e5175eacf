"""Evidence that may be looked at after every task."""

from __future__ import annotations

import math
import random

import pytest

from bench_loop.scoring.intervals import incomplete_beta
from bench_loop.scoring.sequential import (
    Shares,
    chance_of_evidence,
    duel,
    evidence_needed,
    evidence_of,
    fewest_tasks,
    fewest_wins,
    places,
)


def test_nothing_seen_is_no_evidence() -> None:
    assert evidence_of(0, 0) == 1.0


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (7, 0), (6, 3), (3, 6), (40, 22)])
def test_the_sum_is_the_integral_of_the_likelihood_ratio(wins: int, losses: int) -> None:
    # 2 x integral over 1/2..1 of q^w (1 - q)^l dq / (1/2)^n, by the incomplete beta function.
    n = wins + losses
    beta = math.exp(math.lgamma(wins + 1) + math.lgamma(losses + 1) - math.lgamma(n + 2))
    integral = beta * (1 - incomplete_beta(wins + 1, losses + 1, 0.5))
    assert evidence_of(wins, losses) == pytest.approx(2 * integral * 2**n, rel=1e-9)


def test_a_fair_coin_neither_gains_nor_loses_by_one_more_task() -> None:
    for wins, losses in [(0, 0), (3, 1), (2, 9), (12, 12)]:
        after = (evidence_of(wins + 1, losses) + evidence_of(wins, losses + 1)) / 2
        assert after == pytest.approx(evidence_of(wins, losses), rel=1e-12)


def test_a_run_of_wins_comes_as_often_as_heads_do() -> None:
    # Six of six: (1/2)^6; five cannot be six.
    six = evidence_of(6, 0)
    assert chance_of_evidence(six, 5) == 0
    assert chance_of_evidence(six, 6) == 1 / 64


def test_the_chance_of_evidence_is_what_a_simulation_of_coins_finds() -> None:
    draw = random.Random(5)
    needed, tasks, races = evidence_of(5, 0), 40, 4000
    found = 0
    for _ in range(races):
        pairs = [Shares(*draw.choice([(1, 0), (0, 1)])) for _ in range(tasks)]
        found += duel(pairs).evidence >= needed
    assert chance_of_evidence(needed, tasks) == pytest.approx(found / races, abs=0.02)


@pytest.mark.parametrize(
    ("models", "tasks", "wins"), [(2, 18, 7), (3, 18, 7), (6, 18, 8), (2, 60, 7), (6, 60, 9)]
)
def test_as_many_wins_are_needed_as_keep_equal_models_together(
    models: int, tasks: int, wins: int
) -> None:
    assert fewest_wins(models, tasks) == wins
    assert evidence_needed(models, tasks) == evidence_of(wins, 0)
    assert models * chance_of_evidence(evidence_of(wins, 0), tasks) <= 0.05
    assert models * chance_of_evidence(evidence_of(wins - 1, 0), tasks) > 0.05


def test_a_handful_of_tasks_makes_nothing_clear() -> None:
    assert fewest_wins(2, 5) > 5
    # (1/2)^6 either way is 3.1 %, (1/2)^5 6.3 %; six models need 7: 6 x (1/2)^7 is 4.7 %.
    assert (fewest_tasks(2), fewest_tasks(6)) == (6, 7)


def test_a_duel_keeps_the_most_evidence_of_any_look() -> None:
    pairs = [Shares(1, 0)] * 7 + [Shares(1, 1)] * 2 + [Shares(0, 1)] * 3
    found = duel(pairs)
    assert (found.wins, found.losses, found.tasks) == (7, 3, 12)
    assert found.evidence == evidence_of(7, 0)
    assert found.rival_evidence == 1.0


def test_places_are_by_right_answers_then_speed_then_size() -> None:
    assert places([0.5, 0.7, 0.5, 0.5], [90, 10, None, 95], [1, 9, 1, 4]) == [1, 3, 0, 2]
    assert places([0.5, 0.5], [None, None], [None, 7]) == [1, 0]


def test_equal_models_are_called_apart_in_five_of_a_hundred_races_at_most() -> None:
    draw = random.Random(11)
    races, models, tasks = 400, 4, 60
    wrong = 0
    for _ in range(races):
        passed = [[draw.random() < 0.5 for _ in range(tasks)] for _ in range(models)]
        first = passed[0]
        rivals = [
            duel(Shares(own, best) for own, best in zip(other, first, strict=True)).evidence
            for other in passed[1:]
        ]
        wrong += max(rivals) >= evidence_needed(models, tasks)
    assert wrong / races <= 0.05
