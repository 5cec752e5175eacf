"""Each thing that the doctor looks for on a machine, where it is and where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.doctor import machine as checks
from bench_loop.doctor.finding import Finding
from bench_loop.doctor.host import Host, nvidia_gpus
from tests.doctor.places import GIB, make_host

CPUFREQ = "sys/devices/system/cpu/cpu0/cpufreq"
THERMAL = "sys/class/thermal/thermal_zone0"


def power(host: Host) -> tuple[Finding, ...]:
    return checks.power(host, nvidia_gpus(host))


def heat(host: Host) -> tuple[Finding, ...]:
    return checks.heat(host, nvidia_gpus(host))


def only(findings: tuple[Finding, ...]) -> tuple[str, str]:
    (finding,) = findings
    return finding.code, finding.severity


def test_a_machine_at_full_power_is_well(tmp_path: Path) -> None:
    (found,) = power(make_host(tmp_path))
    assert (found.code, found.severity) == ("power_ok", "ok")
    assert found.evidence == (
        "plugged in; processor governor performance; platform profile balanced; "
        "GPU 0 may draw 450 W"
    )


@pytest.mark.parametrize(
    ("files", "code", "remedy"),
    [
        (
            {"sys/class/power_supply/BAT0/status": "Discharging"},
            "on_battery",
            "Plug the machine in",
        ),
        (
            {f"{CPUFREQ}/scaling_governor": "powersave"},
            "cpu_power_save",
            "sudo cpupower frequency-set -g performance",
        ),
        (
            {
                f"{CPUFREQ}/scaling_governor": "powersave",
                f"{CPUFREQ}/scaling_driver": "intel_pstate",
                f"{CPUFREQ}/energy_performance_preference": "power",
            },
            "cpu_power_save",
            "sudo cpupower frequency-set -g performance",
        ),
        (
            {"sys/firmware/acpi/platform_profile": "low-power"},
            "platform_low_power",
            "powerprofilesctl set performance",
        ),
    ],
)
def test_what_lowers_the_power_on_linux_is_found(
    tmp_path: Path, files: dict[str, str], code: str, remedy: str
) -> None:
    (found,) = power(make_host(tmp_path, files))
    assert (found.code, found.severity, found.remedy) == (code, "warning", remedy)


def test_powersave_is_the_usual_governor_of_newer_drivers(tmp_path: Path) -> None:
    files = {
        f"{CPUFREQ}/scaling_governor": "powersave",
        f"{CPUFREQ}/scaling_driver": "amd-pstate-epp",
        f"{CPUFREQ}/energy_performance_preference": "balance_performance",
    }
    assert only(power(make_host(tmp_path, files))) == ("power_ok", "ok")


def test_a_lowered_limit_of_a_gpu_is_found_with_the_command_that_lifts_it(tmp_path: Path) -> None:
    tools = {"nvidia-smi": "0, 0, 41, 450.00, 450.00\n1, 0, 40, 250.00, 450.00\n"}
    (found,) = power(make_host(tmp_path, tools=tools))
    assert (found.code, found.severity) == ("gpu_power_limit", "warning")
    assert found.evidence == "GPU 1 is limited to 250 W of 450 W"
    assert found.remedy == "sudo nvidia-smi -i 1 -pl 450"


def test_all_that_lowers_the_power_is_told(tmp_path: Path) -> None:
    host = make_host(
        tmp_path,
        {
            "sys/class/power_supply/BAT0/status": "Discharging",
            f"{CPUFREQ}/scaling_governor": "powersave",
        },
    )
    assert {one.code for one in power(host)} == {"on_battery", "cpu_power_save"}


MAC = {"pmset -g": " lowpowermode         0\n", "pmset -g batt": "Now drawing from 'AC Power'\n"}


@pytest.mark.parametrize(
    ("system", "tools", "code"),
    [
        ("darwin", MAC, "power_ok"),
        ("darwin", MAC | {"pmset -g": " lowpowermode         1\n"}, "low_power_mode"),
        ("darwin", MAC | {"pmset -g batt": "Now drawing from 'Battery Power'\n"}, "on_battery"),
        (
            "win32",
            {"powercfg": "381b4222-f694-41f0-9685-ff5bb260df2e  (Balanced)"},
            "power_ok",
        ),
        (
            "win32",
            {"powercfg": "GUID: A1841308-3541-4FAB-BC81-F71556F20B4A  (Power saver)"},
            "power_saver",
        ),
        ("darwin", {}, "power_unknown"),
        ("win32", {}, "power_unknown"),
    ],
)
def test_other_systems_are_asked_by_their_own_tools(
    tmp_path: Path, system: str, tools: dict[str, str], code: str
) -> None:
    host = make_host(tmp_path, tools={"nvidia-smi": None, **tools}, system=system)
    (found,) = power(host)
    assert found.code == code


def test_a_power_mode_that_nobody_tells_is_a_note(tmp_path: Path) -> None:
    host = Host(root=tmp_path, system="linux", run=lambda command: None)
    assert only(power(host)) == ("power_unknown", "note")


def test_a_cool_machine_is_well(tmp_path: Path) -> None:
    (found,) = heat(make_host(tmp_path))
    assert (found.code, found.severity) == ("heat_ok", "ok")
    assert found.evidence == "GPU 0 41 °C; x86_pkg_temp 48 °C"


@pytest.mark.parametrize(
    ("files", "tools"),
    [
        ({f"{THERMAL}/temp": "91000"}, {}),
        ({}, {"nvidia-smi reasons": "0, Active, Not Active\n"}),
        ({}, {"nvidia-smi reasons": "0, Not Active, Active\n"}),
    ],
)
def test_a_machine_that_is_slowed_down_by_its_heat_is_found(
    tmp_path: Path, files: dict[str, str], tools: dict[str, str]
) -> None:
    assert only(heat(make_host(tmp_path, files, tools))) == ("too_hot", "warning")


@pytest.mark.parametrize(("limit", "code"), [(100, "heat_ok"), (60, "too_hot")])
def test_a_mac_tells_how_far_it_is_slowed_down(tmp_path: Path, limit: int, code: str) -> None:
    tools = {"pmset -g therm": f"CPU_Speed_Limit \t= {limit}\n", "nvidia-smi": None}
    (found,) = heat(make_host(tmp_path, tools=tools, system="darwin"))
    assert found.code == code


def test_a_machine_without_a_sensor_says_so(tmp_path: Path) -> None:
    host = Host(root=tmp_path, system="linux", run=lambda command: None)
    assert only(heat(host)) == ("heat_unknown", "note")


@pytest.mark.parametrize(
    ("busy", "gpu", "codes"),
    [
        (3.0, 2, {"load_ok"}),
        (64.0, 2, {"cpu_busy"}),
        (3.0, 55, {"gpu_busy"}),
        (64.0, 55, {"cpu_busy", "gpu_busy"}),
    ],
)
def test_other_load_is_found(tmp_path: Path, busy: float, gpu: int, codes: set[str]) -> None:
    tools = {"nvidia-smi": f"0, {gpu}, 41, 450.00, 450.00\n"}
    host = make_host(tmp_path, tools=tools, busy=busy)
    assert {one.code for one in checks.load(host, nvidia_gpus(host))} == codes


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes\n", ("clock_ok", "ok")),
        ("no\n", ("clock_not_synchronised", "warning")),
        (None, ("clock_unknown", "note")),
    ],
)
def test_whether_the_clock_is_synchronised_is_told(
    tmp_path: Path, answer: str | None, expected: tuple[str, str]
) -> None:
    host = make_host(tmp_path, tools={"timedatectl": answer})
    assert only(checks.clock(host, (1000.0, 50.0))) == expected


def test_a_clock_that_jumps_is_found(tmp_path: Path) -> None:
    host = make_host(tmp_path, clocks=[(1003.5, 53.0)])
    jump, synchronised = checks.clock(host, (1000.0, 50.0))
    assert (jump.code, jump.severity) == ("clock_jumps", "warning")
    assert "+500 ms" in jump.evidence
    assert synchronised.code == "clock_ok"


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        (100 * GIB, ("disk_ok", "ok")),
        (3 * GIB, ("disk_low", "warning")),
        (GIB // 2, ("disk_full", "error")),
    ],
)
def test_room_on_the_disk_is_told(tmp_path: Path, free: int, expected: tuple[str, str]) -> None:
    assert only(checks.disk(make_host(tmp_path, free=free), tmp_path)) == expected


def test_a_disk_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert only(checks.disk(Host(), tmp_path / "absent")) == ("disk_unreadable", "error")


@pytest.mark.parametrize(
    "text", ["", "No devices were found", "0, 1\n", "x, , , , , , \n", "0,a,b,c,d\n"]
)
def test_whatever_the_tool_prints_is_read_without_fault(tmp_path: Path, text: str) -> None:
    host = make_host(tmp_path, tools={"nvidia-smi": text})
    assert all(gpu.limit_w is None for gpu in nvidia_gpus(host))
    assert power(host)[0].code == "power_ok"
