"""The device table: one canonical name for the many spellings of a graphics processor.

A device that the table does not know keeps its own name and is marked unknown; it is never refused.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_loop.safe_yaml import read_table

_TABLE = Path(__file__).with_name("devices.yaml")

LONGEST_NAME = 300
"""Characters of a name that are read."""

GPU_CLASSES = (1, 2, 3, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 72, 80, 96, 128, 192, 256)
"""Usual sizes of graphics memory in GB, for devices without sizes in the table."""

SYSTEM_CLASSES = (
    *(1, 2, 4, 6, 8, 12, 16, 18, 20, 24, 32, 36, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224),
    *(256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192),
)
"""Usual sizes of installed system memory in GB."""

# Drivers keep a little memory for themselves: this much is missing at most.
_KEPT_BY_DRIVER = 0.09

# Brands first: model numbers alone are ambiguous (A770 is Intel's, A100 NVIDIA's).
_VENDOR_WORDS = (
    ("Apple", r"\bapple\b|\bmac ?(?:book|mini|studio|pro)\b|\bimac\b"),
    ("Apple", r"^\s*m\d(?: (?:pro|max|ultra))?\s*(?:$|[(,]|\d+ ?gb)"),
    (
        "NVIDIA",
        r"nvidia|geforce|quadro|tesla|\b[rg]tx\b|jetson|nvgpu|\btegra\b|\bcmp \d+hx|\bdgx\b|"
        r"\bgb10\b|\bgrid\b",
    ),
    ("AMD", r"\bamd\b|\bati\b|radeon|instinct|\brx \d|\bgfx\d|firepro|\bnavi \d|\bryzen\b"),
    ("Intel", r"intel|\barc\b|\biris\b|\buhd\b"),
    ("Qualcomm", r"qualcomm|adreno|snapdragon"),
    ("Arm", r"\bmali\b|\bimmortalis\b"),
    ("Broadcom", r"\bv3d\b|videocore"),
    ("Imagination", r"powervr"),
    ("Moore Threads", r"moore threads|\bmtt s\d"),
    ("Huawei", r"huawei|\bascend \d"),
    ("NVIDIA", r"\b(?:a|h|l|b|gh|gb)\d{2,3}s?\b|\b[plt]4\b|\btitan\b"),
    ("AMD", r"\bmi\d{2,3}[ax]?\b"),
)

# People write `4090` and `7900 XTX`.
_SERIES = ("rtx", "gtx", "rx")
_APPLE_CHIP = re.compile(r"\b(?:M\d+(?: (?:Pro|Max|Ultra))?|A1[1-9](?: Pro)?)\b", re.I)
_INTEGRATED = re.compile(
    r"\bu?hd\b|\biris\b|(?<!rx )(?<!pro )\bvega\b(?! (?:56|64|frontier))|\b\d{3}m\b"
    r"|\bcustom \d{4}\b"
)
# Names without any number are those of integrated ones.
_UNNUMBERED = {"AMD": "igpu", "Intel": "integrated"}
# Makers of systems on a chip: their graphics processors have no memory of their own.
# Intel's drivers give numbers to what they have no name for: `Intel(R) Graphics [0x7d55]`.
_PCI_NUMBER = re.compile(r"\[0x([0-9a-f]{4})\]", re.I)
_ALWAYS_UNIFIED = frozenset({"Qualcomm", "Arm", "Broadcom", "Imagination"})
_GFX = re.compile(r"\bgfx\d+[a-f0-9]*\b", re.I)

_MAKERS = (
    r"\b(advanced micro devices(?:, inc)?|nvidia|corporation|amd|ati|intel|geforce|qualcomm|arm|"
    r"broadcom|imagination|moore threads|huawei)\b"
)

# A word behind a device's name that makes it another device.
_VARIANT = re.compile(
    r"\s*-?(?:ti|super|xtx?|gre|laptop|max-q|d|s|m|v2|ada|nvl|pcie|sxm\d?|ultra|pro|max|sff|embedded"
    r"|le|vf|vega)\b"
)

# A share of a board: a MIG instance by its profile, a virtual GPU by its type; with its GB.
_MIG = re.compile(r"\s*\bMIG\s+(\d+g\.(\d{1,3})gb(?:\+[\w.]+)?)", re.I)
# Narrow columns cut names: `NVIDIA GeForce ...`, `Tesla V100-SXM2...`.
_CUT = re.compile(r"\.\.\.|…")
_VIRTUAL = re.compile(r"-(\d{1,3})[QCAB]$", re.I)


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
    modified_classes: tuple[int, ...] = ()
    """Sizes in GB to which boards are known to be rebuilt."""
    bandwidth_gbs: float | None = None
    """Peak memory bandwidth in GB/s; None where the table has none."""
    dense_tflops: float | None = None
    """Highest published dense rate in 10^12 operations a second; None where it has none."""


def find_device(raw: str) -> Device:
    """The device that a driver, a tool or a user calls `raw`: one row of whatever lists it."""
    text = _unwrapped(raw[:LONGEST_NAME])
    if cut := _CUT.search(text):
        return _cut_off(text[: cut.start()], text[cut.end() :])
    vendor = vendor_of(text)
    if vendor == "NVIDIA" and (share := _share_of_board(text)):
        return share
    if vendor == "Apple" and (chip := _APPLE_CHIP.search(text)):
        name = chip[0].title()
        bandwidth = _table().apple.get(name)
        return Device(name, "Apple", is_unified=True, bandwidth_gbs=bandwidth)
    for key in filter(None, (_key(text), _key(_bracketed(text)))):
        unsized = re.sub(r"\s\d{1,3} ?gb\b", "", key)
        if device := _whole(key, vendor) or _whole(unsized, vendor):
            return device
        if device := _inside(key, vendor) or _inside(unsized, vendor):
            return device
        if chip_name := _shared_chip(key):
            return Device(f"{chip_name} (unresolved)", vendor or "AMD", is_known=False)
    if vendor == "Intel" and (number := _PCI_NUMBER.search(text)):
        device = device_by_pci_id("8086", number[1].lower())
        return device or Device(_clean(text), vendor, is_known=False)
    if gfx := _GFX.search(text):
        target = gfx[0].lower()
        is_unified = target in _table().unified_targets
        return Device(f"{target} (unresolved)", "AMD", is_unified=is_unified, is_known=False)
    name = _clean(text) or (vendor or "")
    if name and (name == vendor or text.strip().endswith("(unresolved)")):
        name += " (unresolved)"
    return _integrated(text, vendor) or Device(name, vendor, is_known=False)


def computes(raw: str) -> bool:
    """Whether `raw` names hardware that computes: no display adapter of a virtual machine, none
    that the processor draws for, no chip that only drives a server's monitor."""
    return _table().no_gpu.search(raw.lower()) is None


