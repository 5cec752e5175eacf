"""Finds out what this machine is. A probe that fails gives None; nothing here raises."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence

import psutil

from bench_loop.machine import linux, macos, windows
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.gpus import computing, is_unified
from bench_loop.result.records import Gpu

__all__ = ["MachineFacts", "backend_guess", "detect"]

_SYSTEMS = {"linux": linux, "darwin": macos, "win32": windows}
_BACKENDS = {"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal", "Intel": "vulkan"}


def detect() -> MachineFacts:
    """This machine, as far as its operating system tells."""
    system = _SYSTEMS.get(sys.platform, linux)
    cpu, memory = system.cpu_model(), system.system_memory_gb()
    gpus = computing(system.gpus(memory))
    if not gpus and cpu and cpu.startswith("Apple M"):
        # The chip is its own GPU; the display list is empty on a Mac without a session.
        gpus = (Gpu(model=cpu.removeprefix("Apple "), vendor="Apple", memory_gb=memory),)
    return MachineFacts(
        cpu_model=cpu or platform.machine() or None,
        physical_cores=psutil.cpu_count(logical=False) or None,
        logical_cores=psutil.cpu_count() or None,
        gpus=gpus,
        system_memory_gb=memory,
        unified_memory=any(map(is_unified, gpus)) if gpus else None,
        os=system.operating_system(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
        backend=backend_guess(gpus),
    )


def backend_guess(gpus: Sequence[Gpu]) -> str:
    """What an engine would most likely compute with: by the maker of the first GPU, else `cpu`."""
    return _BACKENDS.get(gpus[0].vendor or "", "cpu") if gpus else "cpu"
