"""Windows: the registry, whose 64-bit memory size has no 4 GB limit as WMI's has."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping

import psutil

from bench_loop.machine.cpu import clean_cpu_name
from bench_loop.machine.gpus import gpu_record
from bench_loop.result.records import Gpu

Value = str | int | bytes
"""A registry value: text, a number, or bytes."""

_CPU_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_DISPLAY_KEY = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_NO_GPU = ("microsoft basic", "microsoft remote", "virtual display", "parsec", "citrix", "idd")


def cpu_model() -> str | None:
    """The processor's name, from the registry."""
    return clean_cpu_name(str(_values(_CPU_KEY).get("ProcessorNameString", "")))


def system_memory_gb() -> float | None:
    """Installed memory in GiB."""
    return round(psutil.virtual_memory().total / 2**30, 2)


def operating_system() -> str | None:
    """`Windows 11 (10.0.26100)`; 11 still calls itself 10.0, with a build from 22000 up."""
    return windows_name(platform.version())


def gpus(system_memory: float | None) -> tuple[Gpu, ...]:
    """Every display adapter with a driver."""
    return gpus_from_registry((_values(key) for key in _subkeys(_DISPLAY_KEY)), system_memory)


def gpus_from_registry(
    adapters: Iterable[Mapping[str, Value]], system_memory_gb: float | None = None
) -> tuple[Gpu, ...]:
    """Display adapters by their registry values, display-only drivers left out."""
    found = []
    for adapter in adapters:
        name = str(adapter.get("DriverDesc", "")).strip()
        if not name or any(word in name.lower() for word in _NO_GPU):
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


def _number(value: Value | None) -> int | None:
    """A registry number; drivers write it as QWORD or as little-endian bytes."""
    if isinstance(value, int):
        return value
    return int.from_bytes(value, "little") if isinstance(value, bytes) else None


if sys.platform == "win32":
    import winreg

    def _values(key: str) -> dict[str, Value]:
        """All values of a key of the local machine; empty when it cannot be read."""
        values: dict[str, Value] = {}
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as handle:
                for index in range(winreg.QueryInfoKey(handle)[1]):
                    name, value, _ = winreg.EnumValue(handle, index)
                    if isinstance(value, str | int | bytes):
                        values[name] = value
        except OSError:
            return {}
        return values

    def _subkeys(key: str) -> list[str]:
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as handle:
                names = [
                    winreg.EnumKey(handle, index) for index in range(winreg.QueryInfoKey(handle)[0])
                ]
        except OSError:
            return []
        return [f"{key}\\{name}" for name in names if name.isdigit()]

else:

    def _values(key: str) -> dict[str, Value]:
        """There is no registry elsewhere."""
        return {}

    def _subkeys(key: str) -> list[str]:
        return []
