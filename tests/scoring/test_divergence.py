"""Divergence of two models: exact where everything is known, a lower bound where it is not."""

from __future__ import annotations

import math
import random

import pytest

from bench_loop.scoring.divergence import divergence, kl_at_least


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
    found = divergence([logs(0.6, 0.4), logs(0.6, 0.4)], [logs(0.7, 0.3), logs(0.3, 0.7)])
    assert (found.positions, found.agreement) == (2, 0.5)
    assert found.agreement_interval[0] < 0.5 < found.agreement_interval[1]
    assert found.compared_share == pytest.approx(1.0)
