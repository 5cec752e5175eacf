"""Linux, WSL2 and containers: `/proc`, `/sys`, NVML, and the makers' tools."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from bench_loop.machine.cpu import cpu_from_cpuinfo
from bench_loop.machine.devices import device_by_pci_id, pci_vendor
from bench_loop.machine.gpus import (
    gpu_record,
    gpus_from_amd_smi,
    gpus_from_lspci,
    gpus_from_nvidia_smi,
    gpus_from_rocm_smi,
)
from bench_loop.machine.probe import Host
from bench_loop.result.records import Gpu

_DEVICE_TREE = "/proc/device-tree/model"
_PCI = "/sys/bus/pci/devices"
_DRM = "/sys/class/drm"
_CGROUP = "/sys/fs/cgroup"

_QUERY = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
# WSL2 keeps the tool of the Windows driver outside the usual folders.
_NVIDIA_SMI = (["nvidia-smi", *_QUERY], ["/usr/lib/wsl/lib/nvidia-smi", *_QUERY])
_AMD_SMI = ["amd-smi", "static", "--asic", "--vram", "--json"]
_ROCM_SMI = ["rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json"]

# A processor's own graphics has this place on every board of Intel's.
_INTEL_INTEGRATED = "0000:00:02.0"
# Containers of the first generation of cgroups have this where there is no limit.
_NO_LIMIT = 2**62


def cpu_model(host: Host) -> str | None:
    """The processor's name, from `/proc/cpuinfo`; of an Apple chip from the device tree."""
    if chip := apple_from_device_tree(host.read(_DEVICE_TREE) or ""):
        return f"Apple {chip}"
    return cpu_from_cpuinfo(host.read("/proc/cpuinfo") or "")


def system_memory_gb(host: Host) -> float | None:
    """Installed memory in GiB, or the container's limit where that is less."""
    installed = memory_from_meminfo(host.read("/proc/meminfo") or "")
    limits = (
        memory_limit(host.read(f"{_CGROUP}/{file}") or "")
        for file in ("memory.max", "memory/memory.limit_in_bytes")
    )
    known = [size for size in (installed, *limits) if size is not None]
    return min(known, default=None)


def cpu_limit(host: Host) -> int | None:
    """How many processors a container may use, rounded up; None: no limit."""
    quota, _, period = (host.read(f"{_CGROUP}/cpu.max") or "").partition(" ")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None
    return max(1, math.ceil(int(quota) / int(period)))


def operating_system(host: Host) -> str | None:
    """The distribution's own name and version, marked where it runs inside WSL2."""
    name = os_from_release(host.read("/etc/os-release") or "")
    kernel = host.read("/proc/sys/kernel/osrelease") or host.read("/proc/version") or ""
    return with_wsl(name or "Linux", kernel)


def gpus(host: Host, system_memory: float | None) -> tuple[Gpu, ...]:
    """Every GPU that a driver or a maker's tool shows, then those that only the PCI bus does."""
    shown = _nvidia(host, system_memory) + _amd(host, system_memory)
    makers = {gpu.vendor for gpu in shown}
    found = shown + tuple(gpu for gpu in pci_gpus(host, system_memory) if gpu.vendor not in makers)
    return found or _from_tool(host, ["lspci", "-mm"], gpus_from_lspci, system_memory)


def memory_from_meminfo(text: str) -> float | None:
    """`MemTotal` of `/proc/meminfo` in GiB."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, re.M)
    return round(int(found[1]) / 2**20, 2) if found and int(found[1]) else None


def memory_limit(text: str) -> float | None:
    """A cgroup's memory limit in GiB; None for `max` and for absurd numbers, which are no limit."""
    digits = text.strip()
    if not digits.isdigit() or not 0 < int(digits) < _NO_LIMIT:
        return None
    return round(int(digits) / 2**30, 2)


def os_from_release(text: str) -> str | None:
    """`PRETTY_NAME` of `/etc/os-release`."""
    found = re.search(r"^PRETTY_NAME=(.*)$", text, re.M)
    return found[1].strip().strip("\"'") or None if found else None


def with_wsl(name: str, kernel: str) -> str:
    """The name with `(WSL2)` behind it where the kernel is Microsoft's."""
    return f"{name} (WSL2)" if "microsoft" in kernel.lower() else name


def jetson_from_device_tree(text: str) -> str | None:
    """The module named by a device tree's `model`: `Jetson Orin Nano`; None on other boards."""
    found = re.search(r"Jetson (?:AGX )?(?:Orin|Xavier|Thor|Nano|TX2)(?: (?:Nano|NX))?", text)
    return found[0] if found else None


def apple_from_device_tree(text: str) -> str | None:
    """The chip of a Mac under Linux: `M1 Max` of `Apple MacBook Pro (14-inch, M1 Max, 2021)`."""
    found = re.search(r"^Apple .*\b(M\d+(?: (?:Pro|Max|Ultra))?)\b", text)
    return found[1] if found else None


def pci_gpus(host: Host, system_memory: float | None) -> tuple[Gpu, ...]:
    """The graphics processors on the PCI bus by their numbers; their memory where the kernel says.

    Where a container hides the bus, the kernel's list of display cards has the same folders.
    """
    folders = [
        folder
        for folder in host.folders(_PCI)
        if (host.read(f"{folder}/class") or "").startswith("0x03")
    ] or [
        f"{card}/device"
        for card in host.folders(_DRM)
        if re.fullmatch(r"card\d+", card.rpartition("/")[2])
    ]
    found = (_pci_gpu(host, folder, system_memory) for folder in folders)
    return tuple(gpu for gpu in found if gpu is not None)


def _pci_gpu(host: Host, folder: str, system_memory: float | None) -> Gpu | None:
    vendor, number, revision = (
        (host.read(f"{folder}/{file}") or "").removeprefix("0x")
        for file in ("vendor", "device", "revision")
    )
    maker = pci_vendor(vendor)
    if maker is None:
        return None
    device = device_by_pci_id(vendor, number, revision)
    if device is not None:
        name = device.name
    elif maker == "Intel" and folder.endswith(_INTEL_INTEGRATED):
        name = "Graphics"
    else:
        name = host.read(f"{folder}/product_name") or f"PCI {vendor}:{number or 'unknown'}"
    total = host.read(f"{folder}/mem_info_vram_total") or ""
    size = int(total) / 2**30 if total.isdigit() else None
    return gpu_record(f"{maker} {name}", size, system_memory_gb=system_memory)


def _nvidia(host: Host, system_memory: float | None) -> tuple[Gpu, ...]:
    module = jetson_from_device_tree(host.read(_DEVICE_TREE) or "")
    if module:  # the driver says Orin of every module
        return (gpu_record(f"NVIDIA {module}", None, system_memory_gb=system_memory),)
    boards = tuple(
        gpu_record(name, memory, system_memory_gb=system_memory) for name, memory in host.boards()
    )
    if boards:
        return boards
    shown = (_from_tool(host, tool, gpus_from_nvidia_smi, system_memory) for tool in _NVIDIA_SMI)
    return next(filter(None, shown), ())


def _amd(host: Host, system_memory: float | None) -> tuple[Gpu, ...]:
    return _from_tool(host, _AMD_SMI, gpus_from_amd_smi, system_memory) or _from_tool(
        host, _ROCM_SMI, gpus_from_rocm_smi, system_memory
    )


def _from_tool(
    host: Host,
    command: list[str],
    parse: Callable[[str, float | None], tuple[Gpu, ...]],
    system_memory: float | None,
) -> tuple[Gpu, ...]:
    text = host.run(command)
    return parse(text, system_memory) if text else ()
