"""The largest block of models x harnesses x tasks in which nothing is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench_loop.scoring.constants import MIN_BLOCK_HARNESSES, MIN_BLOCK_MODELS, MIN_BLOCK_TASKS

MOST_HARNESSES = 10
"""Of more, those with the most tasks are looked at: every set of them is tried."""
MOST_SEEDS = 8
"""Sets of tasks that the search starts from, in each set of harnesses."""
MOST_STEPS = 1_000_000
"""Comparisons of two sets of tasks, after which the best block so far is taken."""


class Block(NamedTuple):
    """Places of the models, harnesses and tasks in it, each in order."""

    models: tuple[int, ...]
    harnesses: tuple[int, ...]
    tasks: tuple[int, ...]

    @property
    def size(self) -> int:
        """Cells in it."""
        return len(self.models) * len(self.harnesses) * len(self.tasks)

    @property
    def is_estimable(self) -> bool:
        """Whether it is large enough for variance components."""
        return (
            len(self.models) >= MIN_BLOCK_MODELS
            and len(self.harnesses) >= MIN_BLOCK_HARNESSES
            and len(self.tasks) >= MIN_BLOCK_TASKS
        )


def largest_block(scored: Sequence[Sequence[int]]) -> Block | None:
    """Largest complete block = the models x harnesses x tasks of which every cell has a scored
    trial, with the most cells, among those large enough for components if there are any.

    Of blocks of one size the one with more models, then with more harnesses. To find the best is a
    hard problem: every set of up to ten harnesses is tried, and in each the sets of tasks that
    models have in common, from the most common one on, within a fixed number of steps; so the same
    matrix always gives the same block. Null: nothing was scored.
    """
    # `scored[model][harness]` has a bit set for each task with a scored trial.
    search = _Search(left=MOST_STEPS)
    for harnesses in _harness_sets(scored):
        masks = [_common(row[harness] for harness in harnesses) for row in scored]
        search.see(harnesses, masks)
        if search.left <= 0:
            break
    return search.best


@dataclass(slots=True)
class _Search:
    left: int
    best: Block | None = None

    def see(self, harnesses: tuple[int, ...], masks: Sequence[int]) -> None:
        """Try the blocks of these harnesses; `masks` has the complete tasks of each model."""
        kinds = Counter(mask for mask in masks if mask)
        self.left -= len(masks)
        if not kinds or not self._may_win(harnesses, kinds):
            return
        # Insertion order, and so the order of the models, decides between equals.
        seeds = sorted(kinds, key=lambda mask: -mask.bit_count() * kinds[mask])[:MOST_SEEDS]
        tried = set()
        for seed in seeds:
            for tasks in self._grown(seed, kinds):
                if tasks not in tried:
                    tried.add(tasks)
                    self._offer(harnesses, masks, tasks)

    def _may_win(self, harnesses: tuple[int, ...], kinds: Counter[int]) -> bool:
        """Whether as many models with as many tasks as any of them has would be better."""
        if self.best is None:
            return True
        models, tasks = kinds.total(), max(mask.bit_count() for mask in kinds)
        bound = Block(tuple(range(models)), harnesses, tuple(range(tasks)))
        return _rank(bound) > _rank(self.best)

    def _grown(self, tasks: int, kinds: Counter[int]) -> Iterator[int]:
        """Smaller and smaller sets of tasks, each shared by at least one kind of models more."""
        while tasks and self.left > 0:
            yield tasks
            self.left -= len(kinds)
            further = [tasks & mask for mask in kinds if tasks & ~mask]
            tasks = max(further, key=int.bit_count, default=0)

    def _offer(self, harnesses: tuple[int, ...], masks: Sequence[int], tasks: int) -> None:
        self.left -= len(masks)
        models = tuple(model for model, mask in enumerate(masks) if not tasks & ~mask)
        shared = _common(masks[model] for model in models)
        found = Block(models, harnesses, tuple(_bits(shared)))
        if self.best is None or _rank(found) > _rank(self.best):
            self.best = found


def _harness_sets(scored: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every set of the harnesses, large ones first."""
    count = max(map(len, scored), default=0)
    cells = [sum(row[harness].bit_count() for row in scored) for harness in range(count)]
    most = sorted((h for h in range(count) if cells[h]), key=lambda h: -cells[h])
    kept = sorted(most[:MOST_HARNESSES])
    sets = [
        tuple(h for bit, h in enumerate(kept) if one >> bit & 1) for one in range(2 ** len(kept))
    ]
    return iter(sorted(filter(None, sets), key=lambda one: -len(one)))


def _rank(block: Block) -> tuple[bool, int, int, int]:
    return block.is_estimable, block.size, len(block.models), len(block.harnesses)


def _common(masks: Iterator[int]) -> int:
    common = -1
    for mask in masks:
        common &= mask
    return common


def _bits(mask: int) -> Iterator[int]:
    return (bit for bit in range(mask.bit_length()) if mask >> bit & 1)
