"""Readings set against trials: joules per token and per answer, worked by hand."""

from __future__ import annotations

from typing import Literal

import pytest

from bench_loop.engine.telemetry import Telemetry
from bench_loop.machine.sampling import Sampler, SystemMemory
from bench_loop.result.records import RequestRecord, Trial
from tests.scoring.make_trials import speed_trial, task_trial


class Steady:
    """A sensor that is never asked: the tests put its readings in."""

    source: Literal["nvml"] = "nvml"
    scope: Literal["gpus"] = "gpus"
    is_counter = False

    def read(self) -> float | None:
        return None

    def close(self) -> None:
        """Nothing is held open."""


class Clock:
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


def bench(watts: list[tuple[float, float]]) -> tuple[Telemetry, Clock]:
    sampler = Sampler(Steady(), SystemMemory())
    sampler.samples.power.extend(watts)
    clock = Clock()
    return Telemetry(sampler, clock, clock.pause), clock


def steps(*levels: tuple[float, float]) -> list[tuple[float, float]]:
    """Readings ten times a second: so many seconds at so many watts, one level after another."""
    watts = [level for seconds, level in levels for _ in range(int(seconds * 10))]
    return [(beat / 10, level) for beat, level in enumerate(watts)]


def timed(shape: str = "p1024x256", **changes: object) -> Trial:
    """First token 2 s after it was sent, which was 1 s after it began, then 51 tok/s for 5 s."""
    trial = speed_trial(shape, tps=51.0, ttft_s=2.0, completion=256)
    sent = RequestRecord(sent_s=1.0, latency_s=7.0, status=200)
    return trial.model_copy(update={"requests": (sent,), **changes})


def test_joules_per_token_are_those_of_the_decode_window() -> None:
    # 255 tokens in 5 s at 204 W, while loading and reading the prompt took 400 W.
    telemetry, clock = bench(steps((12.95, 400.0), (5.1, 204.0), (3, 400.0)))
    clock.now = 18.0
    telemetry.note(timed(), 10.0)
    power = telemetry.power("headline")
    assert power is not None
    assert power.joules_per_token == pytest.approx(204.0 * 5 / 255, rel=0.03)
    assert (power.source, power.scope) == ("nvml", "gpus")


@pytest.mark.parametrize("trial", [timed("p4096x64"), timed(is_warmup=True), timed(requests=None)])
def test_only_whole_trials_of_the_headline_count(trial: Trial) -> None:
    telemetry, clock = bench(steps((20, 100.0)))
    clock.now = 18.0
    telemetry.note(trial, 10.0)
    power = telemetry.power("headline")
    assert power is not None
    assert power.joules_per_token is None


def test_joules_per_correct_answer_share_the_energy_among_those_that_passed() -> None:
    # 10 s at 60 W for two answers that passed of three.
    telemetry, clock = bench(steps((30, 60.0)))
    for began, outcome in ((5.0, "pass"), (8.0, "fail"), (12.0, "pass")):
        clock.now = began + 3.0
        telemetry.note(task_trial(outcome=outcome), began)
    power = telemetry.power(None)
    assert power is not None
    assert power.joules_per_correct_answer == pytest.approx(300.0)
    assert power.energy_j == pytest.approx(600.0)


def test_without_a_correct_answer_there_is_no_energy_of_one() -> None:
    telemetry, clock = bench(steps((30, 60.0)))
    clock.now = 8.0
    telemetry.note(task_trial(outcome="fail"), 5.0)
    power = telemetry.power(None)
    assert power is not None
    assert power.joules_per_correct_answer is None


def test_the_idle_power_is_that_of_the_rest() -> None:
    telemetry, clock = bench(steps((10, 300.0), (30, 25.0), (20, 300.0)))
    clock.now = 10.0
    telemetry.rest()
    clock.now = 55.0
    telemetry.note(task_trial(), 45.0)
    power = telemetry.power(None)
    assert power is not None
    assert power.idle_w == pytest.approx(25.0)


def test_readings_that_broke_off_leave_blanks_and_no_zeros() -> None:
    telemetry, clock = bench(steps((8, 100.0)))
    clock.now = 15.0
    telemetry.note(task_trial(), 5.0)
    power = telemetry.power(None)
    assert power is not None
    assert (power.energy_j, power.joules_per_correct_answer) == (None, None)
    assert power.coverage == pytest.approx(0.29, abs=0.01)


def test_without_a_sensor_there_is_no_power() -> None:
    telemetry = Telemetry(Sampler(None, SystemMemory()))
    telemetry.note(task_trial(), 0.0)
    assert telemetry.power("headline") is None


def test_the_peak_of_the_memory_names_what_it_covers() -> None:
    with Telemetry(Sampler(None, SystemMemory())) as telemetry:
        pass
    peak = telemetry.peak_memory()
    assert peak is not None
    assert peak.ram_scope == "system"
    assert peak.ram_gb
    assert peak.vram_gb is None
