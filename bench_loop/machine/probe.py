"""The rim of detection: a machine's files, tools and counts, each None where it cannot be had."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench_loop.machine import nvml, registry
from bench_loop.machine.registry import Value

TOOL_LIMIT_S = 10.0
_MOST_BYTES = 4 * 2**20


def read_text(path: str | Path) -> str | None:
    """The text of a file, NULs of device trees left out; None when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return None
    return data.decode("utf-8", errors="replace").replace("\0", "").strip()


def run_tool(command: Sequence[str]) -> str | None:
    """What a tool prints; None when it is missing, fails, or takes longer than ten seconds."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TOOL_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode != 0:
        return None
    return done.stdout[:_MOST_BYTES].decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Host:
    """Everything that detection asks of a machine; nothing else touches it."""

    system: str
    """linux, darwin or win32."""
    root: Path = Path("/")
    run: Callable[[Sequence[str]], str | None] = run_tool
    boards: Callable[[], Sequence[tuple[str, float | None]]] = nvml.boards
    """NVIDIA's boards by its own library: name and GiB."""
    registry_values: Callable[[str], Mapping[str, Value]] = registry.values
    registry_subkeys: Callable[[str], Sequence[str]] = registry.subkeys
    physical_cores: int | None = None
    logical_cores: int | None = None
    memory_gb: float | None = None
    """GiB that the system reports, where it has no file that tells."""
    version: str = ""
    """Version of Windows: 10.0.<build>."""
    kernel: str = ""
    """Kernel and architecture: Linux 6.12 x86_64."""
    architecture: str = ""

    def read(self, path: str) -> str | None:
        """The text of the file at an absolute path."""
        return read_text(self.root / path.lstrip("/"))

    def folders(self, path: str) -> list[str]:
        """The absolute paths of what lies in a folder, in order; empty when it cannot be read."""
        try:
            return sorted(
                f"{path}/{found.name}" for found in (self.root / path.lstrip("/")).iterdir()
            )
        except OSError:
            return []


def this_host() -> Host:
    """The machine that BenchLoop runs on."""
    return Host(
        system=sys.platform,
        physical_cores=psutil.cpu_count(logical=False) or None,
        logical_cores=psutil.cpu_count() or None,
        memory_gb=round(psutil.virtual_memory().total / 2**30, 2),
        version=platform.version() if sys.platform == "win32" else "",
        kernel=f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
        architecture=platform.machine(),
    )
