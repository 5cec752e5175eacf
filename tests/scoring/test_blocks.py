"""The largest complete block of a matrix."""

from __future__ import annotations

import random
import time
from itertools import combinations

import pytest

from bench_loop.scoring.blocks import Block, largest_block


def bits(*tasks: int) -> int:
    return sum(1 << task for task in tasks)


def best_size(scored: list[list[int]]) -> int:
    """By trying every set of models with every set of harnesses."""
    sizes = [0]
    for models in subsets(len(scored)):
        for harnesses in subsets(len(scored[0])):
            shared = -1
            for model in models:
                for harness in harnesses:
                    shared &= scored[model][harness]
            sizes.append(len(models) * len(harnesses) * shared.bit_count())
    return max(sizes)


def subsets(count: int) -> list[tuple[int, ...]]:
    return [one for size in range(1, count + 1) for one in combinations(range(count), size)]


def test_a_full_matrix_is_one_block() -> None:
    assert largest_block([[0b111, 0b111], [0b111, 0b111]]) == Block((0, 1), (0, 1), (0, 1, 2))


def test_a_missing_arm_costs_its_model_or_its_harness() -> None:
    # Without model 1: 2 x 2 x 3 = 12 cells; without harness 1: 3 x 1 x 3 = 9.
    full = bits(0, 1, 2)
    found = largest_block([[full, full], [full, 0], [full, full]])
    assert found == Block((0, 2), (0, 1), (0, 1, 2))


def test_a_task_that_one_arm_lacks_is_left_out() -> None:
    found = largest_block([[bits(0, 1, 2), bits(0, 1, 2)], [bits(0, 1, 2), bits(0, 2)]])
    assert found == Block((0, 1), (0, 1), (0, 2))


def test_a_block_for_components_goes_before_a_larger_one() -> None:
    # All three models in all three harnesses have 12 tasks, 108 cells; two of each have 40, 160.
    small, large = (1 << 12) - 1, (1 << 40) - 1
    scored = [[large, large, small], [large, large, small], [small, small, small]]
    found = largest_block(scored)
    assert found is not None
    assert (found.size, found.is_estimable) == (108, True)
    scored[2] = [small >> 1] * 3
    found = largest_block(scored)
    assert found is not None
    assert (found.size, found.is_estimable) == (160, False)


def test_of_nothing_there_is_no_block() -> None:
    assert largest_block([]) is None
    assert largest_block([[0, 0], [0, 0]]) is None


@pytest.mark.parametrize("seed", range(40))
def test_no_block_is_larger(seed: int) -> None:
    # Arms lack whole suites or the end of their tasks, as arms do that were cut off.
    draw = random.Random(seed)
    scored = [
        [draw.choice([0, bits(*range(draw.randint(1, 9))), bits(*range(9))]) for _ in range(4)]
        for _ in range(5)
    ]
    found = largest_block(scored)
    assert (found.size if found else 0) == best_size(scored)


def test_every_cell_of_the_block_is_there_and_the_block_is_always_the_same() -> None:
    draw = random.Random(3)
    scored = [[draw.getrandbits(36) | draw.getrandbits(36) for _ in range(6)] for _ in range(30)]
    found = largest_block(scored)
    assert found is not None
    wanted = bits(*found.tasks)
    assert all(scored[m][h] & wanted == wanted for m in found.models for h in found.harnesses)
    assert found == largest_block([list(row) for row in scored])


def test_the_search_is_bounded_whatever_is_missing() -> None:
    draw = random.Random(4)
    scored = [
        [draw.getrandbits(100) | draw.getrandbits(100) | draw.getrandbits(100) for _ in range(14)]
        for _ in range(100)
    ]
    began = time.process_time()
    assert largest_block(scored) is not None
    assert time.process_time() - began < 3
