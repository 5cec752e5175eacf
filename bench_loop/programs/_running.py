"""A program in a place while it runs: its output, its deadline, and the end of all that it started.

The relay (`relay.py`) starts it and is told when to end it; everything that must hold is done from
here, whatever relay and program do.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from bench_loop.contracts.place import Ended
from bench_loop.errors import SandboxError
from bench_loop.programs import leftovers
from bench_loop.programs.workspace import free_mb, size_mb
from bench_loop.sandboxes import _inside, _local
from bench_loop.sandboxes._control_group import ControlGroup

START_S = 60.0
GRACE_S = 3.0
"""From SIGTERM to SIGKILL. All programs that were measured end within 1.1 seconds, or never."""

DEATH_S = 5.0
OUTPUT_BYTES = 8 * 2**20
"""Kept of standard output, and as much of standard error; the rest is read and dropped."""

LOOK_S = 2.0
LEAST_FREE_MB = 2048
LOOK_SHARE = 50
"""Looking how much was written takes at most one part in so many of the time."""

REPORT_BYTES = 65536
PIECE = 65536


class Running:
    """One program. For one thread, but for `is_over`; end it, whatever happens."""

    def __init__(
        self,
        words: Sequence[str],
        request: Mapping[str, Any],
        *,
        marker: str,
        group: ControlGroup | None,
        pass_fds: Sequence[int] = (),
        env: Mapping[str, str],
        relays: int,
        watched: Sequence[Path],
        disk_mb: int,
        remedy: str | None = None,
    ) -> None:
        """Start `words`, which become the relay, and wait until it has started the program.

        `relays` are the processes below the one that is started here that are not the program's.
        It is ended when the folders `watched` hold more than `disk_mb` together. `remedy` is for
        a relay that never came up.
        Raises SandboxError when there is no relay, or it can't start the program.
        """
        self._marker, self._group, self._relays = marker, group, relays
        self._watch = _DiskWatch(self, watched, disk_mb)
        self._said = b""
        self._is_silent = False  # the relay is dead
        self._is_killed = self._is_timed_out = False  # by another thread
        self._ended: Ended | None = None
        self._process, self._report = _start(words, request, group, pass_fds, env)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdout, self._stderr = _Output(self._process.stdout), _Output(self._process.stderr)
        try:
            self._wait_for_start(remedy)
        except BaseException:
            self._tear_down()
            raise
        self._began, self._started_at = time.monotonic(), datetime.now(UTC)
        self._watch.start()

    def _wait_for_start(self, remedy: str | None) -> None:
        said = self._next_report(START_S)
        if said is not None and said.get("started") is True:
            return
        if said is not None and "error" in said:
            raise SandboxError(f"The program can't be started: {str(said['error'])[:500]}.")
        self._tear_down()
        words = self._stderr.kept().decode(errors="replace").strip()[:500]
        reason = words.rstrip(".") or "it did not start"
        raise SandboxError(f"The place for the program failed: {reason}.", remedy=remedy)

    def wait(self, wall_s: float) -> Ended:
        """Wait for the end by itself, at most `wall_s` seconds from the start, and end the rest."""
        if self._ended:
            return self._ended
        status = self._wait_for_status(self._began + wall_s - time.monotonic())
        is_timed_out = status is None and not self._is_silent
        return self._finish(status, is_timed_out=is_timed_out)

    def stop(self) -> Ended:
        """End it now: SIGTERM, and SIGKILL after GRACE_S."""
        if self._ended:
            return self._ended
        return self._finish(self._wait_for_status(0), is_timed_out=False)

    def is_over(self, within_s: float = 0) -> bool:
        """Whether it has ended, or does so in that time."""
        if self._ended is None:
            readable, _, _ = select.select([self._report], [], [], within_s)
            return bool(readable)
        return True

    def kill(self, *, is_timed_out: bool = False) -> None:
        """SIGKILL to all that it started; for another thread, before `wait` or `stop` are done."""
        self._is_killed = True
        self._is_timed_out = is_timed_out
        with contextlib.suppress(ProcessLookupError):
            _inside.kill_below(self._process.pid)

    def last_words(self) -> str:
        """The end of what it wrote to standard error, or else to standard output."""
        for output in (self._stderr, self._stdout):
            if text := output.kept().decode(errors="replace").strip():
                return text[-500:]
        return ""

    def _finish(self, status: int | None, *, is_timed_out: bool) -> Ended:
        try:
            if status is None:
                self._order(b"stop\n")
                if self._wait_for_status(GRACE_S) is None:
                    self._order(b"kill\n")
                    self._wait_for_status(GRACE_S)
            wall_s = time.monotonic() - self._began
            self._watch.stop()
            left = leftovers.count(self._process.pid, self._marker, ours=self._relays)
            oom_kills = self._group.oom_kills() if self._group else 0
        finally:
            self._tear_down()
        self._ended = Ended(
            exit_status=None if self._is_killed else status,
            stdout=self._stdout.kept(),
            stderr=self._stderr.kept(),
            wall_s=wall_s,
            is_timed_out=is_timed_out or self._is_timed_out,
            leftovers=left,
            used_up="disk" if self._watch.is_full else "memory" if oom_kills else None,
            started_at=self._started_at,
        )
        return self._ended

    def _order(self, word: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            os.write(self._process.stdin.fileno(), word)

    def _wait_for_status(self, wall_s: float) -> int | None:
        said = self._next_report(wall_s)
        status = said.get("status") if said else None
        return status if type(status) is int else None

    def _next_report(self, wall_s: float) -> dict[str, Any] | None:
        """What the relay says next; None: nothing in time, or it is dead."""
        end = time.monotonic() + wall_s
        while b"\n" not in self._said:
            wait_s = max(0.0, end - time.monotonic())
            readable, _, _ = select.select([self._report], [], [], wait_s)
            piece = os.read(self._report, REPORT_BYTES) if readable else b""
            if not piece or len(self._said) > REPORT_BYTES:
                self._is_silent = bool(readable)
                return None
            self._said += piece
        line, _, self._said = self._said.partition(b"\n")
        try:
            said = json.loads(line)
        except ValueError:
            return None
        return said if isinstance(said, dict) else None

    def _tear_down(self) -> None:
        """Nothing that was started lives after this. Twice is no harm."""
        if self._report < 0:
            return
        self._watch.stop()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGSTOP)
            _inside.kill_below(self._process.pid)
        self._process.kill()
        self._process.wait()
        if self._group:
            self._group.kill_and_remove()
        leftovers.sweep(self._marker)
        for output in (self._stdout, self._stderr):
            output.finish()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        os.close(self._report)
        self._report = -1


class _DiskWatch:
    """Kills a program that fills the disk: on folders of the machine no other limit holds.

    What it keeps in files without a name is seen by nobody; so it also ends where the disk has got
    fuller by as much as it may write, and is nearly full.
    """

    def __init__(self, running: Running, folders: Sequence[Path], disk_mb: int) -> None:
        self._running, self._folders, self._disk_mb = running, folders, disk_mb
        self._free_mb = self._left_mb()
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.is_full = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """It does nothing more after this. Twice is no harm."""
        self._is_done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _look(self) -> None:
        wait_s = LOOK_S
        while not self._is_done.wait(wait_s):
            began = time.monotonic()
            if self._is_too_much():
                self.is_full = True
                self._running.kill()
                return
            wait_s = max(LOOK_S, LOOK_SHARE * (time.monotonic() - began))

    def _is_too_much(self) -> bool:
        free_mb = self._left_mb()
        if free_mb < LEAST_FREE_MB and self._free_mb - free_mb > self._disk_mb:
            return True
        return sum(map(size_mb, self._folders)) > self._disk_mb

    def _left_mb(self) -> float:
        return min(map(free_mb, self._folders), default=math.inf)


class _Output:
    """One stream of a program, read while it runs so that it never blocks."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._stream.fileno(), PIECE):
                self._kept += piece[: max(0, OUTPUT_BYTES - len(self._kept))]

    def kept(self) -> bytes:
        return bytes(self._kept)

    def finish(self) -> None:
        """Take what is still in the pipe; whoever wrote to it is dead."""
        self._thread.join(DEATH_S)
        if not self._thread.is_alive():
            self._stream.close()


def _start(
    words: Sequence[str],
    request: Mapping[str, Any],
    group: ControlGroup | None,
    pass_fds: Sequence[int],
    env: Mapping[str, str],
) -> tuple[subprocess.Popen[bytes], int]:
    """The process with its request, and the descriptor that it reports on."""
    if group:
        words = ["/bin/sh", "-c", _local.JOIN, "sh", *group.files_to_join(), "--", *words]
    reader, writer = os.pipe()
    try:
        process = subprocess.Popen(
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd="/",
            pass_fds=(*pass_fds, writer),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        os.close(reader)
        if group:
            group.kill_and_remove()
        raise SandboxError(f"{words[0]} can't be started: {error.strerror}.") from error
    finally:
        os.close(writer)
    _send(process, json.dumps({**request, "report": writer}).encode() + b"\n")
    return process, reader


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    """A relay that never came up takes nothing; its report says so."""
    assert process.stdin is not None
    view = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while view:
            view = view[os.write(process.stdin.fileno(), view) :]
