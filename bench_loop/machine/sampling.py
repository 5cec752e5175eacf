"""Reads power and memory beside a run, in a thread of its own.

A sensor that does not answer gives no reading: gaps are for the arithmetic to judge, not zeros.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import psutil

from bench_loop.machine.nvidia import nvidia_library
from bench_loop.machine.probe import read_text
from bench_loop.machine.tool_sensors import find_amd, find_powermetrics
from bench_loop.result.records import Machine, PowerScope, PowerSource

INTERVAL_S = 0.1
"""Time between two readings of power."""
MEMORY_EVERY = 20
"""Readings of power to one of memory, which costs more and changes less."""

POWERCAP = Path("/sys/class/powercap")


class PowerSensor(Protocol):
    """A source of power readings."""

    @property
    def source(self) -> PowerSource:
        """What is read."""

    @property
    def scope(self) -> PowerScope:
        """What a reading covers."""

    @property
    def is_counter(self) -> bool:
        """Whether `read` gives joules since some moment, or the watts of this moment."""

    def read(self) -> float | None:
        """Joules or watts of everything in scope; None: no answer."""

    def close(self) -> None:
        """Give the sensor back."""


class GpuMemory(Protocol):
    """A source of readings of memory on GPUs."""

    def memory_gb(self) -> float | None:
        """Memory in use on all GPUs in GiB; None: no answer."""

    def close(self) -> None:
        """Give the sensor back."""


class Rapl:
    """The processor packages' own counters, by the kernel's powercap files."""

    source: Literal["rapl"] = "rapl"
    scope: Literal["cpu_packages"] = "cpu_packages"
    is_counter = True

    def __init__(self, packages: tuple[tuple[Path, int], ...]) -> None:
        """`packages`: folder of each, and where its counter of microjoules begins again."""
        self._packages = packages
        self._last: list[int | None] = [None] * len(packages)
        self._turned_uj = [0] * len(packages)

    def read(self) -> float | None:
        now = [_number(folder / "energy_uj") for folder, _ in self._packages]
        for index, value in enumerate(now):
            if value is None:
                return None
            last = self._last[index]
            if last is not None and value < last:
                self._turned_uj[index] += self._packages[index][1]
            self._last[index] = value
        return (sum(value or 0 for value in now) + sum(self._turned_uj)) / 1e6

    def close(self) -> None:
        """Nothing is held open."""


def find_rapl(folder: Path = POWERCAP) -> Rapl | None:
    """The counters of all packages; None where there are none, or only root may read them."""
    packages = []
    for zone in sorted(folder.glob("intel-rapl:*")):
        if not (read_text(zone / "name") or "").startswith("package"):
            continue
        span = _number(zone / "max_energy_range_uj")
        if span is None or _number(zone / "energy_uj") is None:
            return None
        packages.append((zone, span))
    return Rapl(tuple(packages)) if packages else None


def _number(file: Path) -> int | None:
    text = read_text(file) or ""
    return int(text) if text.isascii() and text.strip().isdigit() else None


class NvmlLibrary(Protocol):
    """The part of NVIDIA's management library that is used, by its own names."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None: ...  # noqa: N802
    def nvmlShutdown(self) -> None: ...  # noqa: N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: N802
    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any: ...  # noqa: N802
    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any) -> int: ...  # noqa: N802
    def nvmlDeviceGetPowerUsage(self, handle: Any) -> int: ...  # noqa: N802
    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any: ...  # noqa: N802
    def nvmlDeviceGetTemperature(self, handle: Any, sensor: int) -> int: ...  # noqa: N802
    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any: ...  # noqa: N802


class Nvml:
    """All GPUs of NVIDIA: a counter of millijoules where each has one, else milliwatts."""

    source: Literal["nvml"] = "nvml"
    scope: Literal["gpus"] = "gpus"

    def __init__(self, library: NvmlLibrary) -> None:
        """`library` is initialised. Raises its NVMLError where it lists no device."""
        self._library = library
        count = library.nvmlDeviceGetCount()
        self._handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
        self.is_counter = self._sum(library.nvmlDeviceGetTotalEnergyConsumption) is not None

    def read(self) -> float | None:
        library = self._library
        milli = self._sum(
            library.nvmlDeviceGetTotalEnergyConsumption
            if self.is_counter
            else library.nvmlDeviceGetPowerUsage
        )
        return None if milli is None else milli / 1000

    def memory_gb(self) -> float | None:
        """Memory in use on all GPUs in GiB."""
        used = self._sum(lambda handle: self._library.nvmlDeviceGetMemoryInfo(handle).used)
        return None if used is None else used / 2**30

    def free_gb(self) -> float | None:
        """Memory that is free on all GPUs in GiB."""
        free = self._sum(lambda handle: self._library.nvmlDeviceGetMemoryInfo(handle).free)
        return None if free is None else free / 2**30

    def temperature_c(self) -> float | None:
        """Of the hottest GPU, in degrees Celsius."""
        return self._most(lambda handle: self._library.nvmlDeviceGetTemperature(handle, 0))

    def load(self) -> float | None:
        """Of the busiest GPU, 0 to 1."""
        busy = self._most(lambda handle: self._library.nvmlDeviceGetUtilizationRates(handle).gpu)
        return None if busy is None else busy / 100

    def close(self) -> None:
        self._library.nvmlShutdown()

    def _most(self, ask: Callable[[Any], int]) -> float | None:
        """The highest over all GPUs; None as soon as one does not answer."""
        try:
            return float(max(ask(handle) for handle in self._handles)) if self._handles else None
        except self._library.NVMLError:
            return None

    def _sum(self, ask: Callable[[Any], int]) -> int | None:
        """The sum over all GPUs; None as soon as one does not answer."""
        try:
            return sum(ask(handle) for handle in self._handles) if self._handles else None
        except self._library.NVMLError:
            return None


