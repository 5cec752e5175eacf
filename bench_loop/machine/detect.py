"""Finds out what this machine is. A probe that fails gives None; nothing here raises."""

from __future__ import annotations

from collections.abc import Sequence

from bench_loop.machine import linux, macos, windows
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.gpus import computing, gpu_record, is_unified
from bench_loop.machine.probe import Host, this_host
from bench_loop.result.records import Gpu

__all__ = ["MachineFacts", "backend_guess", "detect"]

_SYSTEMS = {"linux": linux, "darwin": macos, "win32": windows}
_BACKENDS = {"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal", "Intel": "vulkan"}


def detect(host: Host | None = None) -> MachineFacts:
    """The machine, as far as its operating system tells; this one where none is given."""
    host = host or this_host()
    system = _SYSTEMS.get(host.system, linux)
    cpu, memory = system.cpu_model(host), system.system_memory_gb(host)
    gpus = computing(system.gpus(host, memory))
    if not gpus and cpu and cpu.startswith("Apple M"):
        # The chip is its own GPU; the display list is empty on a Mac without a session.
        gpus = (gpu_record(cpu, None, system_memory_gb=memory),)
    limit = linux.cpu_limit(host)
    return MachineFacts(
        cpu_model=cpu or host.architecture or None,
        physical_cores=_at_most(host.physical_cores, limit),
        logical_cores=_at_most(host.logical_cores, limit),
        gpus=gpus,
        system_memory_gb=memory,
        unified_memory=any(map(is_unified, gpus)) if gpus else None,
        os=system.operating_system(host),
        platform=host.kernel or None,
        backend=backend_guess(gpus, host.system),
    )


def backend_guess(gpus: Sequence[Gpu], system: str) -> str:
    """What an engine would most likely compute with: by the maker of the first GPU, else `cpu`.

    Metal is macOS's: an Apple chip under Linux computes by Vulkan.
    """
    backend = _BACKENDS.get(gpus[0].vendor or "", "cpu") if gpus else "cpu"
    return "vulkan" if backend == "metal" and system != "darwin" else backend


def _at_most(cores: int | None, limit: int | None) -> int | None:
    known = [count for count in (cores, limit) if count is not None]
    return min(known, default=None)