def device_by_pci_id(vendor_id: str, device_id: str, revision: str = "") -> Device | None:
    """The device that the kernel knows by numbers (lower-case hex, no 0x); None: not in the table.

    AMD gives one number to several products, which only the revision tells apart.
    """
    maker, ids = _PCI_VENDORS.get(vendor_id), _table().pci.get(vendor_id, {})
    name = ids.get(f"{device_id}-{revision}") or ids.get(device_id)
    return find_device(f"{maker} {name}") if maker and name else None


def pci_vendor(vendor_id: str) -> str | None:
    """The maker of a PCI device by its number; None for makers of no GPU that computes."""
    return _PCI_VENDORS.get(vendor_id)


_PCI_VENDORS = {"10de": "NVIDIA", "1002": "AMD", "8086": "Intel"}


def _cut_off(text: str, behind: str) -> Device:
    """The device whose name a narrow column cut: more may have followed, `Ti` or a digit."""
    whole = re.sub(r"-[^-\s]*$", "", text)
    device = find_device(f"{text} {behind}")
    if not device.is_known and whole != text:
        device = find_device(f"{whole} {behind}")
    if device.is_known and not re.search(rf"\b{re.escape(device.name)}$", text.strip(), re.I):
        return device
    vendor = vendor_of(text)
    name = _clean(text) or vendor or "GPU"
    return Device(f"{name} (unresolved)", vendor, is_known=False)


def _share_of_board(text: str) -> Device | None:
    """A MIG instance or a virtual GPU; its size is in its name."""
    if mig := _MIG.search(text):
        board = find_device(text[: mig.start()])
        name = f"{board.name} MIG {mig[1].lower()}"
        return Device(name, "NVIDIA", (int(mig[2]),), is_known=board.is_known)
    name = _clean(text)
    virtual = _VIRTUAL.search(name)
    return Device(name, "NVIDIA", (int(virtual[1]),), is_known=False) if virtual else None


