"""Which pairs of a matrix are called better or worse, among all of them."""

from __future__ import annotations

from dataclasses import replace

from bench_loop.scoring.against_raw import surely_apart
from tests.look.matrix_parts import difference


def test_a_verdict_holds_among_all_pairs_of_the_matrix_or_not_at_all() -> None:
    # 20 pairs in one of which p is below 0.05, as chance alone would have it.
    close = replace(difference(1, -8, 10, "too close to call"), p_value=0.5)
    unsure = {f"m{n}": close for n in range(19)}
    for p_value, told in ((0.03, set()), (0.002, {"m19"})):
        found = replace(difference(), p_value=p_value)
        assert surely_apart({**unsure, "m19": found}) == told
    assert surely_apart({}) == set()
