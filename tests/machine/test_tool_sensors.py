"""AMD's and Apple's sensors. All outputs are synthetic: written by hand in the shape of the tools'.

Shapes: `rocm-smi --json` as parsed by AMD's own and others' exporters ("Current Socket Graphics
Package Power (W)", "Average Graphics Package Power (W)", N/A on the second die of a package);
`amd-smi metric --json` by AMD SMI's documentation (value and unit apart); `powermetrics -f plist`
by its manual page, with the keys of Apple's chips (millijoules by unit, `combined_power` in mW).
"""

from __future__ import annotations

import json
import plistlib
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench_loop.machine import sampling
from bench_loop.machine.sampling import Sampler, make_sampler
from bench_loop.machine.tool_sensors import (
    AmdFiles,
    AmdTool,
    GpuReading,
    PowerMetrics,
    find_amd,
    find_powermetrics,
    from_amd_smi,
    from_rocm_smi,
    joules_from_powermetrics,
)
from bench_loop.scoring.energy import Reading, Trace
from tests.look import samples

ROCM = {
    "card0": {
        "Current Socket Graphics Package Power (W)": "131.0",
        "VRAM Total Memory (B)": "205520896000",
        "VRAM Total Used Memory (B)": str(3 * 2**30),
    },
    "card1": {
        "Current Socket Graphics Package Power (W)": "133.5",
        "VRAM Total Used Memory (B)": str(2**30),
    },
    "system": {"Driver version": "6.10.5"},
}
AMD = [
    {
        "gpu": 0,
        "power": {"socket_power": {"value": 120, "unit": "W"}, "throttle_status": "UNTHROTTLED"},
        "mem_usage": {"used_vram": {"value": 2048, "unit": "MB"}},
    },
    {
        "gpu": 1,
        "power": {"socket_power": {"value": 80.5, "unit": "W"}},
        "mem_usage": {"used_vram": {"value": 1024, "unit": "MB"}},
    },
]


def test_rocm_smi_gives_the_sum_over_all_cards() -> None:
    assert from_rocm_smi(json.dumps(ROCM)) == GpuReading(264.5, 4.0)


def test_the_second_die_of_a_package_tells_no_power_of_its_own() -> None:
    dies = {
        "card0": {"Average Graphics Package Power (W)": "200.0"},
        "card1": {"Average Graphics Package Power (W)": "N/A"},
    }
    assert from_rocm_smi(json.dumps(dies)) == GpuReading(200.0, None)


def test_amd_smi_gives_the_sum_in_either_of_its_forms() -> None:
    assert from_amd_smi(json.dumps(AMD)) == GpuReading(200.5, 3.0)
    assert from_amd_smi(json.dumps({"gpu_data": AMD})) == GpuReading(200.5, 3.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        "No GPU",
        '{"card0": 5}',
        '[{"power": {"socket_power": "N/A"}}]',
        '{"card0": {"Average Graphics Package Power (W)": "nan"}}',
        "[" * 100_000,
    ],
)
def test_anything_else_gives_no_reading(text: str) -> None:
    assert from_rocm_smi(text) == GpuReading(None, None)
    assert from_amd_smi(text) == GpuReading(None, None)


def plist(processor: dict[str, Any], elapsed_ns: int = 200_000_000) -> bytes:
    return plistlib.dumps({"is_delta": True, "elapsed_ns": elapsed_ns, "processor": processor})


@pytest.mark.parametrize(
    ("processor", "joules"),
    [
        ({"cpu_energy": 800, "gpu_energy": 3000, "ane_energy": 200, "combined_power": 1.0}, 4.0),
        ({"cpu_energy": 800, "gpu_energy": 3000}, 3.8),
        ({"combined_power": 20_000.0}, 4.0),
        ({"package_joules": 5.5}, 5.5),
        ({"cpu_energy": "many"}, None),
        ({}, None),
    ],
)
def test_a_sample_of_powermetrics_is_energy(processor: dict[str, Any], joules: float) -> None:
    assert joules_from_powermetrics(plist(processor)) == pytest.approx(joules)


@pytest.mark.parametrize("document", [b"", b"must be invoked as the superuser", b"<a>"])
def test_what_is_no_sample_is_no_energy(document: bytes) -> None:
    assert joules_from_powermetrics(document) is None


TOOL = """\
import plistlib, sys, time
print("Machine model: synthetic", end="\\0", flush=True)
for number in range(30):
    time.sleep(0.1)
    sample = {"elapsed_ns": 100_000_000, "processor": {"cpu_energy": 500, "gpu_energy": 1500}}
    text = plistlib.dumps(sample)
    half = len(text) // 2
    sys.stdout.buffer.write(text[:half]); sys.stdout.flush()
    sys.stdout.buffer.write(text[half:] + b"\\0"); sys.stdout.flush()
"""