def _integrated(text: str, vendor: str | None) -> Device | None:
    """A graphics processor inside a processor, known as such by its words alone."""
    key = _key(text)
    if not key and vendor in _UNNUMBERED and re.search(r"graphics|radeon", text, re.I):
        return _table().by_key[_UNNUMBERED[vendor]]
    if vendor == "AMD" and re.search(
        r"\bryzen\b.*\bradeon(?: vega)?(?: graphics)?\s*$", text, re.I
    ):
        return _table().by_key["igpu"]
    if vendor == "NVIDIA" and re.search(r"\b(?:tegra|nvgpu)\b", text, re.I):
        return Device(_clean(text), vendor, is_unified=True, is_known=False)
    if vendor == "Intel" and re.search(r"\[(?:intel )?graphics\]", text, re.I):
        return _table().by_key["integrated"]
    is_one = vendor in ("AMD", "Intel") and _INTEGRATED.search(key) is not None
    if is_one or vendor in _ALWAYS_UNIFIED:
        return Device(_clean(text), vendor, is_unified=True, is_known=False)
    return None


def _whole(key: str, vendor: str | None) -> Device | None:
    """The device whose whole name is `key`; people write `4090` and `7900 XTX` too."""
    index = _table().by_key
    for spelling in (key, *(f"{series} {key}" for series in _SERIES)):
        device = index.get(spelling)
        if device and vendor in (None, device.vendor):
            return device
    return None


def _inside(key: str, vendor: str | None) -> Device | None:
    """The device with the longest name inside `key` that no further word makes another one."""
    for spelling, device in _table().by_length:
        if device.vendor != vendor or spelling not in key:
            continue
        found = re.search(rf"(?<![\w/]){re.escape(spelling)}(?![\w/])", key)
        if not found:
            continue
        behind = key[found.end() :]
        if not _VARIANT.match(behind) and not re.search(r"\b(?:laptop|max-q)\b", behind):
            return device
    return None


def _shared_chip(key: str) -> str | None:
    """The chip whose products a list like `7700s/7600/7600s` names; None for one product."""
    chips = _table().chips
    for chip in chips:
        if re.fullmatch(rf"{chip.lower()}( (xt|xtx|xl))?", key):
            return chip
    products = {re.sub(r"^(\w+ )*(rx|radeon)\s+", "", part.strip()) for part in key.split("/")}
    if len(products) < 2:
        return None
    best = max(chips, key=lambda chip: len(products & chips[chip]))
    return best if len(products & chips[best]) >= 2 else None


def vendor_of(raw: str) -> str | None:
    """The maker by the words of a device name; None where they do not tell."""
    text = raw.lower()
    for vendor, words in _VENDOR_WORDS:
        if re.search(words, text):
            return vendor
    return None


def memory_class_gb(
    device: Device, memory_gb: float | None, system_memory_gb: float | None
) -> int | None:
    """The size in GB that a device is classed by; None where it cannot be told.

    Both amounts are GiB as shown. A unified device is classed by the installed memory: what a
    driver shows of it is a carve-out, and counts only where the system's memory is unknown.
    """
    if not device.is_unified:
        return gpu_class_gb(device, memory_gb)
    shown = system_memory_gb or memory_gb
    return system_class_gb(shown) if shown else None


def gpu_class_gb(device: Device, measured_gb: float | None) -> int | None:
    """Marketing size of a GPU's own memory in GB; None where it cannot be told.

    `measured_gb` in GiB beats the table, since boards are modified; but a reading far below every
    size that the device is sold with is a counter's limit (Windows reports at most 4 GB).
    """
    sizes = device.memory_classes
    if measured_gb is None or (sizes and measured_gb < 0.5 * min(sizes)):
        return sizes[0] if len(sizes) == 1 else None
    sold = _class_of(measured_gb, (*sizes, *device.modified_classes))
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


@dataclass(frozen=True, slots=True)
class _DeviceTable:
    """devices.yaml, for look-up by whole names and by names inside a longer text."""

    by_key: Mapping[str, Device]
    by_length: tuple[tuple[str, Device], ...]
    """Longest name first; without those that count only as the whole name."""
    chips: Mapping[str, frozenset[str]]
    apple: Mapping[str, float]
    """Memory bandwidth of Apple's chips in GB/s."""
    pci: Mapping[str, Mapping[str, str]]
    """Vendor to device, or device-revision, to name; all in lower-case hex."""
    no_gpu: re.Pattern[str]
    unified_targets: frozenset[str]
    """AMD's compiler targets of graphics inside processors."""


