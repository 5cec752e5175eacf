"""Checks of the machine itself: power, heat, other load, clock, disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench_loop.doctor.finding import Finding, Severity
from bench_loop.doctor.host import Host, NvidiaGpu

LOWERED_LIMIT = 0.95
"""Share of a GPU's usual power limit below which it counts as lowered."""
NEAR_TRIP_C = 5.0
"""Degrees below a sensor's own threshold that count as hot."""
BUSY_CPU_PERCENT = 20.0
BUSY_GPU_PERCENT = 10.0
"""More than this, used by others before anything has begun, disturbs a measurement."""
DRIFT_S = 0.02
"""Seconds by which the two clocks may part while the doctor looks around."""
LITTLE_DISK_GIB, VERY_LITTLE_DISK_GIB = 5.0, 1.0
"""Room for a sandbox image and small weights; room for results."""

_POWER_SAVER = "a1841308-3541-4fab-bc81-f71556f20b4a"
_HIGH_PERFORMANCE = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c"
"""Windows' own power schemes, which are the same on every machine."""

_PLUG_IN = "Plug the machine in"


def _finding(
    code: str, severity: Severity, title: str, evidence: str, remedy: str | None = None
) -> Finding:
    return Finding(code, "machine", severity, title, evidence, remedy)


def power(host: Host, gpus: Sequence[NvidiaGpu]) -> tuple[Finding, ...]:
    """Whether the machine runs at its full power; one finding for each thing that lowers it."""
    looks = {"linux": _linux_power, "darwin": _macos_power, "win32": _windows_power}
    look = looks.get(host.system, _linux_power)
    found = [*look(host), *_gpu_power(gpus)]
    if any(one.severity == "warning" for one in found):
        return tuple(one for one in found if one.severity == "warning")
    if not found:
        evidence = "the system does not tell its power mode"
        return (_finding("power_unknown", "note", "power", evidence),)
    evidence = "; ".join(one.evidence for one in found)
    return (_finding("power_ok", "ok", "power", evidence),)


def _linux_power(host: Host) -> Iterator[Finding]:
    yield from _linux_battery(host)
    yield from _linux_governor(host)
    profile = host.text("/sys/firmware/acpi/platform_profile")
    if profile == "low-power":
        yield _finding(
            "platform_low_power",
            "warning",
            "power profile",
            "the platform profile is low-power",
            "powerprofilesctl set performance",
        )
    elif profile:
        yield _finding("power_ok", "ok", "power", f"platform profile {profile}")


def _linux_battery(host: Host) -> Iterator[Finding]:
    supplies = host.glob("/sys/class/power_supply/*")
    states = {_text(host, folder / "type"): folder for folder in supplies}
    if "Battery" not in states:
        return
    if _text(host, states["Battery"] / "status") == "Discharging":
        yield _finding("on_battery", "warning", "power", "it runs on its battery", _PLUG_IN)
    else:
        yield _finding("power_ok", "ok", "power", "plugged in")


def _linux_governor(host: Host) -> Iterator[Finding]:
    """`powersave` means the lowest clock with every driver but intel_pstate and amd-pstate-epp."""
    folder = "/sys/devices/system/cpu/cpu0/cpufreq"
    governor = host.text(f"{folder}/scaling_governor")
    if governor is None:
        return
    driver = host.text(f"{folder}/scaling_driver") or ""
    preference = host.text(f"{folder}/energy_performance_preference")
    is_dynamic = driver.startswith(("intel_pstate", "amd-pstate"))
    if governor == "powersave" and (not is_dynamic or preference == "power"):
        shown = f"governor {governor}" + (f", preference {preference}" if preference else "")
        yield _finding(
            "cpu_power_save",
            "warning",
            "power",
            f"the processor saves power ({shown})",
            "sudo cpupower frequency-set -g performance",
        )
    else:
        yield _finding("power_ok", "ok", "power", f"processor governor {governor}")


