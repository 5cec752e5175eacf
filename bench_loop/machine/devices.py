"""The device table: one canonical name for the many spellings of a graphics processor.

A device that the table does not know keeps its own name and is marked unknown; it is never refused.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

_TABLE = Path(__file__).with_name("devices.yaml")

GPU_CLASSES = (1, 2, 3, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 72, 80, 96, 128, 192, 256)
"""Usual sizes of graphics memory in GB, for devices without sizes in the table."""

SYSTEM_CLASSES = (
    *(1, 2, 4, 6, 8, 12, 16, 18, 20, 24, 32, 36, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224),
    *(256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192),
)
"""Usual sizes of installed system memory in GB."""

# Drivers keep a little memory for themselves: this much is missing at most.
_KEPT_BY_DRIVER = 0.09

_VENDOR_WORDS = (
    ("Apple", r"\bapple\b"),
    (
        "NVIDIA",
        r"nvidia|geforce|quadro|tesla|\b[rg]tx\b|jetson|nvgpu|\b[abhl]\d{2,3}s?\b|\bgb10\b|dgx",
    ),
    ("AMD", r"\bamd\b|\bati\b|radeon|instinct|\brx \d|\bgfx\d|firepro|\bmi\d{2,3}x?\b"),
    ("Intel", r"intel|\barc\b|\biris\b|\buhd\b"),
)
# People write `4090` and `7900 XTX`.
_SERIES = ("rtx", "gtx", "rx")
_APPLE_CHIP = re.compile(r"\b(M\d+(?: (?:Pro|Max|Ultra))?)\b", re.I)
_INTEGRATED = re.compile(
    r"(?:u?hd(?: graphics)?(?: \d+)?|iris(?: (?:xe|plus|pro))?|(?:radeon )?\d{3}m|vega(?: \d+)?)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of graphics processor."""

    name: str
    """Canonical, without the vendor: RTX 4090 Laptop."""
    vendor: str | None
    memory_classes: tuple[int, ...] = ()
    """Sizes that it is sold with, in GB; empty where unified or unknown."""
    is_unified: bool = False
    """It works in the system's memory: its class is the installed memory."""
    is_known: bool = True
    """False: not in the table; the name is what the driver said."""


def find_device(raw: str) -> Device:
    """The device that a driver, a tool or a user calls `raw`."""
    vendor = vendor_of(raw)
    if vendor == "Apple" and (chip := _APPLE_CHIP.search(raw)):
        return Device(_capitalised(chip[1]), "Apple", is_unified=True)
    key = _key(raw)
    index = _index()
    for spelling in (key, *(f"{series} {key}" for series in _SERIES)):
        if spelling in index and vendor in (None, index[spelling].vendor):
            return index[spelling]
    if not key and vendor == "AMD":
        return index["igpu"]
    if vendor in ("AMD", "Intel") and _INTEGRATED.fullmatch(key):
        name = _clean(raw)
        return Device(name, vendor, is_unified=True, is_known=False)
    return Device(_clean(raw), vendor, is_known=False)


def vendor_of(raw: str) -> str | None:
    """The maker by the words of a device name; None where they do not tell."""
    text = raw.lower()
    for vendor, words in _VENDOR_WORDS:
        if re.search(words, text):
            return vendor
    return None


def gpu_class_gb(device: Device, measured_gb: float | None) -> int | None:
    """Marketing size of a GPU's own memory in GB; None where it cannot be told.

    `measured_gb` in GiB beats the table, since boards are modified; but a reading far below every
    size that the device is sold with is a counter's limit (Windows reports at most 4 GB).
    """
    sizes = device.memory_classes
    if measured_gb is None or (sizes and measured_gb < 0.5 * min(sizes)):
        return sizes[0] if len(sizes) == 1 else None
    sold = _class_of(measured_gb, sizes)
    return sold if sold is not None else _class_of(measured_gb, GPU_CLASSES) or round(measured_gb)


def system_class_gb(measured_gb: float) -> int:
    """Installed memory in GB by the GiB that the operating system shows."""
    for size in SYSTEM_CLASSES:
        if measured_gb <= size * 1.01:
            return size
    return round(measured_gb)


def _class_of(measured_gb: float, sizes: Sequence[int]) -> int | None:
    """The smallest of `sizes` that the reading fits, with what drivers keep for themselves."""
    for size in sorted(sizes):
        if size * (1 - _KEPT_BY_DRIVER) <= measured_gb <= size * 1.02:
            return size
    return None


@functools.cache
def _index() -> Mapping[str, Device]:
    index: dict[str, Device] = {}
    for line in yaml.safe_load(_TABLE.read_text(encoding="utf-8"))["devices"]:
        device = Device(
            name=line["name"],
            vendor=line["vendor"],
            memory_classes=tuple(line.get("gb", ())),
            is_unified=line.get("unified", False),
        )
        for spelling in (line["name"], *line.get("alias", ())):
            index[_key(spelling)] = device
    return index


def _key(raw: str) -> str:
    """The look-up form: lower case, without maker, brand and words that all devices share."""
    text = _clean(raw).lower()
    text = re.sub(r"\b(graphics|generation|edition|gpu|geforce|radeon|\(strix halo\))", " ", text)
    text = re.sub(r"\(.*?\)", " ", text)
    return re.sub(r"\s+", " ", text).strip(" -/")


def _clean(raw: str) -> str:
    """The name without maker, trade marks, driver notes and memory; laptops in one spelling."""
    text = re.sub(r"\((?:r|tm|c)\)|[®™]", " ", raw, flags=re.I)
    text = re.sub(r"\((?:radv|navi|llvm|nvgpu|rev|integrated)[^)]*\)", " ", text, flags=re.I)
    text = re.sub(r"\b(nvidia|corporation|amd|ati|intel|geforce)\b", " ", text, flags=re.I)
    text = re.sub(r"[,|]?\s*\d+(\.\d+)?\s*(gb|gib|mib|mb|m)\s*$", " ", text, flags=re.I)
    text = re.sub(r"\bwith max-q( design)?", "Max-Q", text, flags=re.I)
    text = re.sub(r"\blaptop gpu\b|\bmobile\b", "Laptop", text, flags=re.I)
    text = re.sub(r"\s+", " ", text).strip(" ,;|-/")
    return _spelled(text)


def _spelled(text: str) -> str:
    """Radeon is a maker's brand in front of a model word, and the name itself elsewhere."""
    return re.sub(r"^radeon (?=rx |pro |ai pro |instinct )", "", text, flags=re.I)


def _capitalised(chip: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in chip.split())
