"""Windows: NVIDIA's tool, then the registry, whose 64-bit memory size has no 4 GB limit as WMI's
has, then WMI where the registry tells nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bench_loop.machine.cpu import clean_cpu_name
from bench_loop.machine.devices import computes
from bench_loop.machine.gpus import gpu_record, gpus_from_nvidia_smi, gpus_from_wmi, json_rows
from bench_loop.machine.probe import Host
from bench_loop.machine.registry import Value
from bench_loop.result.records import Gpu

CPU_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
DISPLAY_KEY = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_NVIDIA_SMI = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]


def cpu_model(host: Host) -> str | None:
    """The processor's name, from the registry, or from WMI."""
    name = str(host.registry_values(CPU_KEY).get("ProcessorNameString", ""))
    rows = [] if name else _wmi(host, "Win32_Processor", "Name")
    return clean_cpu_name(name or next((str(row.get("Name", "")) for row in rows), ""))


def system_memory_gb(host: Host) -> float | None:
    """Installed memory in GiB."""
    return host.memory_gb


def operating_system(host: Host) -> str | None:
    """`Windows 11 (10.0.26100)`; 11 still calls itself 10.0, with a build from 22000 up."""
    return windows_name(host.version)


def gpus(host: Host, system_memory: float | None) -> tuple[Gpu, ...]:
    """Every display adapter with a driver, NVIDIA's by NVIDIA's own tool where it answers."""
    nvidia = gpus_from_nvidia_smi(host.run(_NVIDIA_SMI) or "", system_memory)
    adapters = map(host.registry_values, host.registry_subkeys(DISPLAY_KEY))
    listed = gpus_from_registry(adapters, system_memory) or gpus_from_wmi(
        _wmi(host, "Win32_VideoController", "Name,AdapterRAM"), system_memory
    )
    return nvidia + tuple(gpu for gpu in listed if not (nvidia and gpu.vendor == "NVIDIA"))


def gpus_from_registry(
    adapters: Iterable[Mapping[str, Value]], system_memory_gb: float | None = None
) -> tuple[Gpu, ...]:
    """Display adapters by their registry values, display-only drivers left out."""
    found = []
    for adapter in adapters:
        name = str(adapter.get("DriverDesc", "")).strip()
        if not name or not computes(name):
            continue
        size = _number(adapter.get("HardwareInformation.qwMemorySize"))
        memory = size / 2**30 if size else None
        found.append(gpu_record(name, memory, system_memory_gb=system_memory_gb))
    return tuple(found)


def windows_name(version: str) -> str:
    """The name people use, by the version `10.0.<build>`."""
    if not version:
        return "Windows"
    parts = version.split(".")
    build = int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else 0
    name = "Windows 11" if build >= 22000 else f"Windows {parts[0]}"
    return f"{name} ({version})"


def _wmi(host: Host, what: str, fields: str) -> list[dict[str, object]]:
    script = f"Get-CimInstance {what} | Select-Object {fields} | ConvertTo-Json"
    return json_rows(host.run(["powershell", "-NoProfile", "-Command", script]) or "")


def _number(value: Value | None) -> int | None:
    """A registry number; drivers write it as QWORD or as little-endian bytes."""
    if isinstance(value, int):
        return value
    return int.from_bytes(value, "little") if isinstance(value, bytes) else None
