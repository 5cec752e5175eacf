"""The harness's side of a sandbox: sends a program in, takes what comes out, and keeps the limits.

Every kind of sandbox gives a `Channel` to a fresh supervisor (`_inside.py`); the rest is here.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from bench_loop.contracts.sandbox import (
    FILES_MAX,
    Limit,
    LimitsVerified,
    Program,
    SandboxKind,
    SandboxLimits,
    SandboxRecord,
    SandboxRun,
    Talk,
)
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import _inside

START_S = 60.0
"""Time for a sandbox to come up and take its files; the program's own time begins after that."""

GRACE_S = 2.0
"""The supervisor ends a program in time; when it has not by so much later, it is killed too."""

FILES_S = 30.0
"""Time for reading the files back, when every process but the supervisor is dead."""

PATH = "/usr/local/bin:/usr/bin:/bin"
KB, MB = 1024, 1024 * 1024
NOTHING_VERIFIED = LimitsVerified(
    memory_total=False, pids=False, disk=False, network=False, fs_read=False, fs_write=False
)


class Channel(Protocol):
    """The two streams of one supervisor. Raises SandboxError where they can't be used."""

    def send(self, data: bytes) -> None:
        """Write all of `data`; what a dead supervisor does not take is lost."""

    def receive(self, wait_s: float) -> bytes | None:
        """What came meanwhile; empty: nothing within `wait_s` seconds; None: the end."""

    def kill(self) -> Death:
        """SIGKILL to everything in the sandbox and remove it. Once is enough, twice no harm."""


@dataclass(frozen=True, slots=True)
class Death:
    """What the world outside knows of a sandbox's end."""

    is_out_of_memory: bool = False
    diagnosis: str = ""
    """What the sandbox itself wrote, for the case that it never came up."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the supervisor does to the program, beside what is around both.

    `rlimits` by their names without RLIMIT_. `readable` None: no Landlock. `seccomp` is a filter.
    """

    work: str
    scratch: str
    rlimits: Mapping[str, int]
    readable: Sequence[str] | None = None
    writable: Sequence[str] = ()
    seccomp: bytes = b""


class StagedSandbox(ABC):
    """What all kinds of sandbox have in common: everything but how the supervisor is started."""

    kind: SandboxKind

    def __init__(self, limits: SandboxLimits) -> None:
        self.limits = limits
        self.verified = NOTHING_VERIFIED

    @abstractmethod
    def record(self) -> SandboxRecord: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _start(self, wall_s: float) -> tuple[Channel, Confinement]:
        """A fresh sandbox, in which the supervisor waits for its request."""

    def run(self, program: Program, *, wall_s: float | None = None) -> SandboxRun:
        """Run to the end. `wall_s` replaces the limit on time for this one."""
        with self._session(program, wall_s, is_talk=False) as session:
            return session.finish()

    @contextmanager
    def talk(self, program: Program, *, wall_s: float | None = None) -> Iterator[Talk]:
        """Start and talk; `wall_s` is for all of it, `program.stdin` goes unused."""
        with self._session(program, wall_s, is_talk=True) as session:
            yield session

    @contextmanager
    def _session(
        self, program: Program, wall_s: float | None, *, is_talk: bool
    ) -> Iterator[Session]:
        for path in program.files:
            if not is_plain_path(path):
                raise SandboxError(f"A file can't be put into the sandbox as {path!r}.")
        wall_s = self.limits.wall_s if wall_s is None else wall_s
        channel, confinement = self._start(wall_s)
        try:
            session = Session(channel, self.limits, wall_s, program.wants_files)
            session.begin(_request(program, self.limits, wall_s, confinement, is_talk=is_talk))
            yield session
        finally:
            channel.kill()


