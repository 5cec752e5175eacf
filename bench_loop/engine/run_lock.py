"""The lock of a run: one process at a time writes its journal.

The system's own file lock decides, and goes with its process however that ends. The file says who
holds it: a process id and when that process started, since ids are given out again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from bench_loop.errors import SetupError, UsageError
from bench_loop.file_lock import hold

LOCK = "lock"
SAME_START_S = 2.0
"""Two readings of one process's start may differ by so much."""


class RunLock:
    """Held while a run is written; a context manager."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError when another process holds it, SetupError when it cannot be written."""
        try:
            self._descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SetupError(
                f"The run {folder.name} cannot be locked: {folder}: {error.strerror}.",
                remedy="Give yourself the right to write there, or make room on the disk.",
            ) from error
        try:
            hold(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            pid = _owner(folder).get("pid")
            raise UsageError(
                f"The run {folder.name} is being written by a running process"
                f"{f' ({pid})' if pid else ''}.",
                remedy="Wait for it to end, or stop it with Ctrl-C.",
            ) from error
        owner = {"pid": os.getpid(), "started": psutil.Process().create_time()}
        with suppress(OSError):  # A full disk: it is locked all the same, and says not by whom.
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, json.dumps(owner).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def is_live(folder: Path) -> bool:
    """Whether the process that wrote the lock still runs. Takes no lock itself."""
    owner = _owner(folder)
    try:
        process = psutil.Process(int(owner["pid"]))
        return abs(process.create_time() - float(owner["started"])) < SAME_START_S
    except (KeyError, TypeError, ValueError, OverflowError, psutil.Error):
        return False


def _owner(folder: Path) -> dict[str, Any]:
    """Who wrote the lock; empty where nobody did, or the disk was full."""
    try:
        owner = json.loads((folder / LOCK).read_bytes())
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}
