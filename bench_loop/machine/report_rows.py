"""Reports of tools as rows, one device each: tables and blocks of lines, brought into one form.

A row is a device's name and, where the report has one, its memory behind a comma. What no rule
knows stays as it is, line by line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence

from bench_loop.machine.devices import find_device

Lines = Sequence[str]

# One GPU of the table of `nvidia-smi`: its number and name, and its memory one line below.
_SMI_NAME = re.compile(
    r"^\|\s*\d+\s+(\S.*?)\s+(?:on|off|n/a|tcc|wddm|mcdm)\s*\|\s*[0-9a-f]{4,8}:", re.I
)
_SMI_MEMORY = re.compile(r"\d+MiB\s*/\s*(\d+)MiB\s*\|", re.I)

_PCI_ROW = re.compile(r"^\s*(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\s", re.I)
_PCI_GRAPHICS = re.compile(
    r"\b(?:vga compatible|3d|display) controller|processing accelerators", re.I
)

_ONEAPI_ROW = re.compile(r"^\s*\[(\w+):(\w+)(?::\d+)?\]")
_CUDA_PROPERTIES = re.compile(r"Properties\(.*?\bname='([^']+)'(?:.*?\btotal_memory=(\d+)MB)?")
_USED_DEVICE = re.compile(r"\busing device \w+ \((.+)\) - (\d+ MiB) free")
# A head of `nvidia-smi --format=csv`.
_CSV_HEAD = re.compile(r"\s*(?:[a-z_.]+(?: \[\w+\])?(?:,\s*|\s*$)){2,}")
_SAME_NUMBERS = re.compile(r"^\s*GPU (\d+(?:,\d+)+):\s*(\S.*)")
_WMI_HEAD = re.compile(r"\s*(?:[A-Z][A-Za-z]*[\s,]+)*AdapterRAM\b[A-Za-z,\s]*")

_PAIR = re.compile(r"^[\s|]*([A-Za-z][\w ./()#%-]{0,40}?)\s*(?::(?:\s|$)|=)\s*(.*?)[\s|]*$")
# What tools call a device's name, the most telling first.
_NAMES = (
    *("marketing name", "market_name", "product name", "product_name", "chipset model"),
    *("card name", "card series", "card model", "devicename", "device name", "gpu name"),
    *("product", "gpu model", "model name", "model", "name", "caption", "description"),
    *("chip type", "gpu"),
)
_NUMBERED = re.compile(r"(?:gpu|device|card|cuda|rocm|vulkan|sycl)[ -]?\d+")
_MEMORY = re.compile(
    r"(?:adapterram|.*qwmemorysize|dedicated (?:video )?memory|(?:total )?vram(?: \(.*\))?|"
    r"vram total memory.*|(?:gpu|global|total|video) memory(?: size)?|memory(?: |\.|_)total|"
    r"size|total|total_memory)"
)
_NO_GPU_BLOCK = re.compile(r"cpu|.*_type_cpu")

_LONGEST_LINE = 2000
"""Characters of a line that are read: no tool writes as many, and rules take time for each."""


def rows_of(report: str) -> list[str]:
    """The rows of a report that may name a device."""
    lines = [line[:_LONGEST_LINE] for line in report.splitlines() if line.strip()]
    for read in _READERS:
        found = read(lines)
        if found is not None:
            return found
    return [_row_of(line) for line in lines if not _WMI_HEAD.fullmatch(line)]


def _row_of(line: str) -> str:
    if said := _CUDA_PROPERTIES.search(line):
        return _row(said[1], f"{said[2]} MB" if said[2] else None)
    if used := _USED_DEVICE.search(line):
        return _row(used[1], used[2])
    if several := _SAME_NUMBERS.match(line):
        return f"{several[1].count(',') + 1}x {several[2]}"
    return line


def _smi_table(lines: Lines) -> list[str] | None:
    rows: list[str] = []
    for line in lines:
        memory = _SMI_MEMORY.search(line)
        if name := _SMI_NAME.match(line):
            rows.append(name[1])
        elif memory and rows and "," not in rows[-1]:
            rows[-1] = _row(rows[-1], f"{memory[1]} MiB")
    return rows or None


def _pci_list(lines: Lines) -> list[str] | None:
    """`lspci` with anything behind it: only the rows of graphics, without what explains them."""
    if not any(map(_PCI_ROW.match, lines)):
        return None
    return [line for line in lines if _PCI_ROW.match(line) and _PCI_GRAPHICS.search(line)]


def _oneapi_list(lines: Lines) -> list[str] | None:
    """`sycl-ls`: each GPU once for each backend; the rows of the first backend that has one."""
    marks = [(mark, line) for line in lines if (mark := _ONEAPI_ROW.match(line))]
    if not marks:
        return None
    backend = next((mark[1] for mark, _ in marks if mark[2] == "gpu"), None)
    named = [line for mark, line in marks if mark[1] == backend and mark[2] == "gpu"]
    return [
        re.sub(
            r"\s+(?:\d+(?:\.\d+)+|OpenCL \d.*)?\s*(?:\[[\w.+]+\])?$", "", line.split(", ", 1)[-1]
        )
        for line in named
    ]


def _inference_log(lines: Lines) -> list[str] | None:
    """Ollama's log: the devices that it computes with, not those that it passed over."""
    return [line for line in lines if 'msg="inference compute"' in line] or None