@dataclass(slots=True)
class Session:
    """One program in one sandbox, from its start to its end. Follows `Talk`."""

    channel: Channel
    limits: SandboxLimits
    wall_s: float
    wants_files: bool = False
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    files: dict[str, bytes] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    status: int | None = None
    limit: Limit | None = None
    _waiting: bytearray = field(default_factory=bytearray)
    _output_bytes: int = 0
    _file_bytes: int = 0
    _began: float = 0.0
    _ended: float = 0.0
    _is_over: bool = False
    _fault: str | None = None
    _is_started: bool = False
    _is_read_back: bool = False

    def begin(self, request: bytes) -> None:
        """Send the request and wait until the program has been started."""
        self.channel.send(request)
        end = time.monotonic() + START_S
        while not self._is_started and not self._is_over:
            self._take(end)
        if not self._is_started:
            death = self.channel.kill()
            reason = self._fault or death.diagnosis or "it did not start in time"
            raise SandboxError(f"The sandbox failed: {reason}.")

    def ask(self, line: bytes, wall_s: float) -> bytes | None:
        """Send `line` and give the next line of standard output; None: there is none in time."""
        if self._is_over:
            return None
        self.channel.send(line + b"\n")
        end = time.monotonic() + wall_s
        while b"\n" not in self.stdout and not self._is_over:
            self._take(min(end, self._deadline()))
        answer, newline, rest = bytes(self.stdout).partition(b"\n")
        if not newline:
            return None
        self.stdout[:] = rest
        return answer

    def end(self) -> SandboxRun:
        """Kill what still runs and say what came of it."""
        self._ended = self._ended or time.monotonic()
        self._is_over = True
        return self._outcome()

    def finish(self) -> SandboxRun:
        """Wait for the end and say what came of it."""
        while not self._is_over:
            self._take(self._deadline())
        return self._outcome()

    def _deadline(self) -> float:
        if self._ended:
            return self._ended + FILES_S
        return self._began + self.wall_s + GRACE_S

    def _outcome(self) -> SandboxRun:
        death = self.channel.kill()
        if self._fault:
            raise SandboxError(f"The sandbox failed: {self._fault}.")
        if death.is_out_of_memory and self.limit is None:
            self.limit = "memory"
        return SandboxRun(
            exit_status=self.status,
            stdout=bytes(self.stdout),
            stderr=bytes(self.stderr),
            wall_s=max(0.0, (self._ended or time.monotonic()) - self._began),
            limit=self.limit,
            files=self.files,
            skipped=tuple(self.skipped),
            is_read_back=self._is_read_back and self.limit != "files",
        )

    # --- Taking frames ---

    def _take(self, end: float) -> None:
        """Take what comes next; at `end` the time is up."""
        data = self.channel.receive(max(0.0, end - time.monotonic()))
        if data is None:
            self._stop(None)
        elif data:
            self._waiting += data
            while not self._is_over and (frame := self._next_frame()):
                self._handle(*frame)
        elif time.monotonic() >= end:
            self._stop("wall" if self._is_started else None)

    def _next_frame(self) -> tuple[bytes, bytes] | None:
        head = 1 + _inside.LENGTH.size
        if len(self._waiting) < head:
            return None
        letter = bytes(self._waiting[:1])
        (size,) = _inside.LENGTH.unpack(self._waiting[1:head])
        if size > self.limits.disk_mb * MB + _inside.PIECE:
            self._stop("output")
            return None
        if len(self._waiting) < head + size:
            return None
        payload = bytes(self._waiting[head : head + size])
        del self._waiting[: head + size]
        return letter, payload

    def _handle(self, letter: bytes, payload: bytes) -> None:
        match letter:
            case b"o" | b"e":
                self._add_output(self.stdout if letter == b"o" else self.stderr, payload)
            case b"r":
                self._is_started = True
                self._began = time.monotonic()
            case b"x":
                self._ended = time.monotonic()
                self._read_status(payload)
            case b"f":
                path, _, content = payload.partition(b"\0")
                self._add_file(path, content)
            case b"s":
                self._skip(payload)
            case b"l":
                self.limit = self.limit or "files"
            case b"z":
                self._is_read_back = self.wants_files
                self._stop(None)
            case b"!" if not self._is_started:
                self._fault = payload[:1000].decode(errors="replace")
                self._stop(None)
            case _:
                # The program has got hold of the supervisor's streams, or has broken it.
                self._stop(None)

    def _add_output(self, stream: bytearray, piece: bytes) -> None:
        left = self.limits.output_kb * KB - self._output_bytes
        stream += piece[:left]
        self._output_bytes += len(piece)
        if len(piece) > left:
            self._stop("output")

    def _read_status(self, payload: bytes) -> None:
        try:
            said = json.loads(payload)
            status, limit, is_oom = said["status"], said["limit"], said["oom"]
        except (ValueError, KeyError, TypeError):
            self._stop(None)
            return
        self.status = status if type(status) is int and -64 <= status <= 255 else None
        if limit == "wall":
            self.limit = "wall"
        elif is_oom is True:
            self.limit = "memory"

    def _add_file(self, path: bytes, content: bytes) -> None:
        name = path.decode(errors="replace")
        self._file_bytes += len(content)
        if len(self.files) >= FILES_MAX or self._file_bytes > self.limits.disk_mb * MB:
            self._stop("files")
        elif is_plain_path(name):
            self.files[name] = content
        else:
            self._skip(path)

    def _skip(self, path: bytes) -> None:
        if len(self.skipped) < FILES_MAX:
            self.skipped.append(path[:1000].decode(errors="backslashreplace"))

    def _stop(self, limit: Limit | None) -> None:
        self._is_over = True
        self._ended = self._ended or time.monotonic()
        self.limit = self.limit or limit


def is_plain_path(path: str) -> bool:
    """Whether `path` is a relative path, written plainly, that stays inside its folder."""
    parts = path.split("/")
    return (
        0 < len(path) <= 1000
        and path.isprintable()
        and "\\" not in path
        and not any(part in ("", ".", "..") for part in parts)
        and str(PurePosixPath(path)) == path
    )


def _request(
    program: Program,
    limits: SandboxLimits,
    wall_s: float,
    confinement: Confinement,
    *,
    is_talk: bool,
) -> bytes:
    """The words with which the supervisor is asked, files included."""
    home = confinement.scratch
    base = {"PATH": PATH, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
    said: dict[str, Any] = {
        "argv": list(program.argv),
        "env": {**base, "PYTHONDONTWRITEBYTECODE": "1", **program.env},
        "work": confinement.work,
        "stdin_bytes": None if is_talk else len(program.stdin),
        "files": [[path, len(content)] for path, content in program.files.items()],
        "wall_s": wall_s,
        "rlimits": dict(confinement.rlimits),
        "readable": None if confinement.readable is None else list(confinement.readable),
        "writable": list(confinement.writable),
        "seccomp": confinement.seccomp.hex(),
        "files_bytes": limits.disk_mb * MB if program.wants_files else 0,
        "files_max": FILES_MAX,
    }
    words = json.dumps(said).encode()
    stdin = b"" if is_talk else program.stdin
    return b"".join((_inside.LENGTH.pack(len(words)), words, stdin, *program.files.values()))


@cache
def supervisor_source() -> str:
    """The program text with which a sandbox's interpreter becomes the supervisor."""
    return Path(_inside.__file__).read_text(encoding="utf-8")