@functools.cache
def _table() -> _DeviceTable:
    raw = read_table(_TABLE)
    by_key: dict[str, Device] = {}
    for line in raw["devices"]:
        device = Device(
            name=line["name"],
            vendor=line["vendor"],
            memory_classes=tuple(line.get("gb", ())),
            is_unified=line.get("unified", False),
            modified_classes=tuple(line.get("modified", ())),
            bandwidth_gbs=line.get("bandwidth"),
            dense_tflops=line.get("tflops"),
        )
        for spelling in (line["name"], *line.get("alias", ())):
            by_key[_key(spelling)] = device
    telling = [pair for pair in by_key.items() if re.search(r"\d| ", pair[0])]
    # A compiler's target, which several products share, only where no product is named.
    telling.sort(key=lambda pair: (not _GFX.match(pair[0]), len(pair[0])), reverse=True)
    pci = {
        maker: {number: name for name, numbers in names.items() for number in numbers}
        for maker, names in raw["pci"].items()
    }
    chips = {chip: frozenset(map(str, products)) for chip, products in raw["chips"].items()}
    no_gpu = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, raw['no_gpu']))})(?![a-z])")
    targets = frozenset(raw["unified_targets"])
    return _DeviceTable(by_key, tuple(telling), chips, raw["apple"], pci, no_gpu, targets)


def _key(raw: str) -> str:
    """The look-up form: lower case, without makers, brands, notes and words that all share."""
    text = _plain(raw).lower()
    text = re.sub(r"\([^)]*\)", " ", text)
    text = re.sub(r"\b(graphics|generation|edition|gpu|radeon|design)\b", " ", text)
    text = re.sub(r"\[n/a\]|[\[\]]", " ", text)
    return re.sub(r"\s*/\s*", "/", re.sub(r"\s+", " ", text)).strip(" .,;|-/:+")


def _clean(raw: str) -> str:
    """The name to show for a device that is not in the table."""
    text = re.sub(r"\([^)]*\)", " ", _plain(raw))
    text = _bracketed(text) or text
    text = re.split(r"[,|\n]", text, maxsplit=1)[0]
    text = re.sub(r"\s+\d+(\.\d+)?\s*(gb|gib|mib|mb)\s*$", " ", text, flags=re.I)
    text = re.sub(r"\b(generation|edition|developer kit)\b", " ", text, flags=re.I)
    text = re.sub(r"\s*/\s*", "/", re.sub(r"\s+", " ", text)).strip(" ,;|-/:")
    # With a number in front of them, these words say nothing.
    text = re.sub(r"^(.*\d.*?)(?: (?:graphics|gpu))+$", r"\1", text, flags=re.I)
    text = re.sub(r"\bsuper\b", "SUPER", text, flags=re.I)
    # Radeon is a maker's brand in front of a series, and the name itself elsewhere.
    return re.sub(r"^radeon (?=rx |pro |ai pro |instinct |r[579] )", "", text, flags=re.I)


def _unwrapped(raw: str) -> str:
    """The device inside what a graphics library says: `D3D12 (NVIDIA ...)`, `.../PCIe/SSE2`."""
    text = re.sub(r"/(?:pcie/sse2|integrated)(?:/sse2)?\s*$", "", raw, flags=re.I)
    wrapped = re.match(r"\s*(?:d3d1[12]|zink[^(]*|angle) \((.*)\)\s*$", text, re.I)
    return wrapped[1] if wrapped else text


def _bracketed(text: str) -> str:
    """The product that lists of PCI devices put into brackets behind the chip; else empty."""
    found = re.findall(r"\[([^\[\]]*[a-z][^\[\]]*)\]", text, flags=re.I)
    return found[-1] if found and found[-1].lower() not in ("amd/ati", "n/a") else ""


def _plain(raw: str) -> str:
    """The text without row numbers, makers and trade marks; laptops in one spelling."""
    text = re.sub(
        r"^\s*(?:ggml_\w+:\s*)?(?:(?:gpu|device|cuda|rocm|hip|vulkan|sycl)\s*)?#?\d+\s*[:,=]",
        " ",
        raw,
        flags=re.I,
    )
    text = re.sub(r"\((?:r|tm|c)\)|[®™]|\bw/|^\s*mesa (?:dri )?", " ", text, flags=re.I)
    text = re.sub(_MAKERS, " ", text, flags=re.I)
    text = re.sub(r"\bwith max-q( design)?", "Max-Q", text, flags=re.I)
    text = re.sub(r"\b(?:max-q / mobile|mobile / max-q)\b", "Laptop", text, flags=re.I)
    return re.sub(r"\blaptop gpu\b|\bmobile\b", "Laptop", text, flags=re.I)
