"""Evidence that may be looked at after every task."""

from __future__ import annotations

import math
import random

import pytest

from bench_loop.scoring.intervals import incomplete_beta
from bench_loop.scoring.sequential import (
    Shares,
    duel,
    evidence_needed,
    evidence_of,
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


def test_seven_wins_settle_two_models_and_nine_settle_six() -> None:
    # 2^8 / 8 less a little is 31.9, for 20; at six wins 18.1. Six models need 100: 2^10 / 10.
    assert (evidence_needed(2), fewest_wins(2)) == (20.0, 7)
    assert (evidence_needed(6), fewest_wins(6)) == (100.0, 9)


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
        wrong += max(rivals) >= evidence_needed(models)
    assert wrong / races <= 0.05
