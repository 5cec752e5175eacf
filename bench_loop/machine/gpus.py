"""GPUs in the words of the tools that list them: text in, records out. Nothing here runs a tool."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from bench_loop.machine.devices import computes, find_device
from bench_loop.result.records import Gpu

_MIB_PER_GIB = 1024


def gpu_record(name: str, memory_gb: float | None, *, system_memory_gb: float | None = None) -> Gpu:
    """One GPU by the driver's name and its own memory in GiB.

    A unified device's memory is the system's: what the driver shows of it is a carve-out.
    """
    device = find_device(name)
    memory = system_memory_gb if device.is_unified else memory_gb
    return Gpu(
        model=device.name or name.strip() or "unknown",
        vendor=device.vendor,
        memory_gb=round(memory, 2) if memory else None,
    )


def gpus_from_nvidia_smi(text: str, system_memory_gb: float | None = None) -> tuple[Gpu, ...]:
    """Lines of `nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits`.

    Memory in MiB; `[N/A]` on devices with unified memory.
    """
    gpus = []
    for line in text.splitlines():
        name, _, memory = line.rpartition(",")
        if not name.strip():
            continue
        digits = re.match(r"\s*(\d+)", memory)
        size = int(digits[1]) / _MIB_PER_GIB if digits else None
        gpus.append(gpu_record(name.strip(), size, system_memory_gb=system_memory_gb))
    return tuple(gpus)


def gpus_from_rocm_smi(text: str, system_memory_gb: float | None = None) -> tuple[Gpu, ...]:
    """The JSON of `rocm-smi --showproductname --showmeminfo vram --json`."""
    cards = _json_object(text)
    gpus = []
    for key in sorted(cards):
        card = cards[key]
        if not key.startswith("card") or not isinstance(card, dict):
            continue
        name = next((str(card[k]) for k in _ROCM_NAMES if _is_name(card.get(k))), "AMD GPU")
        total = str(card.get("VRAM Total Memory (B)"))
        size = int(total) / 2**30 if total.isdigit() else None
        gpus.append(gpu_record(_as_amd(name), size, system_memory_gb=system_memory_gb))
    return tuple(gpus)


_ROCM_NAMES = (
    "Card Series",
    "Card series",
    "Device Name",
    "Card Model",
    "Card model",
    "GFX Version",
)


def gpus_from_amd_smi(text: str, system_memory_gb: float | None = None) -> tuple[Gpu, ...]:
    """The JSON of `amd-smi static --asic --vram --json`: a list, in newer versions in an object.

    Its names may be a chip's or missing; then the target (`gfx1100`) says what is known.
    """
    gpus = []
    for card in json_rows(text, "gpu_data"):
        asic, vram = _object(card.get("asic")), _object(card.get("vram"))
        names = (asic.get(key) for key in ("market_name", "target_graphics_version"))
        name = next((str(name) for name in names if _is_name(name)), None)
        if name is None:
            continue
        size = _object(vram.get("size"))
        memory = _gib(f"{size.get('value')} {size.get('unit')}")
        gpus.append(gpu_record(_as_amd(name), memory, system_memory_gb=system_memory_gb))
    return tuple(gpus)


def gpus_from_wmi(
    rows: Iterable[dict[str, Any]], system_memory_gb: float | None = None
) -> tuple[Gpu, ...]:
    """Rows of `Win32_VideoController`. `AdapterRAM` ends at 4 GB: more is unknown."""
    gpus = []
    for row in rows:
        name, size = row.get("Name"), row.get("AdapterRAM")
        if not _is_name(name) or not computes(str(name)):
            continue
        is_true = isinstance(size, int) and 0 < size < _WMI_LIMIT
        memory = int(size or 0) / 2**30 if is_true else None
        gpus.append(gpu_record(str(name), memory, system_memory_gb=system_memory_gb))
    return tuple(gpus)


_WMI_LIMIT = 4_290_000_000
"""Bytes: the counter has 32 bits, and drivers stop a little below its end."""


def gpus_from_system_profiler(text: str, system_memory_gb: float | None = None) -> tuple[Gpu, ...]:
    """The JSON of macOS's `system_profiler SPDisplaysDataType -json`."""
    displays = _json_object(text).get("SPDisplaysDataType")
    gpus = []
    for display in displays if isinstance(displays, list) else []:
        if not isinstance(display, dict):
            continue
        name = display.get("sppci_model") or display.get("_name")
        if not name or not computes(str(name)):
            continue
        memory = _gib(str(display.get("spdisplays_vram") or display.get("_spdisplays_vram") or ""))
        gpus.append(gpu_record(str(name), memory, system_memory_gb=system_memory_gb))
    return tuple(gpus)


def gpus_from_lspci(text: str, system_memory_gb: float | None = None) -> tuple[Gpu, ...]:
    """The lines of `lspci -mm` for display controllers; memory is unknown.

    The marketing name stands in brackets: `"AD102 [GeForce RTX 4090]"`.
    """
    gpus = []
    for line in text.splitlines():
        fields = re.findall(r'"([^"]*)"', line)
        if len(fields) < 3 or not re.search(r"VGA|3D|Display", fields[0]):
            continue
        maker, chip = fields[1], fields[2]
        if not computes(f"{maker} {chip}"):
            continue
        if not re.search(r"nvidia|amd|ati|intel", maker, re.I):
            continue
        bracketed = re.search(r"\[([^\]]+)\]", chip)
        short = "AMD" if re.search(r"amd|\bati\b", maker, re.I) else maker.split()[0]
        name = f"{short} {bracketed[1] if bracketed else chip}"
        gpus.append(gpu_record(name, None, system_memory_gb=system_memory_gb))
    return tuple(gpus)


def computing(gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """The GPUs that compute: an integrated one beside a discrete one only drives the display."""
    found = tuple(gpus)
    discrete = tuple(gpu for gpu in found if not is_unified(gpu))
    return discrete or found


def is_unified(gpu: Gpu) -> bool:
    """Whether the device works in the system's memory."""
    return find_device(f"{gpu.vendor or ''} {gpu.model}").is_unified


def _as_amd(name: str) -> str:
    return name if re.search(r"amd|radeon|instinct", name, re.I) else f"AMD {name}"


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() not in ("", "n/a", "unknown")


def _gib(text: str) -> float | None:
    """`8 GB` or `1536 MB` in GiB."""
    found = re.match(r"\s*(\d+(?:\.\d+)?)\s*(GB|MB)", text, re.I)
    if not found:
        return None
    value = float(found[1])
    return value if found[2].upper() == "GB" else value / _MIB_PER_GIB


def json_rows(text: str, name: str = "") -> list[dict[str, Any]]:
    """The objects of a JSON list, of the list `name` inside an object, or the one object alone."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, dict):
        value = value.get(name, [value])
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
