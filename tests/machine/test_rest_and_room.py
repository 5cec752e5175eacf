"""Coming to rest between two runs, and whether a model fits into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bench_loop.contracts.provider import ModelFacts
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.rest import Rest, come_to_rest, is_rested, read_rest
from bench_loop.machine.room import Room, fit, free_room, lack_of_room, reclaimable_gb, whole_room
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


QWEN3_8B = 2 * 36 * 8 * 128
"""Keys and values of a token: 36 layers, 8 KV heads of 128."""


def model(size_gib: float | None, **more: Any) -> ModelFacts:
    size = None if size_gib is None else round(size_gib * GIB)
    return ModelFacts(model_id="m", size_bytes=size, **more)


def test_weights_window_and_what_is_reserved_are_needed() -> None:
    found = fit(model(4.5, kv_values=QWEN3_8B), Room(ram_gb=16.0), window=8192)
    assert found is not None
    assert found.cache_gb == pytest.approx(1.125)  # 8,192 x 73,728 x 2 bytes
    assert found.needed_gb == pytest.approx(4.5 + 1.125 + 0.5)
    assert str(found) == "6.1 GiB (weights 4.5, window 1.1)"


def test_a_quantized_cache_is_smaller_and_a_window_no_longer_than_the_model_allows() -> None:
    facts = model(4.5, kv_values=QWEN3_8B, context_declared=4096)
    found = fit(facts, Room(ram_gb=16.0), 8192, "q8_0")
    assert found is not None
    assert found.cache_gb == pytest.approx(4096 * QWEN3_8B * 34 / 32 / GIB)


@pytest.mark.parametrize(
    ("size", "room", "verdict"),
    [
        (10, Room(ram_gb=10.6), "fits"),
        (10, Room(ram_gb=10.4), "too_large"),
        (10, Room(ram_gb=4.0, vram_gb=10.6), "fits"),
        (10, Room(ram_gb=4.0, vram_gb=8.0), "spills"),
        (10, Room(ram_gb=4.0, vram_gb=6.0), "too_large"),
    ],
)
def test_the_gpus_come_first_and_system_memory_takes_the_rest(
    size: float, room: Room, verdict: str
) -> None:
    found = fit(model(size), room, 8192)
    assert found is not None
    assert found.verdict == verdict


def test_a_model_that_does_not_fit_says_what_it_needs() -> None:
    assert lack_of_room(model(10), Room(ram_gb=8.0, vram_gb=2.0), 8192) == (
        "It needs at least 10.5 GiB (weights 10.0), and there are 2.0 GiB on the GPUs and 8.0 GiB "
        "of memory."
    )
    assert lack_of_room(model(10), Room(ram_gb=12.0), 8192) is None


@pytest.mark.parametrize(
    ("facts", "room"),
    [
        (model(None), Room(ram_gb=1.0)),
        (model(10), Room()),
        (model(10, context_loaded=8192), Room(ram_gb=1.0)),
    ],
    ids=["size", "room", "it is loaded"],
)
def test_what_is_unknown_or_loaded_is_no_reason_to_skip(facts: ModelFacts, room: Room) -> None:
    assert lack_of_room(facts, room, 8192) is None


def test_unified_memory_is_counted_once() -> None:
    gpu = Gpu(model="M3 Max", vendor="Apple", memory_gb=36.0)
    facts = MachineFacts(gpus=(gpu,), system_memory_gb=36.0, unified_memory=True)
    assert whole_room(facts) == Room(ram_gb=36.0)


def test_a_gpu_of_unknown_size_leaves_the_room_unknown() -> None:
    gpus = (Gpu(model="CMP 170HX", vendor="NVIDIA"),)
    facts = MachineFacts(gpus=gpus, system_memory_gb=8.0, unified_memory=False)
    assert whole_room(facts).total_gb is None


def test_this_machine_has_room() -> None:
    ram_gb = free_room().ram_gb
    assert ram_gb is not None
    assert ram_gb > 0


def test_what_only_caches_files_makes_room() -> None:
    stat = f"anon 5\nfile 9\nactive_file {GIB}\ninactive_file {2 * GIB}\nslab"
    assert reclaimable_gb(stat) == 3.0
    assert reclaimable_gb("") == 0.0
