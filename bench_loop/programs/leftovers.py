"""What a program left running: found by the marker in its environment, and by who started whom."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench_loop.sandboxes import _inside
from bench_loop.sandboxes._marker import is_overdue

VARIABLE = "BENCHLOOP_RUN"
"""Variable that marks every process of one program; its value is a marker of the sandboxes."""

SWEEP_S = 10.0
SETTLE_S = 0.3
"""Time for a program's last children to end by themselves before they count as left over."""


def marked(marker: str) -> set[int]:
    """Processes of this machine whose environment carries `marker`."""
    return {pid for pid, value in _marks() if value == marker}


def count(root: int, marker: str, *, ours: int) -> int:
    """Processes that still live below `root` or carry `marker`, beside `ours` below it.

    What is about to end gets a moment to do so.
    """
    end = time.monotonic() + SETTLE_S
    while True:
        living = len((below(root) | marked(marker)) - {root}) - ours
        if living <= 0 or time.monotonic() > end:
            return max(0, living)
        time.sleep(0.01)


def below(root: int) -> set[int]:
    """Living processes that `root` started, directly or not."""
    return set(_inside.living_below(root))


def sweep(marker: str) -> None:
    """SIGKILL to all that carry `marker`, again and again until none is left."""
    end = time.monotonic() + SWEEP_S
    while (found := marked(marker)) and time.monotonic() < end:
        _kill(found)
        time.sleep(0.005)


def sweep_overdue() -> None:
    """End what an earlier BenchLoop started and could not end, since it was killed itself."""
    _kill({pid for pid, value in _marks() if is_overdue(value)})


def _kill(pids: set[int]) -> None:
    for pid in pids - {os.getpid()}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _marks() -> Iterator[tuple[int, str]]:
    """Process and marker, for every process that has one and lets us see it."""
    if sys.platform != "linux":
        yield from _marks_by_psutil()
        return
    mark = re.compile(rb"(?:^|\0)" + VARIABLE.encode() + rb"=([^\0]*)")
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if found := mark.search((folder / "environ").read_bytes()):
                yield int(folder.name), found[1].decode(errors="replace")


def _marks_by_psutil() -> Iterator[tuple[int, str]]:
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if value := process.environ().get(VARIABLE):
                yield process.pid, value