def test_a_running_tool_is_added_up_beside_the_run(tmp_path: Path) -> None:
    """20 W for as long as it is watched, by a real process that writes 2 J every 0.1 s."""
    program = tmp_path / "powermetrics"
    program.write_text(TOOL)
    with Sampler(PowerMetrics([sys.executable, str(program)]), None) as sampler:
        time.sleep(2.0)
    readings = [Reading(at, value) for at, value in sampler.samples.power]
    assert len(readings) >= 5
    trace = Trace.of_counter(readings)
    window = (readings[0].at, readings[-1].at)
    energy = trace.energy([window])
    assert energy.joules == pytest.approx(readings[-1].value - readings[0].value)
    # A busy machine delays samples but loses none: never more than 20 W, and 2 J a sample.
    assert readings[-1].value <= 2 * 30
    assert readings[-1].value % 2 == 0


def test_a_tool_that_has_ended_gives_no_reading(tmp_path: Path) -> None:
    sensor = PowerMetrics([sys.executable, "-c", "pass"])
    give_up = time.monotonic() + 30
    while sensor._tool.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    assert sensor.read() is None
    sensor.close()


def amd_card(
    folder: Path,
    number: int,
    microwatts: int,
    used: int,
    name: str,
    memory: int = 2**35,
    vendor: str = "0x1002",
) -> None:
    device = folder / f"card{number}" / "device"
    (device / "hwmon" / "hwmon3").mkdir(parents=True)
    (device / "vendor").write_text(f"{vendor}\n")
    (device / "mem_info_vram_total").write_text(f"{memory}\n")
    (device / "hwmon" / "hwmon3" / name).write_text(f"{microwatts}\n")
    (device / "mem_info_vram_used").write_text(f"{used}\n")


@pytest.mark.parametrize("name", ["power1_average", "power1_input"])
def test_the_driver_of_amd_tells_power_and_memory_by_its_files(tmp_path: Path, name: str) -> None:
    amd_card(tmp_path, 0, 35_000_000, 2**30, name)
    amd_card(tmp_path, 1, 45_500_000, 2**31, name)
    sensor = find_amd(2, tmp_path)
    assert isinstance(sensor, AmdFiles)
    assert (sensor.read(), sensor.memory_gb(), sensor.source) == (80.5, 3.0, "amdgpu")


def test_what_only_drives_the_display_is_not_added(tmp_path: Path) -> None:
    amd_card(tmp_path, 0, 15_000_000, 2**28, "power1_average", memory=2**29)
    amd_card(tmp_path, 1, 300_000_000, 2**34, "power1_average", memory=2**35)
    amd_card(tmp_path, 2, 70_000_000, 2**30, "power1_average", vendor="0x8086")
    sensor = find_amd(1, tmp_path)
    assert sensor is not None
    assert (sensor.read(), sensor.memory_gb()) == (300.0, 16.0)


def test_a_card_that_stops_answering_gives_no_reading(tmp_path: Path) -> None:
    amd_card(tmp_path, 0, 35_000_000, 2**30, "power1_average")
    sensor = find_amd(1, tmp_path)
    assert sensor is not None
    (tmp_path / "card0/device/hwmon/hwmon3/power1_average").unlink()
    assert sensor.read() is None


def tools(folder: Path, monkeypatch: pytest.MonkeyPatch, **outputs: Any) -> None:
    """Programs of these names that print these values as JSON, and no others."""
    for name, value in outputs.items():
        program = folder / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(value)}\nEND\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_without_files_the_tools_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(tmp_path, monkeypatch, rocm_smi=ROCM, amd_smi=AMD)
    sensor = find_amd(1, tmp_path)
    assert isinstance(sensor, AmdTool)
    assert (sensor.source, sensor.read(), sensor.memory_gb()) == ("amd_smi", 200.5, 3.0)


def test_an_old_system_has_only_rocm_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(tmp_path, monkeypatch, rocm_smi=ROCM)
    sensor = find_amd(1, tmp_path)
    assert sensor is not None
    assert (sensor.source, sensor.read()) == ("rocm_smi", 264.5)


def test_without_any_there_is_no_sensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(tmp_path, monkeypatch)
    assert find_amd(1, tmp_path) is None
    assert find_powermetrics() is None


def test_amds_cards_are_read_for_power_and_for_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    amd_card(tmp_path, 0, 35_000_000, 2**31, "power1_average")
    monkeypatch.setattr(sampling, "find_amd", lambda count: find_amd(count, tmp_path))
    card = samples.machine().gpus[0].model_copy(update={"vendor": "AMD"})
    machine = samples.machine(gpus=(card,), unified_memory=False)
    with make_sampler(machine, None) as sampler:
        time.sleep(0.3)
    assert sampler.samples.power[0][1] == 35.0
    assert sampler.samples.peak_vram_gb == 2.0


def test_a_mix_of_makers_is_not_told_by_one_of_them() -> None:
    first = samples.machine().gpus[0]
    cards = tuple(first.model_copy(update={"vendor": vendor}) for vendor in ("AMD", "Intel"))
    assert make_sampler(samples.machine(gpus=cards, unified_memory=False), None).power is None
