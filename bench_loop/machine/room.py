"""Whether a model fits into this machine's memory."""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.linux import memory_limit
from bench_loop.machine.probe import read_text
from bench_loop.machine.record import total_memory_gb
from bench_loop.machine.sampling import find_nvml

OVERHEAD = 1.2
"""Loaded weights, window and buffers by the size of the weights' file, roughly."""

CGROUP = "/sys/fs/cgroup"


@dataclass(frozen=True, slots=True)
class Room:
    """Memory in GiB; None is unknown, or no such memory."""

    ram_gb: float | None
    vram_gb: float | None = None

    @property
    def total_gb(self) -> float | None:
        """Of both: engines put the layers that do not fit on the GPU into system memory."""
        known = [size for size in (self.ram_gb, self.vram_gb) if size is not None]
        return sum(known) if known else None


def free_room() -> Room:
    """What is free on this machine, inside the limit of a container."""
    gpus = find_nvml()
    try:
        vram_gb = gpus.free_gb() if gpus else None
    finally:
        if gpus:
            gpus.close()
    return Room(_free_ram_gb(), vram_gb)


def whole_room(facts: MachineFacts) -> Room:
    """All memory of a machine: a server that unloads other models by itself makes room in it."""
    gpu_gb = None if facts.unified_memory else total_memory_gb(facts.gpus)
    return Room(facts.system_memory_gb, gpu_gb)


def _free_ram_gb() -> float:
    available = psutil.virtual_memory().available / 2**30
    limit = memory_limit(read_text(f"{CGROUP}/memory.max") or "")
    used = memory_limit(read_text(f"{CGROUP}/memory.current") or "")
    if limit is None or used is None:
        return available
    cached = reclaimable_gb(read_text(f"{CGROUP}/memory.stat") or "")
    return max(0.0, min(available, limit - used + cached))


def reclaimable_gb(stat: str) -> float:
    """Of a cgroup's `memory.stat`, what only caches files, in GiB: it makes room when asked."""
    rows = dict(row.split(" ", 1) for row in stat.splitlines() if " " in row)
    sizes = (rows.get(name, "") for name in ("active_file", "inactive_file"))
    return sum(int(size) for size in sizes if size.isdigit()) / 2**30


def lack_of_room(size_bytes: int | None, room: Room) -> str | None:
    """Why a model of this size does not fit, as a sentence; None: it does, or nobody can tell."""
    if size_bytes is None or room.total_gb is None:
        return None
    needed_gb = OVERHEAD * size_bytes / 2**30
    if needed_gb <= room.total_gb:
        return None
    parts = [f"{room.ram_gb:.1f} GB of memory" if room.ram_gb is not None else ""]
    parts.append(f"{room.vram_gb:.1f} GB on the GPU" if room.vram_gb is not None else "")
    there = " and ".join(filter(None, parts))
    return f"It needs about {needed_gb:.1f} GB, and there are {there}."
