"""What the sensors beside a run read, as text: memory at its peak, power and energy."""

from __future__ import annotations

from collections.abc import Mapping

from bench_loop.report import figures
from bench_loop.report.figures import UNKNOWN
from bench_loop.report.records import Reading
from bench_loop.result.records import PeakMemory, Power, PowerSource, RunHeader

NO_SENSOR = f"{UNKNOWN} no sensor"
SENSORS: Mapping[PowerSource, str] = {
    "nvml": "NVML, all GPUs",
    "rapl": "RAPL, processor packages",
    "amdgpu": "amdgpu, all GPUs",
    "amd_smi": "amd-smi, all GPUs",
    "rocm_smi": "rocm-smi, all GPUs",
    "powermetrics": "powermetrics, the whole chip, estimated",
}


def sensor_readings(header: RunHeader) -> tuple[Reading, ...]:
    """Memory and energy of a run; what no sensor told is a dash, never zero."""
    return tuple(
        Reading(name, value)
        for name, value in (
            ("peak memory", _ram(header.peak_memory)),
            ("peak GPU memory", _vram(header)),
            ("energy", _energy(header.power)),
            *_figures(header.power),
        )
        if value is not None
    )


def _ram(peak: PeakMemory | None) -> str:
    if peak is None or peak.ram_gb is None:
        return NO_SENSOR
    whose = "server" if peak.ram_scope == "server" else "everything on the machine"
    return f"{figures.significant(peak.ram_gb)} GB, {whose}"


def _vram(header: RunHeader) -> str | None:
    """None on a machine without a GPU, which has no such memory."""
    peak = header.peak_memory
    if peak is not None and peak.vram_gb is not None:
        return f"{figures.significant(peak.vram_gb)} GB, other programs included"
    return NO_SENSOR if header.machine.gpus else None


def _energy(power: Power | None) -> str:
    if power is None:
        return NO_SENSOR
    covered = f"{figures.percent(power.coverage)} covered"
    source = SENSORS[power.source]
    return f"{_with_unit(power.energy_j, 'J')}, {source}, {covered}"


def _figures(power: Power | None) -> tuple[tuple[str, str | None], ...]:
    """The figures that only a sensor gives; no line where there was none."""
    if power is None:
        return ()
    return (
        ("idle power", _with_unit(power.idle_w, "W")),
        ("energy a token", _with_unit(power.joules_per_token, "J")),
        ("energy a pass", _with_unit(power.joules_per_correct_answer, "J")),
    )


def _with_unit(value: float | None, unit: str) -> str:
    return UNKNOWN if value is None else f"{figures.significant(value)} {unit}"