def _macos_power(host: Host) -> Iterator[Finding]:
    settings = host.run(["pmset", "-g"])
    if settings is None:
        return
    if re.search(r"^\s*lowpowermode\s+1\b", settings, re.M):
        evidence, remedy = "low power mode is on", "sudo pmset -a lowpowermode 0"
        yield _finding("low_power_mode", "warning", "power", evidence, remedy)
    else:
        yield _finding("power_ok", "ok", "power", "low power mode is off")
    if "'Battery Power'" in (host.run(["pmset", "-g", "batt"]) or ""):
        yield _finding("on_battery", "warning", "power", "it runs on its battery", _PLUG_IN)


def _windows_power(host: Host) -> Iterator[Finding]:
    scheme = host.run(["powercfg", "/getactivescheme"])
    if scheme is None:
        return
    if _POWER_SAVER in scheme.lower():
        yield _finding(
            "power_saver",
            "warning",
            "power",
            "the power saver scheme is active",
            f"powercfg /setactive {_HIGH_PERFORMANCE}",
        )
    else:
        yield _finding("power_ok", "ok", "power", "no power saver scheme")


def _gpu_power(gpus: Sequence[NvidiaGpu]) -> Iterator[Finding]:
    for gpu in gpus:
        if gpu.limit_w is None or not gpu.default_limit_w:
            continue
        if gpu.limit_w < LOWERED_LIMIT * gpu.default_limit_w:
            yield _finding(
                "gpu_power_limit",
                "warning",
                "GPU power",
                f"GPU {gpu.index} is limited to {gpu.limit_w:.0f} W of {gpu.default_limit_w:.0f} W",
                f"sudo nvidia-smi -i {gpu.index} -pl {gpu.default_limit_w:.0f}",
            )
        else:
            evidence = f"GPU {gpu.index} may draw {gpu.limit_w:.0f} W"
            yield _finding("power_ok", "ok", "power", evidence)


def heat(host: Host, gpus: Sequence[NvidiaGpu]) -> tuple[Finding, ...]:
    """Whether something is slowed down by its temperature, or is about to be."""
    hot = [f"GPU {gpu.index} slows down for its heat" for gpu in gpus if gpu.is_hot]
    known = [f"GPU {gpu.index} {gpu.temperature_c:.0f} °C" for gpu in gpus if gpu.temperature_c]
    look = _macos_heat if host.system == "darwin" else _linux_heat
    more_hot, more_known = look(host)
    hot, known = hot + more_hot, known + more_known
    if hot:
        remedy = "Let it cool for some minutes, then free its air and run: bench-loop doctor"
        return (_finding("too_hot", "warning", "heat", "; ".join(hot), remedy),)
    if known:
        return (_finding("heat_ok", "ok", "heat", "; ".join(known[:4])),)
    evidence = "no temperature can be read here"
    return (_finding("heat_unknown", "note", "heat", evidence),)


def _linux_heat(host: Host) -> tuple[list[str], list[str]]:
    """Sensors at their own thresholds, and all of them."""
    hot, known = [], []
    for zone in host.glob("/sys/class/thermal/thermal_zone*"):
        now = _celsius(_text(host, zone / "temp"))
        if now is None or now <= 0:
            continue
        shown = f"{_text(host, zone / 'type') or zone.name} {now:.0f} °C"
        known.append(shown)
        limits = [
            _celsius(_text(host, kind.with_name(kind.name.replace("_type", "_temp"))))
            for kind in sorted(zone.glob("trip_point_*_type"))
            if _text(host, kind) in ("passive", "hot", "critical")
        ]
        # Boards list thresholds of 0 and below for what they do not watch.
        limit = min((one for one in limits if one and one > 40), default=None)
        if limit is not None and now >= limit - NEAR_TRIP_C:
            hot.append(f"{shown}, of {limit:.0f} °C at which it is slowed down")
    return hot, known


def _macos_heat(host: Host) -> tuple[list[str], list[str]]:
    found = re.search(r"CPU_Speed_Limit\s*=\s*(\d+)", host.run(["pmset", "-g", "therm"]) or "")
    if found is None:
        return [], []
    percent = int(found[1])
    shown = f"the processor runs at {percent} % of its speed"
    return ([shown], []) if percent < 100 else ([], [shown])


