"""subprocess: a process of this machine with limits of its own. Unsafe, and only by opt-in.

On Linux, Landlock and a system call filter take files, network and other processes away from the
program where the kernel has them. The sums of memory and disk stay without limit, and on other
systems nearly everything stays open: it is protection against accidents only.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from bench_loop.contracts.sandbox import SandboxKind, SandboxLimits, SandboxRecord
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import _control_group, _inside, _local
from bench_loop.sandboxes._marker import is_overdue, marker
from bench_loop.sandboxes._seccomp import filter_program
from bench_loop.sandboxes._session import Channel, Confinement, StagedSandbox, supervisor_source

READABLE = (
    *("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"),
    *("/dev/zero", "/dev/random", "/dev/urandom"),
)


def open_kind(
    limits: SandboxLimits, *, user: int | None = None, is_unsafe_allowed: bool = False
) -> Subprocess:
    """Raises SandboxError without `is_unsafe_allowed`, and for root without a `user` to become."""
    if not is_unsafe_allowed:
        raise SandboxError(
            "The sandbox 'subprocess' protects against accidents only.",
            remedy="Start Docker or install bubblewrap; or accept the risk with --allow-unsafe.",
        )
    if sys.platform == "win32":
        raise SandboxError(
            "There is no sandbox 'subprocess' on Windows.", remedy="Start Docker Desktop."
        )
    if os.getuid() == 0 and not user:
        raise SandboxError(
            "Code that a model wrote is not run as root.",
            remedy="Run BenchLoop as an ordinary user, or name a user id with --sandbox-user.",
        )
    return Subprocess(limits, user=user)


class Subprocess(StagedSandbox):
    """A folder and a process for each program."""

    kind: SandboxKind = "subprocess"

    def __init__(self, limits: SandboxLimits, *, user: int | None = None) -> None:
        super().__init__(limits)
        self._user = os.getuid() if user is None else user
        self._interpreter = _local.interpreter(self._user)
        self._landlock = _inside.landlock_abi()
        self._filter = filter_program(platform.machine(), ()) if sys.platform == "linux" else None
        _control_group.sweep()
        _sweep_folders()

    def record(self) -> SandboxRecord:
        return SandboxRecord(
            kind="subprocess",
            rootless=os.getuid() != 0,
            host=_local.host(),
            network="none" if self._filter else "host",
            limits=self.limits,
            limits_verified=self.verified,
            landlock_abi=self._landlock or None,
            seccomp="custom" if self._filter else "none",
            user=self._user,
            opted_in=True,
        )

    def close(self) -> None:
        """Every program's folder and processes went with it."""

    def _start(self, wall_s: float) -> tuple[Channel, Confinement]:
        name = marker(wall_s)
        folder = Path(tempfile.gettempdir(), name)
        work, scratch = folder / "work", folder / "tmp"
        for made in (folder, work, scratch):
            made.mkdir(mode=0o700)
            if self._user != os.getuid():
                shutil.chown(made, self._user, self._user)
        group = _control_group.make(name, self.limits, our_processes=1)
        beside = 1 + _local.threads_of(self._user)
        channel = _local.start(
            [str(self._interpreter.executable), "-I", "-S", "-c", supervisor_source()],
            user=self._user,
            group=group,
            clean_up=lambda: _local.remove_folder(folder),
            has_namespace=False,
        )
        return channel, Confinement(
            str(work),
            str(scratch),
            _local.rlimits(self.limits, wall_s, group=group, processes_beside=beside),
            readable=(*READABLE, str(self._interpreter.prefix)) if self._landlock else None,
            writable=(str(work), str(scratch), "/dev/null"),
            seccomp=self._filter or b"",
        )


def _sweep_folders() -> None:
    """Remove the folders that a harness which was killed left behind."""
    for folder in Path(tempfile.gettempdir()).iterdir():
        if is_overdue(folder.name) and folder.is_dir() and not folder.is_symlink():
            _local.remove_folder(folder)
