"""The machine: its hardware, sensors and memory agree with each other."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.machine.record import gpu_class, total_memory_gb
from bench_loop.scoring.constants import MIN_COVERED_SHARE
from bench_loop.scoring.suites import is_warmup
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload

SENSOR_SLACK = 1.1
"""Sensors round, and gaps between readings are filled: a part may seem more than the whole."""


def check_machine(upload: Upload) -> Iterator[Finding]:
    """Hardware that was not read from the machine itself, or that contradicts itself.

    It is for a moderator to judge and never refused: there are more devices than any table has.
    """
    machine = upload.result.machine
    if not machine.is_local:
        yield needs_review(
            "remote_machine",
            "machine.is_local",
            "The model ran on another machine than BenchLoop, so its hardware was not detected.",
        )
        return
    if machine.declared and machine.declared.gpu:
        yield needs_review(
            "declared_machine", "machine.declared.gpu", "This hardware was typed, not detected."
        )
        return
    expected = gpu_class(machine.gpus, machine.system_memory_gb) if machine.gpus else "cpu"
    if machine.device_class != expected and not machine.device_class.startswith(f"{expected}-"):
        yield needs_review(
            "machine_mismatch",
            "machine.device_class",
            "The device class does not follow from the hardware listed.",
            computed=expected,
        )
    if machine.gpu_memory_gb != total_memory_gb(machine.gpus):
        yield needs_review(
            "machine_mismatch",
            "machine.gpu_memory_gb",
            "This is not the memory of the GPUs together.",
            computed=total_memory_gb(machine.gpus),
        )


def check_power(upload: Upload) -> Iterator[Finding]:
    """Energy was covered by readings, by a sensor of that machine, and its parts fit the whole."""
    result = upload.result
    power = result.power
    if power is None:
        return
    if power.energy_j is not None and power.coverage < MIN_COVERED_SHARE:
        yield refused(
            "power_mismatch", "power.energy_j", "Too little of the run was read to know its energy."
        )
    passed = sum(
        trial.outcome == "pass" and not is_warmup(trial) for _, trial in upload.quality_trials()
    )
    claimed, whole_j = power.joules_per_correct_answer, power.energy_j
    is_too_much = whole_j is not None and (claimed or 0.0) * passed > whole_j * SENSOR_SLACK
    if claimed is not None and (not passed or is_too_much):
        yield refused(
            "power_mismatch",
            "power.joules_per_correct_answer",
            "The right answers cannot have taken this energy.",
            passed=passed,
            energy_j=whole_j,
        )
    has_nvidia = any(gpu.vendor == "NVIDIA" for gpu in result.machine.gpus)
    if not result.machine.is_local or has_nvidia != (power.source == "nvml"):
        yield needs_review(
            "power_mismatch", "power.source", "This sensor is none of the hardware listed."
        )


def check_peak_memory(upload: Upload) -> Iterator[Finding]:
    """A server took no more memory than its machine has.

    Everything on a machine may, in a container that sees more than its own share.
    """
    peak, machine = upload.result.peak_memory, upload.result.machine
    if peak is None:
        return
    server_gb = peak.ram_gb if peak.ram_scope == "server" else None
    for field, used, installed in (
        ("ram_gb", server_gb, machine.system_memory_gb),
        ("vram_gb", peak.vram_gb, machine.gpu_memory_gb),
    ):
        if used is not None and installed is not None and used > installed * SENSOR_SLACK:
            yield needs_review(
                "memory_mismatch",
                f"peak_memory.{field}",
                "More memory was in use than the machine has.",
                used_gb=used,
                installed_gb=installed,
            )
