"""Processor time by the measure of an idle machine.

On a shared machine the same instructions take several times as long from one minute to the next, by
the thread's own clock too. A limit in units of known work holds on all of them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

UNIT_S = 0.010
"""Seconds that the work took on an idle machine of the project's CI."""

_TEXT = "alpha beta 12, gamma: {delta} " * 2000
_WORD = re.compile(r"(\w+)[,: ]")


def idle_s(work: Callable[[], object], limit_s: float, tries: int) -> float:
    """Processor time of `work` in seconds of an idle machine: the best try, or the first in time.

    The time of other processes is theirs and does not count.
    """
    best = float("inf")
    for _ in range(tries):
        slowness = max(1.0, _spent_s(lambda: _WORD.sub(r"\1", _TEXT)) / UNIT_S)
        best = min(best, _spent_s(work) / slowness)
        if best < limit_s:
            break
    return best


def _spent_s(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
