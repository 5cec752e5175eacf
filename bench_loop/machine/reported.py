"""Machine strings from anywhere: what a tool, a list or a user reported, as GPUs with classes.

The text may be one name, rows of `nvidia-smi`, a line of an engine's log, or a CPU's name. The
memory beside it may be missing, `[N/A]`, a BIOS carve-out, a counter's limit, or a sum.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.machine.cpu import clean_cpu_name, cpu_from_cpuinfo
from bench_loop.machine.devices import LONGEST_NAME, Device, computes, find_device, memory_class_gb
from bench_loop.machine.report_rows import rows_of

_IN_GIB = {
    "gib": 1.0,
    "gb": 1.0,
    "mib": 1 / 1024,
    "mb": 1 / 1024,
    "m": 1 / 1024,
    "kib": 1 / 2**20,
    "kb": 1 / 2**20,
    "bytes": 1 / 2**30,
}
_SIZE = re.compile(r"(?<![\w.])(\d{1,15}(?:\.\d+)?)\s*(gib|gb|mib|mb|kib|kb|bytes|m)\b", re.I)
_SIZE_NAMED = re.compile(r"\bdedicated\b[\w ]*[:=]?\s*" + _SIZE.pattern, re.I)
_SIZE_LEFT = re.compile(_SIZE.pattern + r"\s+(?:free|used|available|left)\b", re.I)
_SIZE_APART = re.compile(r"[,|:(]\s*" + _SIZE.pattern, re.I)
_BARE_MIB = re.compile(r"^\s*(\d{3,6})\s*,|,\s*(\d{3,6})\s*$")

_CPU = re.compile(
    r"epyc|xeon|threadripper|cortex-|neoverse|ampere-1|altra|graviton|oryon|kunpeng|phytium|"
    r"loongson|cpu implementer|\bcore\(tm\)|\bcpu\b.*@|\bcore i\d|\bcore ultra \d|celeron|pentium|"
    r"\bn\d{3}\b|-core processor|\bprocessor\b(?!.*(?:radeon|graphics))|snapdragon(?!.*adreno)|"
    r"virtual cpu|qemu|\bryzen\b(?!.*radeon|.*\bai max)|"
    r"\bpower\d+\b|raspberry pi|orange pi|\bradxa\b|\brockchip\b(?!.*mali)|^isa\s*:\s*rv|"
    r"^uarch\s*:|\beng sample\b",
    re.I | re.M,
)
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")
_LONGEST_TEXT = 20_000
"""Characters of a report that are read; users and tools may send anything."""
_MOST_ROWS = 64
_FAILED = re.compile(
    r"command not found|not recognized as|has failed because|failed to initialize|"
    r"no (?:cuda |rocm |vulkan )?(?:devices|gpus?)\b.*\bfound|unable to determine the device",
    re.I,
)
_NOTHING = re.compile(
    r"\W*(?:none|n/?a|null|unknown|cpu(?:[ -]only)?|no (?:dedicated )?gpus?)?\W*", re.I
)

_TIMES = r"[x×*]"
_COUNT_IN_FRONT = re.compile(
    rf"\s*\(?(?:(\d{{1,2}})\s*{_TIMES}\)?\s*(?=[a-z]|\d{{4}}\b)|(dual)\s+)(.+)", re.I | re.S
)
_COUNT_BEHIND = re.compile(
    rf"(.+?)(?:\s|(?<=\d)|\s?\()\s*{_TIMES}\s?(\d{{1,2}})\)?\s*", re.I | re.S
)
_BETWEEN_DEVICES = re.compile(r"\s+(?:\+|&|and)\s+|\s*[;,]\s+", re.I)
_BESIDE_CPU = re.compile(r"\s+(?:[+&/|]|and)\s+|\s*;\s+", re.I)
_MIG_ROW = re.compile(r"\s*(MIG \d+g\.\d+gb(?:\+\w+)?)", re.I)


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
    def vendor(self) -> str | None:
        """The makers, each once: `NVIDIA`; None: no GPU, or one whose maker is unknown."""
        vendors = dict.fromkeys(gpu.vendor or "unknown" for gpu in self.gpus)
        return " + ".join(vendors) if set(vendors) != {"unknown"} and vendors else None

    @property
    def class_gb(self) -> int | str | None:
        """The class of each GPU: one number where all are equal, else like `24+16`."""
        sizes = [gpu.class_gb for gpu in self.gpus]
        known = [size for size in sizes if size is not None]
        if not known or len(known) < len(sizes):
            return None
        is_one_kind = len({(gpu.name, gpu.class_gb) for gpu in self.gpus}) == 1
        return known[0] if is_one_kind else "+".join(map(str, known))

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
    raw = visible(raw[:_LONGEST_TEXT])
    rows = [counted(row[:LONGEST_NAME]) for row in _device_rows(raw)][:_MOST_ROWS]
    devices = [find_device(row) for _, row in rows]
    discrete_rows = [device for device in devices if not device.is_unified]
    sizes = _SIZE.findall(memory or "")
    gpus: list[ReportedGpu] = []
    for at, (count, row) in enumerate(rows):
        device = devices[at]
        is_alone = len(discrete_rows) == 1 and not device.is_unified
        apart = memory if len(rows) == 1 or is_alone or _is_each(memory, devices) else None
        if len(rows) == len(sizes) > 1:
            apart = " ".join(sizes[at])
        size = gib_in(apart) or _row_gib(row, device)
        if "total" in (apart or ""):
            count = count if count > 1 else _count_by_total(device, size)
            size = size / count if size else None
        elif size and count > 1 and _is_sum(size, count, device):
            size /= count
        gpus.extend([_reported(device, size, system_memory_gb)] * count)
    discrete = tuple(gpu for gpu in gpus if not gpu.is_unified)
    return Reported(discrete or tuple(gpus), is_wsl="microsoft" in raw.lower())


def visible(raw: str) -> str:
    """The text as it is seen: a terminal's colours, NULs of a device tree and marks without a width
    do not part words, full-width letters are letters, and a gap is no wider than it need be."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[®™©]", "", raw).replace("\0", " ")
    text = unicodedata.normalize("NFKC", plain)
    seen = (char for char in text if char in "\n\t" or unicodedata.category(char) not in _UNSEEN)
    return re.sub(r"[ \t]{9,}", " " * 8, "".join(seen))