def find_nvml() -> Nvml | None:
    """NVIDIA's GPUs by its driver's own library; None where it or they are missing."""
    library = nvidia_library()
    return open_nvml(library) if library is not None else None


def open_nvml(library: NvmlLibrary) -> Nvml | None:
    """The GPUs that `library` lists; None where it cannot be used."""
    try:
        library.nvmlInit()
    except library.NVMLError:
        return None
    try:
        return Nvml(library)
    except library.NVMLError:
        library.nvmlShutdown()
        return None


class SystemMemory:
    """Memory in use by everything on this machine."""

    scope: Literal["system"] = "system"

    def used_gb(self) -> float | None:
        now = psutil.virtual_memory()
        return (now.total - now.available) / 2**30


class ServerMemory:
    """Memory of a server process and of all that it started."""

    scope: Literal["server"] = "server"

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def used_gb(self) -> float | None:
        """None once the server is gone."""
        try:
            server = psutil.Process(self._pid)
            family = [server, *server.children(recursive=True)]
            return sum(process.memory_info().rss for process in family) / 2**30
        except psutil.Error:
            return None


@dataclass(slots=True)
class Samples:
    """What was read so far."""

    power: list[tuple[float, float]] = field(default_factory=list)
    """Monotonic time in seconds, and joules or watts as the sensor gives them."""
    peak_ram_gb: float | None = None
    peak_vram_gb: float | None = None


class Sampler:
    """The thread that reads. A context: it reads from its beginning to its end."""

    def __init__(
        self,
        power: PowerSensor | None,
        memory: SystemMemory | ServerMemory | None,
        gpus: GpuMemory | None = None,
        interval_s: float = INTERVAL_S,
    ) -> None:
        """`gpus` is asked for its memory, and may be `power` as well."""
        self.power = power
        self.memory = memory
        self.samples = Samples()
        self._gpus = gpus
        self._interval_s = interval_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sampling", daemon=True)

    def __enter__(self) -> Sampler:
        if self.power is not None or self.memory is not None or self._gpus is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()
        for sensor in {id(one): one for one in (self.power, self._gpus) if one}.values():
            sensor.close()

    def _work(self) -> None:
        """Read on a fixed beat: a late reading does not put off those after it."""
        began, beat = time.monotonic(), 0
        while True:
            self._read(with_memory=beat % MEMORY_EVERY == 0)
            beat = max(beat + 1, int((time.monotonic() - began) / self._interval_s))
            if self._stopped.wait(began + beat * self._interval_s - time.monotonic()):
                break
        self._read(with_memory=True)

    def _read(self, *, with_memory: bool) -> None:
        if self.power is not None and (value := self.power.read()) is not None:
            self.samples.power.append((time.monotonic(), value))
        if with_memory:
            ram = self.memory.used_gb() if self.memory else None
            vram = self._gpus.memory_gb() if self._gpus else None
            self.samples.peak_ram_gb = _higher(self.samples.peak_ram_gb, ram)
            self.samples.peak_vram_gb = _higher(self.samples.peak_vram_gb, vram)


def make_sampler(machine: Machine, server_pid: int | None) -> Sampler:
    """The sensors for a run on `machine`; none where the model runs elsewhere.

    NVIDIA's and AMD's GPUs answer for themselves, and Apple's chips as a whole; a processor's
    counter stands for the run only where no other GPU took part, or one that is part of the
    processor.
    """
    if not machine.is_local:
        return Sampler(None, None)
    memory = SystemMemory() if server_pid is None else ServerMemory(server_pid)
    if any(gpu.vendor == "NVIDIA" for gpu in machine.gpus):
        gpus = find_nvml()
        return Sampler(gpus, memory, gpus)
    if any(gpu.vendor == "Apple" for gpu in machine.gpus):
        return Sampler(find_powermetrics(), memory)
    if machine.gpus and not machine.unified_memory:
        is_amd = all(gpu.vendor == "AMD" for gpu in machine.gpus)
        cards = find_amd(len(machine.gpus)) if is_amd else None
        return Sampler(cards, memory, cards)
    return Sampler(find_rapl(), memory)


def _higher(known: float | None, new: float | None) -> float | None:
    return max((one for one in (known, new) if one is not None), default=None)