def _csv_table(lines: Lines) -> list[str] | None:
    """`nvidia-smi --query-gpu=name,... --format=csv` with its head."""
    if not lines or not _CSV_HEAD.fullmatch(lines[0]):
        return None
    head = [re.sub(r" \[\w+\]", "", column.strip()) for column in lines[0].split(",")]
    if "name" not in head:
        return None
    rows: list[str] = []
    for line in lines[1:]:
        told = dict(zip(head, (cell.strip() for cell in line.split(",")), strict=False))
        memory = told.get("memory.total")
        if memory and memory.isdecimal():
            memory += " MiB"
        rows.append(_row(told.get("name", line), memory))
    return rows


def _rocm_table(lines: Lines) -> list[str] | None:
    """`rocm-smi --csv`, with its head or without."""
    cards = [next(csv.reader([line])) for line in lines if re.match(r"card\d+,", line)]
    return [_rocm_row(fields) for fields in cards] or None


def _rocm_row(fields: list[str]) -> str:
    amounts = [int(field) for field in fields if re.fullmatch(r"\d{7,15}", field)]
    words = [
        field
        for field in fields[1:]
        if re.search(r"[A-Za-z]", field) and not re.match(r"N/A$|0x|.*\[AMD/ATI\]", field)
    ]
    return _row(
        _best([f"AMD {word}" for word in words]), f"{max(amounts)} bytes" if amounts else None
    )


def _blocks(lines: Lines) -> list[str] | None:
    """Lines of `key: value`, with one block for each device: `rocminfo`, `nvidia-smi -q`, dxdiag.

    A block ends where a key that names a device comes again.
    """
    lines = [re.sub(r"^\s*GPU\[\d+\]\s*:\s*", "", line) for line in lines]
    said = [pair for line in lines if (pair := _PAIR.match(line))]
    # Behind the instances of a board stands nothing but their numbers.
    pairs = [(pair[1].lower(), pair[2]) for pair in said if not pair[2].startswith("(UUID")]
    names = [key for key, value in pairs if _is_name(key) and value]
    if not names or not any(not _is_name(key) for key, _ in pairs):
        return None
    blocks: list[list[tuple[str, str]]] = [[]]
    first = names[0]
    for key, value in pairs:
        starts = key == first or (_NUMBERED.fullmatch(key) is not None)
        if starts and any(_is_name(own) for own, _ in blocks[-1]):
            blocks.append([])
        blocks[-1].append((key, value))
    told = [row for block in blocks if (row := _block_row(block))]
    drawn = re.search(r"\bw/ (Radeon \d{3,4}[MS])\b", "\n".join(lines))
    return [_with_companion(row, drawn[1] if drawn else None) for row in told]


def _is_name(key: str) -> bool:
    return key in _NAMES or _NUMBERED.fullmatch(key) is not None


def _is_word(value: str) -> bool:
    return re.search("[A-Za-z]", value) is not None and not re.fullmatch(r"0x[0-9a-f]+", value)


def _block_row(block: list[tuple[str, str]]) -> str | None:
    if any(_NO_GPU_BLOCK.fullmatch(value.lower()) for key, value in block if not _is_name(key)):
        return None
    named = [(key, value) for key, value in block if _is_name(key) and _is_word(value)]
    named.sort(key=lambda pair: _NAMES.index(pair[0]) if pair[0] in _NAMES else -1)
    makers = " ".join(value for key, value in block if key.endswith(("vendor", "vendor name")))
    maker = re.search(r"nvidia|amd|intel|apple", makers, re.I)
    # inxi tells the driver in the same line.
    values = [re.split(r"\s(?:driver|vendor): ", value)[0] for _, value in named]
    if not values:
        return maker[0] if maker else None
    if maker:
        values = [value if find_device(value).vendor else f"{maker[0]} {value}" for value in values]
    memory = next((value for key, value in block if _MEMORY.fullmatch(key) and value), None)
    return _row(_best(values), memory)


def _with_companion(row: str, drawn_by_cpu: str | None) -> str:
    """A compiler's target alone is the graphics that the processor beside it names."""
    if drawn_by_cpu and find_device(row).name.endswith(("(unresolved)", "iGPU")):
        return re.sub(r"^[^,]*", f"AMD {drawn_by_cpu}", row)
    return row


def _best(names: list[str]) -> str:
    """The name that says most of a device that has several."""

    def rank(name: str) -> tuple[bool, bool]:
        device = find_device(name)
        is_target = device.name.startswith("gfx") or device.name.endswith("iGPU")
        return (not (device.is_known or device.is_unified), is_target)

    return min(names, key=lambda name: (*rank(name), "unresolved" not in find_device(name).name))


def _row(name: str, memory: str | None) -> str:
    """A device with its memory as a tool says it: `16760832(0xffc000) KB`, bare bytes."""
    if memory is None:
        return name
    amount = re.sub(r"\(0x[0-9a-f]+\)", "", memory)
    if re.fullmatch(r"\s*\d{8,15}\s*", amount):
        amount = f"{amount.strip()} bytes"
    return f"{name}, {amount}"


_READERS: tuple[Callable[[Lines], list[str] | None], ...] = (
    _smi_table,
    _pci_list,
    _oneapi_list,
    _inference_log,
    _csv_table,
    _rocm_table,
    _blocks,
)