def gib_in(text: str | None) -> float | None:
    """The last amount of memory in a text, in GiB; a bare long number is bytes; None: none."""
    if re.fullmatch(r"\s*\d{9,15}\s*", text or ""):
        text = f"{text} bytes"
    sizes = _SIZE_NAMED.findall(text or "") or _SIZE.findall(_SIZE_LEFT.sub("", text or ""))
    sizes = sizes or _SIZE.findall(text or "")
    if not sizes:
        return None
    number, unit = sizes[-1]
    return float(number) * _IN_GIB[unit.lower()] or None


def counted(text: str) -> tuple[int, str]:
    """How many of what: `2x RTX 4090`, `RTX 4090 x2`, `RTX 4090 (x2)`, `Dual RTX 4090`."""
    if front := _COUNT_IN_FRONT.fullmatch(text):
        return max(1, int(front[1] or 2)), front[3]
    if behind := _COUNT_BEHIND.fullmatch(text):
        return max(1, int(behind[2])), behind[1]
    return 1, text


def is_cpu(raw: str) -> bool:
    """Whether the text reports a processor and no graphics."""
    raw = visible(raw[:_LONGEST_TEXT])
    return _CPU.search(raw) is not None and not _device_rows(raw)


def processor_in(raw: str) -> str | None:
    """The name of the processor in a text that reports one and no graphics; else None."""
    if not is_cpu(raw):
        return None
    raw = visible(raw[:_LONGEST_TEXT])
    return cpu_from_cpuinfo(raw) or clean_cpu_name(raw.strip().partition("\n")[0])


def _device_rows(raw: str) -> list[str]:
    """The rows that name a GPU that computes; a text without rows is one."""
    if re.search(r"\bApple M\d", raw):
        return [raw]
    if _NOTHING.fullmatch(raw):
        return []
    rows = [
        row for row in _mig_instances(rows_of(raw)) if computes(row) and not _FAILED.search(row)
    ]
    if _CPU.search(raw):
        return [part for row in rows for part in _BESIDE_CPU.split(row) if _names_gpu(part)]
    return [part for row in rows for part in _devices_of(row)]


def _names_gpu(text: str) -> bool:
    """Whether a part of a report of a processor names a graphics processor too."""
    if _CPU.search(text):
        return False
    device = find_device(text)
    return device.vendor is not None and (device.is_known or device.is_unified)


def _mig_instances(rows: list[str]) -> list[str]:
    """A board cut into MIG instances is not listed itself: `nvidia-smi -L` puts them below it."""
    found: list[str] = []
    board = ""
    for row in rows:
        instance = _MIG_ROW.match(row)
        if instance is None:
            board = re.sub(r"\(UUID.*", "", row)
            found.append(row)
            continue
        if found and found[-1].startswith(board):
            found.pop()
        found.append(f"{instance[1]} of {board}")
    return [re.sub(r"^(MIG \S+) of (.*)", r"\2 \1", row) for row in found]


def _devices_of(row: str) -> list[str]:
    """The devices that a person lists in one row; each must be one of the table's boards."""
    parts = _BETWEEN_DEVICES.split(row)
    devices = [find_device(counted(part)[1]) for part in parts]
    is_list = all(device.is_known and not device.is_unified for device in devices)
    return parts if len(parts) > 1 and is_list else [row]


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


def _is_each(memory: str | None, devices: Sequence[Device]) -> bool:
    """Whether one amount beside several rows of one board is that of each: it is sold so."""
    gib = gib_in(memory)
    return gib is not None and len(set(devices)) == 1 and round(gib) in devices[0].memory_classes


def _is_sum(gib: float, count: int, device: Device) -> bool:
    """Whether an amount beside several boards is theirs together: no board has that much."""
    sizes = device.memory_classes
    return bool(sizes) and gib > 1.02 * max(sizes) and gib <= 1.02 * count * max(sizes)


def _count_by_total(device: Device, total_gib: float | None) -> int:
    """How many GPUs a sum over all of them is, where the device has one size only."""
    if total_gib is None or len(device.memory_classes) != 1:
        return 1
    return max(1, min(64, round(total_gib / device.memory_classes[0])))


def _reported(device: Device, gib: float | None, system_memory_gb: float | None) -> ReportedGpu:
    size = memory_class_gb(device, gib, system_memory_gb)
    return ReportedGpu(device.name, device.vendor, size, device.is_unified, device.is_known)
