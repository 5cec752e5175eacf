"""Whether the machine was started anew between two moments."""

from __future__ import annotations

from pathlib import Path

import psutil

from bench_loop.machine.probe import read_text

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_mark() -> str:
    """A text that stays the same until the machine is started anew.

    Linux has an id for it; elsewhere it is the minute in which the machine started.
    """
    return read_text(BOOT_ID) or f"{psutil.boot_time() // 60:.0f}"
