"""Ends this process when its parent is gone, even when it was killed outright."""

from __future__ import annotations

import os
import signal
import sys
import threading


def end_with_parent() -> None:
    """Watch standard input, a pipe that the parent holds: the kernel closes it with the parent."""

    def watch() -> None:
        while os.read(descriptor, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    descriptor = sys.stdin.fileno()
    threading.Thread(target=watch, name="lifeline", daemon=True).start()
