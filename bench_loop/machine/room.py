"""Whether a model fits into a machine's memory: the one rule for runs, queues, doctor, recommend.

    needed = weights + window x keys and values of a token x bytes of one + RESERVED_GB

Where the model's shape is not known its cache is left out, so that what is needed is the least that
it can be: what is refused by this rule cannot fit. Weights and cache may lie on the GPUs and in
system memory; unified memory is both at once and counted once. Where anything that counts is
unknown, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import psutil

from bench_loop.contracts.provider import ModelFacts
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.linux import memory_limit
from bench_loop.machine.probe import read_text
from bench_loop.machine.record import total_memory_gb
from bench_loop.machine.sampling import find_nvml

RESERVED_GB = 0.5
"""Buffers and the engine itself, in GiB: what even a small window takes."""

GIB = 2**30
CACHE_BYTES = {
    "f32": 4.0,
    "f16": 2.0,
    "bf16": 2.0,
    "q8_0": 34 / 32,
    "q5_1": 24 / 32,
    "q5_0": 22 / 32,
    "q4_1": 20 / 32,
    "q4_0": 18 / 32,
}
"""Bytes of a cached value by the name of its type; ggml's quantized ones are blocks of 32."""

CGROUP = "/sys/fs/cgroup"


@dataclass(frozen=True, slots=True)
class Room:
    """Memory in GiB. `vram_gb` None: there is none of its own; `ram_gb` None: nothing is known."""

    ram_gb: float | None = None
    vram_gb: float | None = None

    @property
    def total_gb(self) -> float | None:
        """Of both: engines put the layers that do not fit on the GPU into system memory."""
        return None if self.ram_gb is None else self.ram_gb + (self.vram_gb or 0)

    def __str__(self) -> str:
        if self.vram_gb is None:
            return f"{self.ram_gb or 0:.1f} GiB of memory"
        return f"{self.vram_gb:.1f} GiB on the GPUs and {self.ram_gb or 0:.1f} GiB of memory"


@dataclass(frozen=True, slots=True)
class Fit:
    """What a model needs, in GiB, and how it fits into a room."""

    weights_gb: float
    cache_gb: float | None
    """The KV cache of the window; None: the model's shape is not known."""
    verdict: Literal["fits", "spills", "too_large"]
    """`spills`: a part is left to the processor, beside the GPUs."""
    room: Room

    @property
    def needed_gb(self) -> float:
        return self.weights_gb + (self.cache_gb or 0) + RESERVED_GB

    @property
    def lack(self) -> str | None:
        """Why the model does not fit, as a sentence; None: it does."""
        if self.verdict != "too_large":
            return None
        return f"It needs {self}, and there are {self.room}."

    def __str__(self) -> str:
        least = "at least " if self.cache_gb is None else ""
        cache = f", window {self.cache_gb:.1f}" if self.cache_gb is not None else ""
        return f"{least}{self.needed_gb:.1f} GiB (weights {self.weights_gb:.1f}{cache})"


def fit(model: ModelFacts, room: Room, window: int, cache_type: str | None = None) -> Fit | None:
    """How the model fits with a window of so many tokens; None: nobody can tell.

    `cache_type` is the server's `kv_cache_type`; one that is not known counts as f16, the default.
    """
    if not model.size_bytes or room.ram_gb is None or room.total_gb is None:
        return None
    weights_gb = model.size_bytes / GIB
    cache_gb = None
    if model.kv_values is not None:
        tokens = min(window, model.context_declared or window)
        cache_gb = tokens * model.kv_values * CACHE_BYTES.get(cache_type or "", 2.0) / GIB
    needed_gb = weights_gb + (cache_gb or 0) + RESERVED_GB
    if needed_gb > room.total_gb:
        return Fit(weights_gb, cache_gb, "too_large", room)
    spills = room.vram_gb is not None and needed_gb > room.vram_gb
    return Fit(weights_gb, cache_gb, "spills" if spills else "fits", room)


def lack_of_room(
    model: ModelFacts, room: Room, window: int, cache_type: str | None = None
) -> str | None:
    """Why the model does not fit, as a sentence; None: it does, is loaded, or nobody can tell."""
    found = fit(model, room, window, cache_type) if model.context_loaded is None else None
    return found.lack if found else None


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
    """All memory of a machine: a server that unloads other models by itself makes room in it.

    Nothing is known where the size of a GPU is not.
    """
    if facts.unified_memory or not facts.gpus:
        return Room(facts.system_memory_gb)
    vram_gb = total_memory_gb(facts.gpus)
    return Room() if vram_gb is None else Room(facts.system_memory_gb, vram_gb)


def _free_ram_gb() -> float:
    available = psutil.virtual_memory().available / GIB
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
    return sum(int(size) for size in sizes if size.isdigit()) / GIB
