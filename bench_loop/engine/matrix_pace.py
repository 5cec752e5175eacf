"""How long the blocks of a matrix will still take, learned block by block."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from bench_loop.engine.blocks import Block

AT_FIRST = 2.5
"""How much longer or shorter than expected it may take, when no block has been run."""
AT_LAST = 1.3
"""The same when one of each arm and suite has: their trials differ, and so do answers."""


class MatrixPace:
    """Told of the blocks of one model as they are run.

    A block takes as long as those of its arm and suite took before it; before there is one, what
    its model's speed lets expect, by the ratio in which that came true for the others.
    """

    def __init__(
        self,
        expected: Mapping[Block, float | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`expected` holds the seconds of each block by the model's speed, where it is known."""
        self._expected = dict(expected)
        self._to_come = dict.fromkeys(expected)
        self._took: dict[tuple[int, str], list[float]] = defaultdict(list)
        self._ran: list[tuple[float, float]] = []
        self._clock = clock

    def leave_out(self, block: Block, took_s: float) -> None:
        """It is not run again; it took so long, when it was."""
        if block in self._to_come:
            self._learn(block, took_s)

    @contextmanager
    def timed(self, block: Block) -> Iterator[None]:
        """While the block is run to its end."""
        began = self._clock()
        yield
        self._learn(block, self._clock() - began)

    def _learn(self, block: Block, took: float) -> None:
        self._took[block.arm, block.suite].append(took)
        if expected := self._expected[block]:
            self._ran.append((took, expected))
        self._to_come.pop(block, None)

    def left_s(self) -> tuple[float, float] | None:
        """Seconds left at least and at most, as a rule; None: nothing is known of some blocks."""
        seconds = [self._seconds(block) for block in self._to_come]
        known = [one for one in seconds if one is not None]
        if len(known) < len(seconds):
            return None
        kinds = {(block.arm, block.suite) for block in self._to_come}
        seen = len(kinds & self._took.keys()) / len(kinds) if kinds else 1.0
        doubt = AT_FIRST + (AT_LAST - AT_FIRST) * seen
        return sum(known) / doubt, sum(known) * doubt

    def _seconds(self, block: Block) -> float | None:
        if took := self._took.get((block.arm, block.suite)):
            return sum(took) / len(took)
        expected = self._expected[block]
        if expected is None or not self._ran:
            return expected
        return expected * sum(took for took, _ in self._ran) / sum(one for _, one in self._ran)
