"""Linux, WSL2 and containers: `/proc`, `/sys`, NVML, and the makers' tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from bench_loop.machine.cpu import cpu_from_cpuinfo
from bench_loop.machine.gpus import (
    gpu_record,
    gpus_from_lspci,
    gpus_from_nvidia_smi,
    gpus_from_rocm_smi,
)
from bench_loop.machine.nvidia import nvidia_library
from bench_loop.machine.probe import read_text, run_tool
from bench_loop.result.records import Gpu

_AMD_VENDOR = "0x1002"


def cpu_model() -> str | None:
    """The processor's name, from `/proc/cpuinfo`."""
    return cpu_from_cpuinfo(read_text("/proc/cpuinfo") or "")


def system_memory_gb() -> float | None:
    """Installed memory in GiB, or the container's limit where that is less."""
    installed = memory_from_meminfo(read_text("/proc/meminfo") or "")
    limit = memory_limit(read_text("/sys/fs/cgroup/memory.max") or "")
    known = [size for size in (installed, limit) if size is not None]
    return min(known, default=None)


def operating_system() -> str | None:
    """The distribution's own name and version, marked where it runs inside WSL2."""
    name = os_from_release(read_text("/etc/os-release") or "")
    kernel = read_text("/proc/sys/kernel/osrelease") or ""
    return with_wsl(name or "Linux", kernel)


def gpus(system_memory: float | None) -> tuple[Gpu, ...]:
    """Every GPU that a driver shows; the PCI list only where no driver shows any."""
    nvidia = (
        _jetson(system_memory)  # its driver says Orin of every module
        or _nvml_gpus(system_memory)
        or _from_tool(_NVIDIA_SMI, gpus_from_nvidia_smi, system_memory)
    )
    amd = _from_tool(_ROCM_SMI, gpus_from_rocm_smi, system_memory) or amd_cards(
        Path("/sys/class/drm"), system_memory
    )
    found = nvidia + amd
    return found or _from_tool(["lspci", "-mm"], gpus_from_lspci, system_memory)


_NVIDIA_SMI = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
_ROCM_SMI = ["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json"]


def memory_from_meminfo(text: str) -> float | None:
    """`MemTotal` of `/proc/meminfo` in GiB."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, re.M)
    return round(int(found[1]) / 2**20, 2) if found and int(found[1]) else None


def memory_limit(text: str) -> float | None:
    """A cgroup's `memory.max` in GiB; None for `max`, which is no limit."""
    return round(int(text) / 2**30, 2) if text.strip().isdigit() and int(text) else None


def os_from_release(text: str) -> str | None:
    """`PRETTY_NAME` of `/etc/os-release`."""
    found = re.search(r"^PRETTY_NAME=(.*)$", text, re.M)
    return found[1].strip().strip("\"'") or None if found else None


def with_wsl(name: str, kernel: str) -> str:
    """The name with `(WSL2)` behind it where the kernel is Microsoft's."""
    return f"{name} (WSL2)" if "microsoft" in kernel.lower() else name


def jetson_from_device_tree(text: str) -> str | None:
    """The module named by a device tree's `model`: `Jetson Orin Nano`; None on other boards."""
    found = re.search(r"Jetson (?:AGX )?(?:Orin|Xavier|Thor)(?: (?:Nano|NX))?", text)
    return found[0] if found else None


def _from_tool(
    command: list[str],
    parse: Callable[[str, float | None], tuple[Gpu, ...]],
    system_memory: float | None,
) -> tuple[Gpu, ...]:
    text = run_tool(command)
    return parse(text, system_memory) if text else ()


def _nvml_gpus(system_memory: float | None) -> tuple[Gpu, ...]:
    """By NVIDIA's own library; nothing where it, its driver or a device is missing."""
    nvml = nvidia_library()
    if nvml is None:
        return ()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return ()
    try:
        handles = map(nvml.nvmlDeviceGetHandleByIndex, range(nvml.nvmlDeviceGetCount()))
        return tuple(_nvml_gpu(nvml, handle, system_memory) for handle in handles)
    except nvml.NVMLError:
        return ()
    finally:
        nvml.nvmlShutdown()


def _nvml_gpu(nvml: ModuleType, handle: object, system_memory: float | None) -> Gpu:
    name = nvml.nvmlDeviceGetName(handle)
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle).total / 2**30
    except nvml.NVMLError:
        memory = None  # unified memory: the driver has no number of its own
    text = name.decode() if isinstance(name, bytes) else str(name)
    return gpu_record(text, memory, system_memory_gb=system_memory)


def _jetson(system_memory: float | None) -> tuple[Gpu, ...]:
    module = jetson_from_device_tree(read_text("/proc/device-tree/model") or "")
    return (gpu_record(module, None, system_memory_gb=system_memory),) if module else ()


def amd_cards(folder: Path, system_memory: float | None) -> tuple[Gpu, ...]:
    """AMD's cards by the kernel's own files; `folder` is `/sys/class/drm`."""
    found = []
    for card in sorted(folder.glob("card[0-9]*")):
        device = card / "device"
        if "-" in card.name or read_text(device / "vendor") != _AMD_VENDOR:
            continue
        total = read_text(device / "mem_info_vram_total") or ""
        size = int(total) / 2**30 if total.isdigit() else None
        number = (read_text(device / "device") or "unknown").removeprefix("0x")
        name = read_text(device / "product_name") or f"AMD PCI 1002:{number}"
        found.append(gpu_record(name, size, system_memory_gb=system_memory))
    return tuple(found)
