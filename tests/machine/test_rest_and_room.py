"""Coming to rest between two runs, and whether a model fits into memory."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.rest import Rest, come_to_rest, is_rested, read_rest
from bench_loop.machine.room import Room, free_room, lack_of_room, reclaimable_gb, whole_room
from bench_loop.result.records import Gpu

GIB = 2**30
COOL = Rest(temperature_c=45.0, load=0.02)


class Clock:
    """Time that passes only while somebody pauses."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


def wait(readings: Iterator[Rest], limit_s: float) -> tuple[str | None, list[str], float]:
    clock, said = Clock(), list[str]()
    finding = come_to_rest(
        COOL,
        limit_s,
        said.append,
        read=lambda: next(readings),
        pause=clock.pause,
        clock=clock,
    )
    return finding, said, clock.now


def test_a_machine_at_rest_is_not_waited_for() -> None:
    assert wait(iter([Rest(temperature_c=47.9, load=0.1)]), 60) == (None, [], 0.0)


def test_a_hot_machine_is_waited_for_and_that_is_said() -> None:
    readings = [Rest(temperature_c=c, load=0.0) for c in (80.0, 60.0, 47.0)]
    finding, said, waited_s = wait(iter(readings), 60)
    assert finding is None
    assert waited_s == 10.0
    assert "80 °C" in said[0]
    assert "at most 60 s" in said[0]
    assert "Cool again" in said[1]


def test_a_machine_that_stays_hot_is_a_finding_after_the_longest_wait() -> None:
    finding, _, waited_s = wait(iter([Rest(temperature_c=80.0, load=0.5)] * 20), 12)
    assert waited_s == 12.0
    assert finding == "It began at 80 °C, 50 % busy, and the first run at 45 °C, 2 % busy."


def test_what_no_sensor_tells_is_not_waited_for() -> None:
    assert is_rested(Rest(), COOL)
    assert is_rested(COOL, Rest())
    assert not is_rested(Rest(load=0.9), COOL)


def test_this_machine_tells_its_load() -> None:
    load = read_rest().load
    assert load is not None
    assert 0 <= load <= 1


def test_a_model_that_fits_beside_its_window_lacks_nothing() -> None:
    assert lack_of_room(10 * GIB, Room(ram_gb=12.1)) is None
    assert lack_of_room(10 * GIB, Room(ram_gb=4.0, vram_gb=8.0)) is None


def test_a_model_that_does_not_fit_says_what_it_needs() -> None:
    assert lack_of_room(10 * GIB, Room(ram_gb=8.0, vram_gb=2.0)) == (
        "It needs about 12.0 GB, and there are 8.0 GB of memory and 2.0 GB on the GPU."
    )


def test_an_unknown_size_is_no_reason_to_skip() -> None:
    assert lack_of_room(None, Room(ram_gb=1.0)) is None
    assert lack_of_room(10 * GIB, Room(None)) is None


def test_unified_memory_is_counted_once() -> None:
    gpu = Gpu(model="M3 Max", vendor="Apple", memory_gb=36.0)
    facts = MachineFacts(gpus=(gpu,), system_memory_gb=36.0, unified_memory=True)
    assert whole_room(facts).total_gb == 36.0


def test_this_machine_has_room() -> None:
    ram_gb = free_room().ram_gb
    assert ram_gb is not None
    assert ram_gb > 0


def test_what_only_caches_files_makes_room() -> None:
    stat = f"anon 5\nfile 9\nactive_file {GIB}\ninactive_file {2 * GIB}\nslab"
    assert reclaimable_gb(stat) == 3.0
    assert reclaimable_gb("") == 0.0
