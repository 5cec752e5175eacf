"""Waiting for a moment on the monotonic clock, exactly: the only clock of the simulator."""

from __future__ import annotations

import time

SPIN_S = 0.00015
"""The end of each wait is spun through: a sleep ends 0.05 to 0.1 ms late."""

now = time.monotonic
"""Seconds on a clock that all processes of a machine share where the system has such a one."""


def wait_until(moment_s: float) -> None:
    """Return at `moment_s`, or at once when it has passed."""
    while (left_s := moment_s - now()) > SPIN_S:
        time.sleep(left_s - SPIN_S)
    while now() < moment_s:
        time.sleep(0)  # lets the server's other threads run
