"""Divergence of two models: exact where everything is known, a lower bound where it is not."""

from __future__ import annotations

import math
import random

import pytest

from bench_loop.scoring.divergence import divergence, error_between, kl_at_least


def logs(*shares: float) -> dict[int, float]:
    return {token: math.log(share) for token, share in enumerate(shares)}


def test_whole_distributions_give_the_divergence_itself() -> None:
    # 0.5 ln(0.5/0.25) + 0.25 ln(1) + 0.25 ln(0.25/0.5)
    assert kl_at_least(logs(0.5, 0.25, 0.25), logs(0.25, 0.25, 0.5)) == pytest.approx(
        0.25 * math.log(2), abs=1e-6
    )


def test_a_model_does_not_diverge_from_itself() -> None:
    assert kl_at_least(logs(0.6, 0.2), logs(0.6, 0.2)) == 0.0


def test_lists_without_a_common_token_are_bounded_by_the_last_of_the_other_list() -> None:
    # All of a's 0.9 lies on one token, to which b gives at most 0.1: the rest is 0.1 and 0.9.
    a, b = {7: math.log(0.9)}, {1: math.log(0.5), 2: math.log(0.1)}
    expected = 0.9 * math.log(0.9 / 0.1) + 0.1 * math.log(0.1 / 0.9)
    assert kl_at_least(a, b) == pytest.approx(expected)


def test_the_bound_is_never_above_the_truth() -> None:
    rng = random.Random(3)
    for _ in range(500):
        p, q = ([rng.expovariate(1) ** 3 for _ in range(12)] for _ in range(2))
        a, b = ({t: math.log(v / sum(w)) for t, v in enumerate(w)} for w in (p, q))
        truth = sum(math.exp(a[t]) * (a[t] - b[t]) for t in a)
        top = [dict(sorted(d.items(), key=lambda one: -one[1])[:4]) for d in (a, b)]
        assert kl_at_least(*top) <= truth + 1e-9


def test_agreement_is_of_the_most_likely_token() -> None:
    found = divergence([[logs(0.6, 0.4), logs(0.6, 0.4)]], [[logs(0.7, 0.3), logs(0.3, 0.7)]])
    assert (found.positions, found.agreement) == (2, 0.5)
    assert found.agreement_interval[0] < 0.5 < found.agreement_interval[1]
    assert found.compared_share == pytest.approx(1.0)


def test_one_piece_has_no_interval_of_its_mean() -> None:
    found = divergence([[logs(0.6, 0.4)] * 5], [[logs(0.7, 0.3)] * 5])
    assert found.mean_kl > 0
    assert found.mean_kl_interval is None


def test_the_error_is_that_between_pieces() -> None:
    # Means 0, 1, 2 of the pieces, each four times the same value: s / sqrt(3) with s = 1.
    assert error_between([[0.0] * 4, [1.0] * 4, [2.0] * 4]) == pytest.approx(1 / math.sqrt(3))


def test_pieces_of_one_value_each_have_the_usual_error() -> None:
    # 1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9, s^2 = 14/3, s^2 / n = 14/12.
    assert error_between([[1.0], [2.0], [3.0], [6.0]]) == pytest.approx(math.sqrt(14 / 12))


def test_pieces_that_differ_widen_the_interval_of_agreement() -> None:
    """Half of the pieces agree everywhere, half nowhere: they are worth 20 positions, not 2,000."""
    same, other = [logs(0.6, 0.4)] * 100, [logs(0.4, 0.6)] * 100
    found = divergence([same] * 20, [same, other] * 10)
    low, high = found.agreement_interval
    assert found.agreement == 0.5
    assert 0.4 < high - low < 0.45


def test_intervals_hold_what_they_should() -> None:
    """Of 300 samples in clusters about 95 % of the intervals hold the true mean."""
    rng = random.Random(11)
    hits = 0
    for _ in range(300):
        pieces = []
        for _ in range(20):
            level = rng.choice([0.2, 0.5, 0.8])
            pieces.append([float(rng.random() < level) for _ in range(40)])
        shares = [[logs(0.6, 0.4) if value else logs(0.4, 0.6) for value in p] for p in pieces]
        found = divergence(shares, [[logs(0.6, 0.4)] * 40] * 20)
        low, high = found.agreement_interval
        hits += low <= 0.5 <= high
    assert 270 <= hits <= 298
