"""A Linux control group around one sandbox: the only way to limit the sum over its processes.

Root can make one: in version 1 below its own groups of memory, pids and cpu, in version 2 below
the root group. Nobody else can here, and gets None.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.sandboxes._marker import is_overdue

MOUNT = Path("/sys/fs/cgroup")
ABSENT_WITHOUT_SWAP = ("memory.memsw.limit_in_bytes", "memory.swap.max")
PERIOD_US = 100_000
KILL_S = 10.0

Version = Literal["v1", "v2", "hybrid", "none"]


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One group, or one of the same name for each controller (version 1)."""

    folders: tuple[Path, ...]

    def files_to_join(self) -> list[str]:
        """A process joins by writing 0 to each of these."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def oom_kills(self) -> int:
        """Processes that were killed because the memory was used up."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    for line in (folder / name).read_text().splitlines():
                        if line.startswith("oom_kill "):
                            return int(line.split()[1])
        return 0

    def kill_and_remove(self) -> None:
        """SIGKILL to every process in it, again and again until none is left."""
        end = time.monotonic() + KILL_S
        while time.monotonic() < end:
            for folder in self.folders:
                _kill(folder)
            with contextlib.suppress(OSError):
                for folder in self.folders:
                    if folder.exists():
                        folder.rmdir()
                return
            time.sleep(0.005)


def _kill(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if (folder / "cgroup.kill").exists():
            (folder / "cgroup.kill").write_text("1")
            return
        for pid in (folder / "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)


def make(name: str, limits: SandboxLimits, our_processes: int) -> ControlGroup | None:
    """A group with these limits; None: it can't be had here.

    `our_processes` are those of the sandbox itself, beside the program's.
    """
    is_v1 = version() in ("v1", "hybrid")
    wanted = (_settings_v1 if is_v1 else _settings_v2)(limits, limits.pids + our_processes)
    made: list[Path] = []
    try:
        for parent, settings in wanted.items():
            folder = parent / name
            folder.mkdir()
            made.append(folder)
            for file, value in settings.items():
                if (folder / file).exists() or file not in ABSENT_WITHOUT_SWAP:
                    (folder / file).write_text(value)
    except OSError:
        for folder in made:
            folder.rmdir()
        return None
    return ControlGroup(tuple(made)) if made else None


def _settings_v1(limits: SandboxLimits, pids: int) -> dict[Path, dict[str, str]]:
    own = _own_groups()
    memory = str(limits.memory_mb * 1024 * 1024)
    settings = {
        # In this order: memory and swap together may not be less than memory.
        "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
        "pids": {"pids.max": str(pids)},
        "cpu": {
            "cpu.cfs_period_us": str(PERIOD_US),
            "cpu.cfs_quota_us": str(int(limits.cpus * PERIOD_US)),
        },
    }
    return {own[name]: files for name, files in settings.items() if name in own}


def _settings_v2(limits: SandboxLimits, pids: int) -> dict[Path, dict[str, str]]:
    if version() != "v2":
        return {}
    return {
        MOUNT: {
            "memory.max": str(limits.memory_mb * 1024 * 1024),
            "memory.swap.max": "0",
            "pids.max": str(pids),
            "cpu.max": f"{int(limits.cpus * PERIOD_US)} {PERIOD_US}",
        }
    }


def _own_groups() -> dict[str, Path]:
    """By controller of version 1: the folder of the group that this process is in."""
    groups = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            folder = MOUNT / controller
            if controller and folder.is_dir():
                groups[controller] = folder / path.lstrip("/")
    return groups


def version() -> Version:
    """Which control groups this kernel has mounted."""
    if (MOUNT / "cgroup.controllers").exists():
        return "v2"
    if not (MOUNT / "memory").is_dir():
        return "none"
    return "hybrid" if (MOUNT / "unified").is_dir() else "v1"


def sweep() -> None:
    """Remove groups, with the processes in them, that a harness which was killed left behind."""
    parents = set(_own_groups().values()) if version() in ("v1", "hybrid") else {MOUNT}
    for parent in parents:
        with contextlib.suppress(OSError):
            for folder in parent.iterdir():
                if is_overdue(folder.name):
                    ControlGroup((folder,)).kill_and_remove()
