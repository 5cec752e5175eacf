"""Machine strings from anywhere: what a tool, a list or a user reported, as GPUs with classes.

The text may be one name, rows of `nvidia-smi`, a line of an engine's log, or a CPU's name. The
memory beside it may be missing, `[N/A]`, a BIOS carve-out, a counter's limit, or a sum.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bench_loop.machine.devices import Device, find_device, memory_class_gb

_IN_GIB = {
    "gib": 1.0,
    "gb": 1.0,
    "mib": 1 / 1024,
    "mb": 1 / 1024,
    "m": 1 / 1024,
    "bytes": 1 / 2**30,
}
_SIZE = re.compile(r"(?<![\w.])(\d{1,15}(?:\.\d+)?)\s*(gib|gb|mib|mb|bytes|m)\b", re.I)
_SIZE_APART = re.compile(r"[,|:(]\s*" + _SIZE.pattern, re.I)
_BARE_MIB = re.compile(r"^\s*(\d{3,6})\s*,|,\s*(\d{3,6})\s*$")

_CPU = re.compile(
    r"epyc|xeon|threadripper|cortex-|neoverse|ampere-1|cpu implementer|\bcore\(tm\)|\bcpu\b.*@|"
    r"\bcore i\d|celeron|pentium|-core processor|\bryzen\b(?!.*radeon)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class ReportedGpu:
    """One GPU of a report."""

    name: str
    vendor: str | None
    class_gb: int | None
    """Marketing size of its memory in GB; of the installed memory where it is unified."""
    is_unified: bool
    is_known: bool


@dataclass(frozen=True, slots=True)
class Reported:
    """The GPUs that compute; none for a report of a CPU."""

    gpus: tuple[ReportedGpu, ...] = ()
    is_wsl: bool = False

    @property
    def gpu(self) -> str | None:
        """The GPUs by name, each kind once: `RTX A5000 + RTX 3090`; None: there is none."""
        return " + ".join(dict.fromkeys(gpu.name for gpu in self.gpus)) or None

    @property
    def total_class_gb(self) -> int | None:
        """The classes summed; None where one is unknown or there is no GPU."""
        sizes = [gpu.class_gb for gpu in self.gpus if gpu.class_gb is not None]
        return sum(sizes) if sizes and len(sizes) == len(self.gpus) else None


def parse_gpus(
    raw: str, memory: str | None = None, system_memory_gb: float | None = None
) -> Reported:
    """The GPUs that the text `raw` reports.

    `memory` is what was said of it apart, like `24564 MiB`; `system_memory_gb` the GiB of system
    memory that the operating system showed. Never raises; a device that is not in the table keeps
    its own name.
    """
    rows = _device_rows(raw)
    gpus: list[ReportedGpu] = []
    for row in rows:
        device = find_device(row)
        apart = memory if len(rows) == 1 else None
        size = gib_in(apart) or _row_gib(row, device)
        count = _count_by_total(device, size) if "total" in (apart or "") else 1
        share = size / count if size else None
        gpus.extend([_reported(device, share, system_memory_gb)] * count)
    discrete = tuple(gpu for gpu in gpus if not gpu.is_unified)
    return Reported(discrete or tuple(gpus), is_wsl="microsoft" in raw.lower())


def gib_in(text: str | None) -> float | None:
    """The last amount of memory in a text, in GiB; None where it names none."""
    sizes = _SIZE.findall(text or "")
    if not sizes:
        return None
    number, unit = sizes[-1]
    return float(number) * _IN_GIB[unit.lower()] or None


def _device_rows(raw: str) -> list[str]:
    """The rows that name a GPU; a text without rows is one."""
    if re.search(r"\bApple M\d", raw):
        return [raw]
    if _CPU.search(raw):
        return []
    return [row for row in raw.splitlines() if row.strip()]


def _row_gib(row: str, device: Device) -> float | None:
    """The amount in the row itself: with a unit, or bare MiB in a column of its own.

    A size inside a product's name (`GH200 480GB`) is a reading only where the table agrees.
    """
    if bare := _BARE_MIB.search(row):
        return int(bare[1] or bare[2]) / 1024
    size = gib_in(row)
    is_apart = _SIZE_APART.search(row) is not None
    if size is None or is_apart or not device.memory_classes:
        return size
    return size if round(size) in device.memory_classes else None


def _count_by_total(device: Device, total_gib: float | None) -> int:
    """How many GPUs a sum over all of them is, where the device has one size only."""
    if total_gib is None or len(device.memory_classes) != 1:
        return 1
    return max(1, min(64, round(total_gib / device.memory_classes[0])))


def _reported(device: Device, gib: float | None, system_memory_gb: float | None) -> ReportedGpu:
    size = memory_class_gb(device, gib, system_memory_gb)
    return ReportedGpu(device.name, device.vendor, size, device.is_unified, device.is_known)
