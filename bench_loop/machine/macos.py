"""macOS: `sysctl`, `sw_vers` and `system_profiler`."""

from __future__ import annotations

from bench_loop.machine.cpu import clean_cpu_name
from bench_loop.machine.gpus import gpus_from_system_profiler
from bench_loop.machine.probe import Host
from bench_loop.result.records import Gpu


def cpu_model(host: Host) -> str | None:
    """`Apple M3 Pro`, or Intel's name on older machines."""
    return clean_cpu_name(host.run(["sysctl", "-n", "machdep.cpu.brand_string"]) or "")


def system_memory_gb(host: Host) -> float | None:
    """Installed memory in GiB."""
    return memory_from_sysctl(host.run(["sysctl", "-n", "hw.memsize"]) or "")


def operating_system(host: Host) -> str | None:
    """`macOS 15.2`."""
    version = (host.run(["sw_vers", "-productVersion"]) or "").strip()
    return f"macOS {version}" if version else "macOS"


def gpus(host: Host, system_memory: float | None) -> tuple[Gpu, ...]:
    """The graphics processors that macOS lists; on Apple chips the chip itself."""
    text = host.run(["system_profiler", "SPDisplaysDataType", "-json"])
    return gpus_from_system_profiler(text, system_memory) if text else ()


def memory_from_sysctl(text: str) -> float | None:
    """`hw.memsize`, bytes, in GiB."""
    digits = text.strip()
    return round(int(digits) / 2**30, 2) if digits.isdigit() and int(digits) else None
