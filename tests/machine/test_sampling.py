"""Sensors and the thread that reads them. NVIDIA's library is a synthetic one here."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from bench_loop.machine.sampling import (
    Nvml,
    Sampler,
    ServerMemory,
    SystemMemory,
    find_rapl,
    make_sampler,
    open_nvml,
)
from tests.look import samples


class DriverError(Exception):
    """What the synthetic library raises."""


@dataclass
class Library:
    """NVIDIA's library with cards that answer from a list: synthetic, not recorded."""

    watts: tuple[float, ...] = (50.0,)
    has_counter: bool = True
    has_driver: bool = True
    closed: int = 0
    joules: list[float] = field(default_factory=lambda: [1000.0, 3000.0])
    NVMLError: type[Exception] = DriverError

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.has_driver:
            raise DriverError

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.closed += 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.watts)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:  # noqa: N802
        if not self.has_counter:
            raise DriverError
        return int(self.joules[handle] * 1000)

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:  # noqa: N802
        return int(self.watts[handle] * 1000)

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:  # noqa: N802
        return SimpleNamespace(total=24 * 2**30, used=(handle + 1) * 2**30)


def test_the_energy_counters_of_all_cards_are_added() -> None:
    sensor = Nvml(Library(watts=(50.0, 60.0)))
    assert (sensor.is_counter, sensor.read()) == (True, 4000.0)


def test_cards_without_a_counter_give_their_power() -> None:
    sensor = Nvml(Library(watts=(50.0, 60.5), has_counter=False))
    assert (sensor.is_counter, sensor.read()) == (False, 110.5)


def test_the_memory_of_all_cards_is_added() -> None:
    assert Nvml(Library(watts=(50.0, 60.0))).memory_gb() == 3.0


def test_a_card_that_stops_answering_gives_no_reading() -> None:
    library = Library()
    sensor = Nvml(library)
    library.has_counter = False
    assert sensor.read() is None


def test_without_a_driver_there_is_no_sensor() -> None:
    assert open_nvml(Library(has_driver=False)) is None


def test_without_cards_there_are_no_readings() -> None:
    sensor = open_nvml(Library(watts=()))
    assert sensor is not None
    assert sensor.read() is None


def rapl_zone(folder: Path, number: int, name: str, energy_uj: int) -> Path:
    zone = folder / f"intel-rapl:{number}"
    zone.mkdir(exist_ok=True)
    (zone / "name").write_text(f"{name}\n")
    (zone / "max_energy_range_uj").write_text("1000000000\n")
    (zone / "energy_uj").write_text(f"{energy_uj}\n")
    return zone


def test_the_packages_of_a_machine_are_added(tmp_path: Path) -> None:
    rapl_zone(tmp_path, 0, "package-0", 2_000_000)
    rapl_zone(tmp_path, 1, "package-1", 3_500_000)
    rapl_zone(tmp_path, 2, "psys", 9_000_000)
    sensor = find_rapl(tmp_path)
    assert sensor is not None
    assert sensor.read() == 5.5


def test_a_counter_that_begins_again_goes_on(tmp_path: Path) -> None:
    zone = rapl_zone(tmp_path, 0, "package-0", 999_000_000)
    sensor = find_rapl(tmp_path)
    assert sensor is not None
    first = sensor.read()
    (zone / "energy_uj").write_text("4000000\n")
    second = sensor.read()
    assert (first, second) == (999.0, 1004.0)


def test_without_powercap_there_is_no_sensor(tmp_path: Path) -> None:
    assert find_rapl(tmp_path) is None


def test_a_counter_that_may_not_be_read_is_no_sensor(tmp_path: Path) -> None:
    (rapl_zone(tmp_path, 0, "package-0", 1) / "energy_uj").unlink()
    assert find_rapl(tmp_path) is None


def test_a_server_has_the_memory_of_its_process() -> None:
    own_gb = psutil.Process().memory_info().rss / 2**30
    assert ServerMemory(os.getpid()).used_gb() == pytest.approx(own_gb, rel=0.5)


def test_a_server_that_is_gone_has_no_memory() -> None:
    assert ServerMemory(2**22 + 1).used_gb() is None


def test_readings_come_at_five_a_second_or_more_until_the_end() -> None:
    library = Library()
    with Sampler(Nvml(library), SystemMemory()) as sampler:
        time.sleep(1.05)
    times = [at for at, _ in sampler.samples.power]
    assert len(times) >= 6
    assert sampler.samples.peak_ram_gb
    assert times == sorted(times)


def test_a_sampler_leaves_no_thread_and_no_open_sensor() -> None:
    library = Library()
    sensor = Nvml(library)
    before = threading.active_count()
    with Sampler(sensor, None, sensor):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert library.closed == 1


def test_a_sampler_of_nothing_starts_no_thread() -> None:
    before = threading.active_count()
    with Sampler(None, None) as sampler:
        assert threading.active_count() == before
    assert sampler.samples.power == []


def test_nothing_is_read_of_a_machine_elsewhere() -> None:
    sampler = make_sampler(samples.machine(is_local=False), None)
    assert (sampler.power, sampler.memory) == (None, None)


def test_a_processor_does_not_answer_for_a_card_beside_it() -> None:
    gpu = samples.machine().gpus[0].model_copy(update={"vendor": "AMD"})
    sampler = make_sampler(samples.machine(gpus=(gpu,), unified_memory=False), None)
    assert sampler.power is None


def test_a_server_of_our_own_is_read_by_its_process() -> None:
    machine = samples.machine(gpus=(), backend="cpu")
    assert isinstance(make_sampler(machine, 1).memory, ServerMemory)
    assert isinstance(make_sampler(machine, None).memory, SystemMemory)
