"""bubblewrap: Linux namespaces of the program's own, without root and without a service.

Root drops to another user first. The sum of memory and processes is limited where a control group
can be had: as root, or from a systemd user session; elsewhere each process alone.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

from bench_loop.contracts.sandbox import SandboxKind, SandboxLimits, SandboxRecord
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import _control_group, _local
from bench_loop.sandboxes._marker import marker
from bench_loop.sandboxes._seccomp import LOCAL_FAMILIES, filter_program
from bench_loop.sandboxes._session import MB, Channel, Confinement, StagedSandbox, supervisor_source

WORK, SCRATCH = "/work", "/tmp"  # noqa: S108  (inside the sandbox)
REMEDY = "Install it: apt install bubblewrap (0.8 or newer), or pip install 'bench-loop[sandbox]'."
OUR_PROCESSES = 2  # bubblewrap itself, and the supervisor
SYSTEM_FOLDERS = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")


def open_kind(
    limits: SandboxLimits, *, user: int | None = None, is_unsafe_allowed: bool = False
) -> Bubblewrap:
    """Raises SandboxError where bubblewrap is missing. `user` is for root only."""
    return Bubblewrap(limits, user=user)


class Bubblewrap(StagedSandbox):
    """A fresh set of namespaces for each program."""

    kind: SandboxKind = "bubblewrap"

    def __init__(
        self, limits: SandboxLimits, *, user: int | None = None, with_group: bool = True
    ) -> None:
        """`with_group` false leaves the control group out, as where none can be had."""
        super().__init__(limits)
        if sys.platform != "linux":
            raise SandboxError("bubblewrap is for Linux only.", remedy="Start Docker or Podman.")
        self._with_group = with_group
        self._program = find_bwrap()
        self._user = _local.sandbox_user() if user is None else user
        self._interpreter = _local.interpreter(self._user)
        self._filter = filter_program(platform.machine(), LOCAL_FAMILIES) or b""
        _control_group.sweep()

    def record(self) -> SandboxRecord:
        return SandboxRecord(
            kind="bubblewrap",
            engine_version=_version(self._program),
            rootless=os.getuid() != 0,
            host=_local.host(),
            network="none",
            limits=self.limits,
            limits_verified=self.verified,
            seccomp="custom" if self._filter else "none",
            user=self._user,
            opted_in=False,
        )

    def close(self) -> None:
        """Every program's namespaces and control group went with it."""

    def _start(self, wall_s: float) -> tuple[Channel, Confinement]:
        group = None
        if self._with_group:
            group = _control_group.make(marker(wall_s), self.limits, OUR_PROCESSES)
        scope = user_scope(self.limits) if self._with_group and group is None else []
        reader, writer = os.pipe()
        os.write(writer, self._filter)
        os.close(writer)
        try:
            channel = _local.start(
                [*scope, *self._command(reader)],
                user=self._user,
                group=group,
                clean_up=lambda: None,
                has_namespace=True,
                pass_fds=(reader,),
                env=session_bus() if scope else None,
            )
        finally:
            os.close(reader)
        beside = processes_beside(self._user)
        rlimits = _local.rlimits(self.limits, wall_s, group=group, processes_beside=beside)
        return channel, Confinement(WORK, SCRATCH, rlimits)

    def _command(self, filter_descriptor: int) -> list[str]:
        size = str(self.limits.disk_mb * MB)
        prefix = str(self._interpreter.prefix)
        return [
            *(str(self._program), "--unshare-all", "--unshare-user", "--disable-userns"),
            *("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"),
            *("--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", *system_folders()),
            *([] if prefix == "/usr" else ["--ro-bind", prefix, prefix]),
            *("--proc", "/proc", "--dev", "/dev"),
            *("--size", size, "--tmpfs", "/dev/shm"),  # noqa: S108
            *("--size", size, "--tmpfs", SCRATCH, "--size", size, "--tmpfs", WORK),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK),
            *(["--seccomp", str(filter_descriptor)] if self._filter else []),
            *("--", str(self._interpreter.executable), "-I", "-S", "-c", supervisor_source()),
        ]


def find_bwrap() -> Path:
    """The system's bubblewrap, or the one beside the running Python.

    Raises SandboxError with the remedy when there is none.
    """
    for folder in (None, sysconfig.get_path("scripts")):
        if found := shutil.which("bwrap", path=folder):
            return Path(found)
    raise SandboxError("bubblewrap is not installed.", remedy=REMEDY)


@cache
def _version(program: Path) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True)
    return said.stdout.strip().removeprefix("bubblewrap ")


def processes_beside(user: int) -> int:
    """How many that are not the program's count with it for RLIMIT_NPROC."""
    return 1 if _counts_by_namespace() else 2 + _local.threads_of(user)


def _counts_by_namespace() -> bool:
    """Whether RLIMIT_NPROC counts the processes of a user namespace alone (since Linux 5.14)."""
    major, minor = platform.release().split(".")[:2]
    return (int(major), int(minor.partition("-")[0])) >= (5, 14)


def system_folders() -> list[str]:
    """The system's folders beside /usr, or the links that they have become, and its linker."""
    words = []
    for folder in map(Path, SYSTEM_FOLDERS):
        if folder.is_symlink():
            words += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            words += ["--ro-bind", str(folder), str(folder)]
    for file in SYSTEM_FILES:
        words += ["--ro-bind-try", file, file]
    return words


def user_scope(limits: SandboxLimits) -> list[str]:
    """The words before a command that put it into a control group of the user's systemd."""
    if not _has_user_scope():
        return []
    return [
        *("systemd-run", "--user", "--scope", "--quiet", "--collect"),
        *("-p", f"MemoryMax={limits.memory_mb}M", "-p", "MemorySwapMax=0"),
        *("-p", f"TasksMax={limits.pids + OUR_PROCESSES}"),
        *("-p", f"CPUQuota={limits.cpus * 100:.0f}%", "--"),
    ]


@cache
def _has_user_scope() -> bool:
    if os.getuid() == 0 or not shutil.which("systemd-run"):
        return False
    try:
        done = subprocess.run(
            ["systemd-run", "--user", "--scope", "--quiet", "--collect", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def session_bus() -> dict[str, str]:
    names = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
    return {name: os.environ[name] for name in names if name in os.environ}
