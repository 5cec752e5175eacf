"""Memory and energy as text."""

from __future__ import annotations

from bench_loop.report.run import run_view
from bench_loop.report.sensors import sensor_readings
from bench_loop.result.records import PeakMemory, Power, RunResult
from tests.look import samples


def readings(result: RunResult) -> dict[str, str]:
    return {one.name: one.value for one in sensor_readings(result)}


def test_without_a_sensor_there_is_a_dash_and_never_a_zero() -> None:
    assert readings(samples.result()) == {
        "peak memory": "– no sensor",
        "peak GPU memory": "– no sensor",
        "energy": "– no sensor",
    }


def test_a_machine_without_a_gpu_has_no_memory_of_one() -> None:
    bare = samples.result(on=samples.machine(gpus=(), gpu_memory_gb=None))
    assert "peak GPU memory" not in readings(bare)


def test_what_was_read_is_told_with_what_it_covers() -> None:
    result = samples.result(
        peak_memory=PeakMemory(ram_gb=3.14159, ram_scope="server", vram_gb=7.25),
        power=Power(
            source="nvml",
            scope="gpus",
            coverage=0.997,
            energy_j=9120.0,
            joules_per_token=4.1234,
        ),
    )
    found = readings(result)
    assert found["peak memory"] == "3.14 GB, server"
    assert found["peak GPU memory"] == "7.25 GB, other programs included"
    assert found["energy"] == "9,120 J, NVML, all GPUs, 100\N{NARROW NO-BREAK SPACE}% covered"
    assert found["energy a token"] == "4.12 J"
    assert found["idle power"] == "–"
    assert found["energy a pass"] == "–"


def test_the_page_of_a_run_tells_it_beside_the_machine() -> None:
    names = [one.name for one in run_view(samples.result()).machine]
    assert names[-2:] == ["peak GPU memory", "energy"]
