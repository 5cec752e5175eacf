"""How a command is stopped from outside: once in good order, a second time at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SHOW_CURSOR = b"\x1b[?25h"
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, an orderly end, a closed terminal; Windows lacks the last."""


WORDS = {
    "SIGINT": "Stopped by the user.",
    "SIGHUP": "Stopped, as its terminal was closed (SIGHUP).",
}


class Stopped(KeyboardInterrupt):
    """A signal asked for the end; the message says which, as a result tells it."""

    def __init__(self, signal_number: int) -> None:
        name = signal.Signals(signal_number).name
        super().__init__(WORDS.get(name, f"Stopped by a signal ({name})."))
        self.exit_code = 128 + signal_number


@contextmanager
def stoppable() -> Iterator[None]:
    """The first signal raises Stopped here, so that everything is closed on the way out.

    A second one ends the process where it stands: what is on disk is whole at any moment, and
    children end with their parent. Signals that are ignored stay ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    has_come = False

    def stop(signal_number: int, frame: FrameType | None) -> None:
        nonlocal has_come
        if has_come:
            _end_now(128 + signal_number)
        has_come = True
        raise Stopped(signal_number)

    wanted = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in wanted}
    caught = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, old in caught.items():
            signal.signal(number, old)


def _end_now(exit_code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream.isatty():
            os.write(stream.fileno(), SHOW_CURSOR)
    os._exit(exit_code)
