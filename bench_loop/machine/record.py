"""From what was detected and declared to the machine of a result, and its device class.

Device classes are keys: two machines are compared when their keys are equal.

    rtx-4090-24gb                   one GPU, with the marketing size of its memory
    2x-rtx-4090-24gb                two of them
    rtx-4080-16gb+rtx-4090-24gb     a mixed rig, by name
    m3-pro-36gb                     unified memory: the installed memory
    cpu-epyc-9654-96c-384gb         no GPU, or none used: processor, cores, installed memory
    remote                          an endpoint elsewhere, with nothing declared

Where a size is unknown its part is left out. A declared GPU gives the class of an endpoint
elsewhere, and of a machine where none was detected; `machine.declared` then says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from bench_loop import config
from bench_loop.errors import UsageError
from bench_loop.machine.devices import Device, find_device, memory_class_gb, system_class_gb
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.reported import ReportedGpu, counted, gib_in
from bench_loop.result.records import DeclaredMachine, Gpu, Machine

REMOTE = "remote"
UNKNOWN = "unknown"
MOST_GPU_GB = 10_000


def machine_record(
    facts: MachineFacts,
    *,
    is_local: bool,
    label: str | None = None,
    declared_gpu: str | None = None,
    declared_gpu_memory_gb: float | None = None,
    backend: str | None = None,
    listener: str | None = None,
) -> Machine:
    """The `machine` of a result.

    `is_local`: the model server runs on this very machine. Another machine's speed is not credited
    to this one's hardware: everything detected is left out. `declared_gpu_memory_gb` is that of
    one GPU. `backend` is what the engine computed with, where known; with `cpu` the GPUs took no
    part and are left out too. `listener` is the program at the server's port, where it was looked
    for. Raises UsageError for a memory size that no GPU has.
    """
    if declared_gpu_memory_gb is not None and not 0 < declared_gpu_memory_gb < MOST_GPU_GB:
        raise UsageError(
            f"{declared_gpu_memory_gb:g} GB is no size of a GPU's memory.",
            remedy="Give the memory of one GPU in GB, like 24.",
        )
    declared = _declared(label, declared_gpu, declared_gpu_memory_gb)
    machine_id = config.machine_id()
    if not is_local:
        return Machine(
            machine_id=machine_id,
            machine_label=label,
            device_class=declared_class(declared_gpu, declared_gpu_memory_gb) or REMOTE,
            backend=backend,
            is_local=False,
            listener=listener,
            declared=declared,
        )
    gpus = () if backend == "cpu" else facts.gpus
    by_user = declared_class(declared_gpu, declared_gpu_memory_gb)
    detected_class = device_class(gpus, facts)
    return Machine(
        machine_id=machine_id,
        machine_label=label,
        device_class=detected_class if gpus or not by_user else by_user,
        cpu_model=facts.cpu_model,
        gpus=gpus,
        gpu_memory_gb=total_memory_gb(gpus),
        unified_memory=facts.unified_memory if gpus else None,
        system_memory_gb=facts.system_memory_gb,
        os=facts.os,
        backend=backend or facts.backend,
        is_local=True,
        listener=listener,
        declared=declared,
    )


def device_class(gpus: Iterable[Gpu], facts: MachineFacts) -> str:
    """The key of a machine that computes with `gpus`; with none, of its processor."""
    return gpu_class(gpus, facts.system_memory_gb) or cpu_class(facts)


def gpu_class(gpus: Iterable[Gpu], system_memory_gb: float | None) -> str:
    """The key of a machine that computes with `gpus`; empty without any."""
    return _joined(_gpu_key(gpu, system_memory_gb) for gpu in gpus)


def reported_class(gpus: Iterable[ReportedGpu]) -> str:
    """The key of a machine that was reported with these GPUs; empty without any."""
    return _joined(
        "-".join(filter(None, (_slug(gpu.name), f"{gpu.class_gb}gb" if gpu.class_gb else "")))
        for gpu in gpus
    )


def cpu_class(facts: MachineFacts) -> str:
    """The key of a machine that computes on its processor."""
    maker = re.compile(r"\b(intel|amd|arm|apple|nvidia)\b", re.I)
    parts = ["cpu", _slug(maker.sub("", facts.cpu_model or UNKNOWN))]
    cores = facts.physical_cores or facts.logical_cores
    if cores:
        parts.append(f"{cores}c")
    if facts.system_memory_gb:
        parts.append(f"{system_class_gb(facts.system_memory_gb)}gb")
    return "-".join(filter(None, parts))


def _gpu_key(gpu: Gpu, system_memory_gb: float | None) -> str:
    name = f"{gpu.vendor} {gpu.model}" if gpu.vendor else gpu.model
    return _device_key(find_device(name), gpu.memory_gb, system_memory_gb)


def _device_key(
    device: Device, memory_gb: float | None, system_memory_gb: float | None = None
) -> str:
    size = memory_class_gb(device, memory_gb, system_memory_gb)
    return "-".join(filter(None, (_slug(device.name), f"{size}gb" if size else "")))


def _declared(
    label: str | None, gpu: str | None, gpu_memory_gb: float | None
) -> DeclaredMachine | None:
    if label is None and gpu is None and gpu_memory_gb is None:
        return None
    return DeclaredMachine(label=label, gpu=gpu, gpu_memory_gb=gpu_memory_gb)


def declared_class(gpu: str | None, memory_gb: float | None) -> str | None:
    """The key for what a user typed: `RTX 4090`, `2x RTX 4090`, `RTX 4090 x2`; None: nothing."""
    if not gpu or not gpu.strip():
        return None
    # People write the size into the name, since boards of one name differ in it.
    memory_gb = memory_gb or gib_in(gpu)
    count, name = counted(gpu)
    return _joined([_device_key(find_device(name), memory_gb)] * count)


def _joined(keys: Iterable[str]) -> str:
    counts = Counter(keys)
    return "+".join(f"{n}x-{key}" if n > 1 else key for key, n in sorted(counts.items()))


def total_memory_gb(gpus: Iterable[Gpu]) -> float | None:
    """The sum over all GPUs; unknown as soon as one is unknown."""
    sizes = [gpu.memory_gb for gpu in gpus]
    known = [size for size in sizes if size is not None]
    return round(sum(known), 2) if sizes and len(known) == len(sizes) else None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
