"""What bubblewrap and subprocess share: processes of this machine as sandboxes."""

from __future__ import annotations

import contextlib
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench_loop.contracts.sandbox import SandboxHost, SandboxLimits
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import _control_group, _inside
from bench_loop.sandboxes._control_group import ControlGroup
from bench_loop.sandboxes._session import MB, PATH, Death

USER = 10001
"""User id that root drops to: unused on usual systems, so it owns no file and no process."""

PIECE = 1 << 20
JOIN = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 1; shift; done; shift; exec "$@"'
DEATH_S = 5.0
ADDRESS_SPACE_PER_MEMORY = 4
"""Where memory can't be limited in sum, each process gets so much address space."""


class LocalChannel:
    """The pipes of a supervisor that is a process of this machine."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        group: ControlGroup | None,
        clean_up: Callable[[], None],
        *,
        has_namespace: bool,
    ) -> None:
        self._process = process
        self._group = group
        self._clean_up = clean_up
        self._has_namespace = has_namespace
        self._death: Death | None = None

    def send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def receive(self, wait_s: float) -> bytes | None:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], wait_s)
        if not readable:
            return b""
        return os.read(self._process.stdout.fileno(), PIECE) or None

    def kill(self) -> Death:
        if self._death is None:
            if not self._has_namespace:
                _kill_tree(self._process.pid)
            self._process.kill()
            self._process.wait()
            is_out_of_memory = bool(self._group and self._group.oom_kills())
            if self._group:
                self._group.kill_and_remove()
            self._drain()
            self._death = Death(is_out_of_memory, self._complaints())
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
            self._clean_up()
        return self._death

    def _drain(self) -> None:
        """Wait for the end of the output: the supervisor, and with it all of it, is dead then."""
        end = time.monotonic() + DEATH_S
        while time.monotonic() < end and self.receive(DEATH_S) is not None:
            pass

    def _complaints(self) -> str:
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        return (self._process.stderr.read(4096) or b"").decode(errors="replace").strip()


def _kill_tree(supervisor: int) -> None:
    """Stop the supervisor, which adopts orphans, and kill all below it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(supervisor, signal.SIGSTOP)
        _inside.kill_below(supervisor)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that the sandbox's user can run, and the folder that it needs."""

    executable: Path
    prefix: Path


def start(
    command: Sequence[str],
    *,
    user: int,
    group: ControlGroup | None,
    clean_up: Callable[[], None],
    has_namespace: bool,
    pass_fds: Sequence[int] = (),
    env: Mapping[str, str] | None = None,
) -> LocalChannel:
    """Start `command` as `user`, in `group`, with an empty environment."""
    words = list(command)
    if user != os.getuid():
        words = [
            *("setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"),
            *("--inh-caps=-all", "--", *words),
        ]
    if group:
        words = ["/bin/sh", "-c", JOIN, "sh", *group.files_to_join(), "--", *words]
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": PATH, "LANG": "C.UTF-8", **(env or {})},
            cwd="/",
            pass_fds=pass_fds,
            start_new_session=True,
        )
    except OSError as error:
        if group:
            group.kill_and_remove()
        clean_up()
        raise SandboxError(f"{words[0]} can't be started: {error.strerror}.") from error
    return LocalChannel(process, group, clean_up, has_namespace=has_namespace)


def sandbox_user() -> int:
    """The user as whom programs run: oneself, or for root a user that owns nothing."""
    return os.getuid() or USER


def rlimits(
    limits: SandboxLimits, wall_s: float, *, group: ControlGroup | None, processes_beside: int
) -> dict[str, int]:
    """Limits of each process; without a control group they must stand in for those of the sum.

    `processes_beside` are those of the same user that count with the program's.
    """
    each = {
        "CORE": 0,
        "NOFILE": 256,
        "FSIZE": limits.disk_mb * MB,
        "CPU": int(wall_s * max(1.0, limits.cpus)) + 5,
    }
    if group is None:
        each["AS"] = ADDRESS_SPACE_PER_MEMORY * limits.memory_mb * MB
        each["NPROC"] = limits.pids + processes_beside
    return each


def threads_of(user: int) -> int:
    """Threads of `user` that run now."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == user:
                count += sum(1 for _ in (folder / "task").iterdir())
    return count


@cache
def interpreter(user: int) -> Interpreter:
    """The running Python, or else the system's of the same version.

    Raises SandboxError where `user` can read neither.
    """
    version = f"python3.{sys.version_info.minor}"
    choices = [Path(sys.base_prefix, "bin", version)]
    choices += [Path(folder, version) for folder in ("/usr/bin", "/usr/local/bin")]
    for choice in choices:
        executable = Path(os.path.realpath(choice))
        if _can_use(user, executable):
            return Interpreter(executable, executable.parent.parent)
    raise SandboxError(
        f"User {user} can read no Python {sys.version_info.major}.{sys.version_info.minor}.",
        remedy=f"Install {version} for all users, or run BenchLoop as an ordinary user.",
    )


def _can_use(user: int, file: Path) -> bool:
    if user == os.getuid():
        return os.access(file, os.X_OK)
    try:
        return all(path.stat().st_mode & 0o001 for path in (file, *file.parents))
    except OSError:
        return False


def host() -> SandboxHost:
    """This machine, as the record names it."""
    return SandboxHost(
        os=platform.system(), kernel=platform.release(), cgroup=_control_group.version()
    )


def remove_folder(folder: Path) -> None:
    """Remove a folder, also what its owner made unreadable."""

    def open_up(function: Callable[[str], object], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=open_up)
