"""The hardware: boards as they are sold, and a model that fits into the memory.

All of it is for a moderator to judge and none is refused: there are more machines than any table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bench_loop.machine.devices import find_device, vendor_of
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.record import cpu_class
from bench_loop.names.quantization import bits_of
from bench_loop.result.records import Gpu, Machine
from submissions.checks.finding import Finding, needs_review
from submissions.checks.upload import Upload

MOST_CORES = 1024
MOST_RAM_GB = 24_576
LEAST_RAM_GB = 0.25
"""Of one machine; what lies outside was not read from one."""
SIZE_SLACK = 1.05
"""Sizes are rounded, and GB and GiB taken for each other in the small."""
GIB_PER_GB = 1e9 / 2**30

BACKENDS = {"cuda": {"NVIDIA"}, "rocm": {"AMD"}, "metal": {"Apple"}}
"""What computes on the boards of one vendor only."""


def check_hardware(upload: Upload) -> Iterator[Finding]:
    """Boards have the memory that they are sold with, and the backend is one of theirs."""
    machine = upload.result.machine
    if not machine.is_local:
        return
    for index, gpu in enumerate(machine.gpus):
        yield from _board_findings(f"machine.gpus[{index}]", gpu)
    vendors = {gpu.vendor for gpu in machine.gpus}
    needed = BACKENDS.get(machine.backend or "")
    if needed and None not in vendors and not vendors & needed:
        yield _odd(
            "machine.backend",
            f"No GPU listed computes with {machine.backend}.",
            needs=sorted(needed),
        )
    ram_gb = machine.system_memory_gb
    if ram_gb is not None and not LEAST_RAM_GB <= ram_gb <= MOST_RAM_GB:
        yield _odd("machine.system_memory_gb", "No machine has this much memory.", gb=ram_gb)
    yield from _processor_findings(machine)


def _board_findings(where: str, gpu: Gpu) -> Iterator[Finding]:
    device = find_device(f"{gpu.vendor} {gpu.model}" if gpu.vendor else gpu.model)
    sizes = (*device.memory_classes, *device.modified_classes)
    if gpu.memory_gb is not None and sizes and gpu.memory_gb > max(sizes) * SIZE_SLACK:
        yield _odd(
            f"{where}.memory_gb",
            f"A {device.name} has no more than {max(sizes)} GB.",
            claimed=gpu.memory_gb,
            known=max(sizes),
        )
    vendor = vendor_of(gpu.model)
    if gpu.vendor and vendor and vendor != gpu.vendor:
        yield _odd(f"{where}.vendor", f"A {gpu.model[:60]} is made by {vendor}.")


def _processor_findings(machine: Machine) -> Iterator[Finding]:
    """The class of a machine that computes on its processor names its cores and memory."""
    if machine.gpus or not machine.device_class.startswith("cpu-") or machine.declared:
        return
    found = re.search(r"-(\d{1,6})c(?:-|$)", machine.device_class)
    cores = int(found[1]) if found else None
    facts = MachineFacts(cpu_model=machine.cpu_model, system_memory_gb=machine.system_memory_gb)
    computed = cpu_class(replace(facts, physical_cores=cores))
    if machine.device_class != computed:
        yield needs_review(
            "machine_mismatch",
            "machine.device_class",
            "The device class does not follow from the processor and the memory.",
            computed=computed,
        )
    if cores is not None and not 0 < cores <= MOST_CORES:
        yield _odd("machine.device_class", "No processor has this many cores.", cores=cores)


def check_model_fits(upload: Upload) -> Iterator[Finding]:
    """The weights fit into the memory that they are said to lie in."""
    subject, machine = upload.result.subject, upload.result.machine
    bits = subject.bits_per_weight or bits_of(subject.quantization)
    if not machine.is_local or machine.declared or not subject.parameters_b or bits is None:
        return
    weights_gb = subject.parameters_b * bits / 8 * GIB_PER_GB
    ram_gb, vram_gb = machine.system_memory_gb, machine.gpu_memory_gb
    is_on_gpus = subject.offloaded_share == 1 and machine.gpus and not machine.unified_memory
    if is_on_gpus and vram_gb is not None and weights_gb > vram_gb * SIZE_SLACK:
        yield needs_review(
            "memory_mismatch",
            "subject.offloaded_share",
            "The whole model is said to lie on the GPUs, and is larger than their memory.",
            weights_gb=weights_gb,
            gpu_memory_gb=vram_gb,
        )
    if ram_gb is None or (machine.gpus and vram_gb is None):
        return
    whole_gb = ram_gb + (0.0 if machine.unified_memory else vram_gb or 0.0)
    if weights_gb > whole_gb * SIZE_SLACK:
        yield needs_review(
            "memory_mismatch",
            "subject.parameters_b",
            "The model is larger than all memory of the machine.",
            weights_gb=weights_gb,
            memory_gb=whole_gb,
        )


def _odd(field: str, sentence: str, **numbers: object) -> Finding:
    return needs_review("odd_machine", field, sentence, **numbers)
