"""A machine written down by a test: files, tools and clocks, all invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_loop.doctor.host import Host

LINUX = {
    "sys/class/power_supply/AC/type": "Mains",
    "sys/class/power_supply/AC/online": "1",
    "sys/class/power_supply/BAT0/type": "Battery",
    "sys/class/power_supply/BAT0/status": "Full",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "acpi-cpufreq",
    "sys/firmware/acpi/platform_profile": "balanced",
    "sys/class/thermal/thermal_zone0/type": "x86_pkg_temp",
    "sys/class/thermal/thermal_zone0/temp": "48000",
    "sys/class/thermal/thermal_zone0/trip_point_0_type": "passive",
    "sys/class/thermal/thermal_zone0/trip_point_0_temp": "95000",
    "sys/class/thermal/thermal_zone0/trip_point_1_type": "critical",
    "sys/class/thermal/thermal_zone0/trip_point_1_temp": "0",
}
"""A laptop at rest, plugged in."""

TOOLS = {
    "timedatectl": "yes\n",
    "nvidia-smi": "0, 2, 41, 450.00, 450.00\n",
    "nvidia-smi reasons": "0, Not Active, Not Active\n",
}
GIB = 2**30


def make_host(
    root: Path,
    files: Mapping[str, str | None] | None = None,
    tools: Mapping[str, str | None] | None = None,
    *,
    system: str = "linux",
    busy: float = 3.0,
    free: int = 100 * GIB,
    clocks: Sequence[tuple[float, float]] = ((1000.0, 50.0),),
) -> Host:
    """The laptop of LINUX and TOOLS with changes; None takes a file or a tool away.

    `clocks` are the readings in their order; the last one is given again.
    """
    for path, text in {**LINUX, **(files or {})}.items():
        if text is not None and system == "linux":
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")
    said = {**TOOLS, **(tools or {})}
    readings = list(clocks)

    def run(command: Sequence[str]) -> str | None:
        if command[0] == "nvidia-smi" and "_reasons." in command[1]:
            # The driver is an older one, which does not know the newer names.
            is_known = "clocks_throttle_reasons." in command[1]
            return said["nvidia-smi reasons"] if is_known else None
        return said.get(" ".join(command), said.get(command[0]))

    return Host(
        root=root,
        system=system,
        run=run,
        cpu_share=lambda: busy,
        free_bytes=lambda folder: free,
        clocks=lambda: readings.pop(0) if len(readings) > 1 else readings[0],
    )