def load(host: Host, gpus: Sequence[NvidiaGpu]) -> tuple[Finding, ...]:
    """What others use of processors and GPUs now."""
    cpu = host.cpu_share()
    found = []
    if cpu > BUSY_CPU_PERCENT:
        see = {"darwin": "top -o cpu", "win32": "tasklist"}.get(host.system, "top -o %CPU")
        evidence = f"{cpu:.0f} % of the processors are busy with something else"
        remedy = f"Stop what you can of what this shows: {see}"
        found.append(_finding("cpu_busy", "warning", "other load", evidence, remedy))
    for gpu in gpus:
        if (gpu.busy_percent or 0) > BUSY_GPU_PERCENT:
            evidence = f"GPU {gpu.index} is {gpu.busy_percent:.0f} % busy with something else"
            remedy = "Stop what you can of what this shows: nvidia-smi"
            found.append(_finding("gpu_busy", "warning", "other load", evidence, remedy))
    if found:
        return tuple(found)
    return (_finding("load_ok", "ok", "other load", f"{cpu:.0f} % of the processors are busy"),)


def clock(host: Host, began: tuple[float, float]) -> tuple[Finding, ...]:
    """Whether the clock is synchronised, and whether it jumped since `began` (`Host.clocks`)."""
    wall, steady = host.clocks()
    drift = (wall - began[0]) - (steady - began[1])
    found = list(_synchronised(host))
    if abs(drift) > DRIFT_S:
        evidence = f"the wall clock moved by {1000 * drift:+.0f} ms against the steady one"
        remedy = _SYNCHRONISE.get(host.system, _SYNCHRONISE["linux"])
        found.insert(0, _finding("clock_jumps", "warning", "clock", evidence, remedy))
    return tuple(found)


TIMEDATECTL = ("timedatectl", "show", "-p", "NTPSynchronized", "--value")
_SYNCHRONISE = {
    "linux": "sudo timedatectl set-ntp true",
    "darwin": "sudo systemsetup -setusingnetworktime on",
    "win32": "w32tm /resync",
}


def _synchronised(host: Host) -> Iterator[Finding]:
    """Measured times never come from this clock; the times of runs on the site do."""
    answer = None
    if host.system == "linux":
        answer = (host.run(TIMEDATECTL) or "").strip()
    if answer == "yes":
        yield _finding("clock_ok", "ok", "clock", "synchronised over the network")
    elif answer == "no":
        evidence = "not synchronised: the times of runs may be wrong, measured spans are not"
        remedy = _SYNCHRONISE["linux"]
        yield _finding("clock_not_synchronised", "warning", "clock", evidence, remedy)
    else:
        evidence = "the system does not tell whether it is synchronised"
        yield _finding("clock_unknown", "note", "clock", evidence)


def disk(host: Host, folder: Path) -> tuple[Finding, ...]:
    """Room for results, weights and sandbox images in the data folder."""
    try:
        free = host.free_bytes(folder) / 2**30
    except OSError as error:
        evidence = f"the data folder cannot be read: {error.strerror}"
        remedy = "Set BENCHLOOP_HOME to a folder you can write to"
        return (_finding("disk_unreadable", "error", "disk", evidence, remedy),)
    evidence = f"{free:.1f} GiB are free in the data folder"
    remedy = "Free some disk space, or set BENCHLOOP_HOME to a folder with more of it"
    if free < VERY_LITTLE_DISK_GIB:
        return (_finding("disk_full", "error", "disk", evidence, remedy),)
    if free < LITTLE_DISK_GIB:
        return (_finding("disk_low", "warning", "disk", evidence, remedy),)
    return (_finding("disk_ok", "ok", "disk", evidence),)


def _text(host: Host, path: Path) -> str | None:
    return host.text(f"/{path.relative_to(host.root)}")


def _celsius(text: str | None) -> float | None:
    """Thousandths of a degree, as the kernel writes them."""
    return int(text) / 1000 if text and re.fullmatch(r"-?\d{1,7}", text) else None
