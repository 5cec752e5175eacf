"""How hot and how busy this machine is: between two runs it should come to rest again."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil
from pydantic import Field

from bench_loop.contracts.record import Record
from bench_loop.machine.sampling import find_nvml

CPU_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
NEAR_C = 3.0
NEAR_LOAD = 0.10
"""So close to the first reading is at rest."""
LOAD_WINDOW_S = 1.0
POLL_S = 5.0

Say = Callable[[str], None]


class Rest(Record):
    """One reading of the hottest and the busiest of processor and GPUs. Null: no sensor."""

    temperature_c: float | None = Field(None, description="Degrees Celsius.")
    load: float | None = Field(None, description="0 to 1.")

    def __str__(self) -> str:
        parts = [
            "" if self.temperature_c is None else f"{self.temperature_c:.0f} °C",
            "" if self.load is None else f"{100 * self.load:.0f} % busy",
        ]
        return ", ".join(filter(None, parts)) or "no sensor"


def read_rest() -> Rest:
    """This machine now; takes LOAD_WINDOW_S seconds."""
    gpus = find_nvml()
    try:
        load = psutil.cpu_percent(interval=LOAD_WINDOW_S) / 100
        heat = [_cpu_temperature_c(), gpus.temperature_c() if gpus else None]
        busy = [load, gpus.load() if gpus else None]
    finally:
        if gpus:
            gpus.close()
    return Rest(
        temperature_c=max((one for one in heat if one is not None), default=None),
        load=max((one for one in busy if one is not None), default=None),
    )


def _cpu_temperature_c() -> float | None:
    """The hottest of the processor's own sensors; only Linux tells."""
    if not hasattr(psutil, "sensors_temperatures"):
        return None
    found = psutil.sensors_temperatures()
    readings = [one.current for name in CPU_SENSORS for one in found.get(name, [])]
    return max(readings, default=None)


def is_rested(now: Rest, before: Rest) -> bool:
    """Whether the machine is about as cool and as idle as it was; what is unknown is no reason."""
    return _is_near(now.temperature_c, before.temperature_c, NEAR_C) and _is_near(
        now.load, before.load, NEAR_LOAD
    )


def _is_near(now: float | None, before: float | None, margin: float) -> bool:
    return now is None or before is None or now <= before + margin


def come_to_rest(
    before: Rest,
    limit_s: float,
    say: Say,
    *,
    read: Callable[[], Rest] = read_rest,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> str | None:
    """Wait until the machine is as it was `before`, at most `limit_s` seconds.

    Says what it waits for. Gives None, or a sentence where the time was not enough.
    """
    began = clock()
    now = read()
    if is_rested(now, before):
        return None
    if limit_s > 0:
        say(f"Cooling down: {now}; was {before} before the first run; at most {limit_s:.0f} s")
    while not is_rested(now, before):
        if clock() - began >= limit_s:
            return f"It began at {now}, and the first run at {before}."
        pause(min(POLL_S, max(0.0, began + limit_s - clock())))
        now = read()
    say(f"Cool again after {clock() - began:.0f} s: {now}")
    return None
