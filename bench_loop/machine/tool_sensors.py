"""Power and memory of AMD's and Apple's chips: by the driver's files, else by the makers' tools.

Parsers take text and give figures; only the sensors below them read files or run tools.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from bench_loop.machine.probe import read_text, run_tool

DRM = Path("/sys/class/drm")
AMD_VENDOR = "0x1002"
"""AMD among the makers of PCI devices."""
ROCM_SMI = ("rocm-smi", "--showpower", "--showmeminfo", "vram", "--json")
AMD_SMI = ("amd-smi", "metric", "--power", "--mem-usage", "--json")
POWERMETRICS = ("powermetrics", "--samplers", "cpu_power,gpu_power", "-f", "plist", "-i", "200")
_ROCM_POWER = ("Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)")
_UNITS = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30}


@dataclass(frozen=True, slots=True)
class GpuReading:
    """Power of all GPUs in watts and their memory in use in GiB; None: not told."""

    watts: float | None
    memory_gb: float | None


def from_rocm_smi(text: str) -> GpuReading:
    """The JSON of ROCM_SMI. Of two dies in one package only the first tells the power of both."""
    cards = [card for name, card in _object(text).items() if name.startswith("card")]
    tables = [card for card in cards if isinstance(card, dict)]
    watts = [
        value
        for card in tables
        for value in [next(filter(None, (_figure(card.get(key)) for key in _ROCM_POWER)), None)]
    ]
    used = [_figure(card.get("VRAM Total Used Memory (B)")) for card in tables]
    return GpuReading(_sum_of_known(watts), _all_gb(used))


def from_amd_smi(text: str) -> GpuReading:
    """The JSON of AMD_SMI: a list of GPUs, in newer versions under `gpu_data`."""
    found = _json(text)
    entries = found.get("gpu_data") if isinstance(found, dict) else found
    gpus = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    watts = [_figure(_at(gpu, "power", "socket_power", "value")) for gpu in gpus]
    used = [_bytes(_at(gpu, "mem_usage", "used_vram")) for gpu in gpus]
    return GpuReading(_sum_of_known(watts), _all_gb(used))


def joules_from_powermetrics(document: bytes) -> float | None:
    """Energy of one sample of POWERMETRICS: CPU, GPU and Neural Engine. None: it tells none.

    Apple's chips give millijoules by unit, or their power together in milliwatts; Intel's the
    joules of the package. By Apple's own words the values are estimates.
    """
    # Apple's machines alone need the parser of XML.
    import plistlib
    from xml.parsers.expat import ExpatError

    try:
        sample = plistlib.loads(document.strip(b"\0\n "))
    except (ValueError, ExpatError, plistlib.InvalidFileException, OverflowError):
        return None
    processor = sample.get("processor") if isinstance(sample, dict) else None
    if not isinstance(processor, dict):
        return None
    parts = [_figure(processor.get(f"{unit}_energy")) for unit in ("cpu", "gpu", "ane")]
    if parts[0] is not None and parts[1] is not None:
        return sum(part or 0.0 for part in parts) / 1e3
    milliwatts = _figure(processor.get("combined_power"))
    elapsed_ns = _figure(sample.get("elapsed_ns"))
    if milliwatts is not None and elapsed_ns is not None:
        return milliwatts / 1e3 * elapsed_ns / 1e9
    return _figure(processor.get("package_joules"))


class AmdFiles:
    """All GPUs of AMD by the files of its Linux driver (amdgpu's hwmon): fast enough for 10 Hz."""

    source: Literal["amdgpu"] = "amdgpu"
    scope: Literal["gpus"] = "gpus"
    is_counter = False

    def __init__(self, power_files: tuple[Path, ...], memory_files: tuple[Path, ...]) -> None:
        """Files with microwatts, and with bytes in use, one of each a GPU."""
        self._power_files = power_files
        self._memory_files = memory_files

    def read(self) -> float | None:
        microwatts = _all(_figure(read_text(file)) for file in self._power_files)
        return None if microwatts is None else microwatts / 1e6

    def memory_gb(self) -> float | None:
        used = _all(_figure(read_text(file)) for file in self._memory_files)
        return None if used is None else used / 2**30

    def close(self) -> None:
        """Nothing is held open."""


class AmdTool:
    """All GPUs of AMD by `amd-smi` or `rocm-smi`, each reading a run of it.

    A tool slower than the longest gap between two readings covers nothing: then the memory is what
    it is good for, and the energy stays blank.
    """

    scope: Literal["gpus"] = "gpus"
    is_counter = False

    def __init__(self, source: Literal["amd_smi", "rocm_smi"]) -> None:
        self.source: Literal["amd_smi", "rocm_smi"] = source

    def ask(self) -> GpuReading:
        if self.source == "amd_smi":
            return from_amd_smi(run_tool(AMD_SMI) or "")
        return from_rocm_smi(run_tool(ROCM_SMI) or "")

    def read(self) -> float | None:
        return self.ask().watts

    def memory_gb(self) -> float | None:
        return self.ask().memory_gb

    def close(self) -> None:
        """Nothing is held open."""


def find_amd(count: int, folder: Path = DRM) -> AmdFiles | AmdTool | None:
    """The sensors of AMD's `count` GPUs; None where neither files nor tools tell a power.

    Where there are more, those with the most memory are meant: the others drive the display.
    """
    devices = sorted(_amd_devices(folder), key=_memory_of, reverse=True)[:count]
    power = tuple(file for device in devices for file in _power_files(device)[:1])
    if power and len(power) == count:
        sensor = AmdFiles(power, tuple(device / "mem_info_vram_used" for device in devices))
        if sensor.read() is not None:
            return sensor
    sources: tuple[Literal["amd_smi", "rocm_smi"], ...] = ("amd_smi", "rocm_smi")
    tools = (AmdTool(source) for source in sources)
    return next((tool for tool in tools if tool.read() is not None), None)


class PowerMetrics:
    """An Apple chip by a running `powermetrics`, whose samples are added up as they come."""

    source: Literal["powermetrics"] = "powermetrics"
    scope: Literal["soc"] = "soc"
    is_counter = True

    def __init__(self, command: Iterable[str] = POWERMETRICS) -> None:
        """Starts the tool. Raises OSError where it cannot be started."""
        self._joules: float | None = None
        self._tool = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        assert self._tool.stdout is not None
        self._thread = threading.Thread(
            target=self._add_up, args=(self._tool.stdout,), name="powermetrics", daemon=True
        )
        self._thread.start()

    def read(self) -> float | None:
        """Joules since the first sample; None before it, and once the tool has ended."""
        return self._joules if self._tool.poll() is None else None

    def close(self) -> None:
        self._tool.terminate()
        self._tool.wait()
        self._thread.join()
        if self._tool.stdout is not None:
            self._tool.stdout.close()

    def _add_up(self, output: IO[bytes]) -> None:
        """Samples are property lists with a NUL between them; each covers the time before it."""
        rest = b""
        while data := output.read(65536):
            *documents, rest = (rest + data).split(b"\0")
            for joules in map(joules_from_powermetrics, documents):
                if joules is not None:
                    self._joules = (self._joules or 0.0) + joules


def find_powermetrics() -> PowerMetrics | None:
    """macOS's own tool, which only root may run: nobody is asked for a password here."""
    if shutil.which(POWERMETRICS[0]) is None or os.geteuid() != 0:
        return None
    try:
        return PowerMetrics()
    except OSError:
        return None


def _amd_devices(folder: Path) -> list[Path]:
    devices = sorted(folder.glob("card*/device"))
    return [device for device in devices if read_text(device / "vendor") == AMD_VENDOR]


def _power_files(device: Path) -> list[Path]:
    names = ("power1_average", "power1_input")
    return [file for name in names for file in sorted(device.glob(f"hwmon/hwmon*/{name}"))]


def _memory_of(device: Path) -> float:
    return _figure(read_text(device / "mem_info_vram_total")) or 0.0


def _object(text: str) -> dict[str, Any]:
    value = _json(text)
    return value if isinstance(value, dict) else {}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _figure(value: Any) -> float | None:
    """A number of zero or more, also as text; None for `N/A` and everything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None


def _bytes(value: Any) -> float | None:
    """`{"value": 1234, "unit": "MB"}` in bytes."""
    figure, unit = _figure(_at(value, "value")), _at(value, "unit")
    scale = _UNITS.get(unit) if isinstance(unit, str) else None
    return None if figure is None or scale is None else figure * scale


def _sum_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _all(values: Iterable[float | None]) -> float | None:
    """The sum; None of nothing, and as soon as one is missing."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if known and len(known) == len(found) else None


def _all_gb(values: Iterable[float | None]) -> float | None:
    total = _all(values)
    return None if total is None else total / 2**30
