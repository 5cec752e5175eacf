"""The rim through which the doctor looks at this machine: files, tools, counters and clocks."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench_loop.machine.probe import read_text, run_tool

LOAD_SPAN_S = 0.5


def _cpu_share() -> float:
    return psutil.cpu_percent(interval=LOAD_SPAN_S)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _clocks() -> tuple[float, float]:
    return time.time(), time.monotonic()


@dataclass(frozen=True, slots=True)
class Host:
    """This machine; a test gives it another root, other tools and other clocks."""

    root: Path = Path("/")
    system: str = sys.platform
    run: Callable[[Sequence[str]], str | None] = run_tool
    """What a tool prints; None when it is missing or fails."""
    cpu_share: Callable[[], float] = _cpu_share
    """Per cent of all processors that are busy."""
    free_bytes: Callable[[Path], int] = _free_bytes
    """Raises OSError."""
    clocks: Callable[[], tuple[float, float]] = _clocks
    """Seconds on the wall clock and on the one that never jumps, read together."""

    def text(self, path: str) -> str | None:
        """The text of the file at an absolute path; None when it cannot be read."""
        return read_text(self.root / path.lstrip("/"))

    def glob(self, pattern: str) -> tuple[Path, ...]:
        """The paths that match an absolute pattern, sorted."""
        return tuple(sorted(self.root.glob(pattern.lstrip("/"))))


@dataclass(frozen=True, slots=True)
class NvidiaGpu:
    """What NVIDIA's tool reads of one GPU; None where it has no sensor."""

    index: int
    busy_percent: float | None
    temperature_c: float | None
    limit_w: float | None
    default_limit_w: float | None
    is_hot: bool
    """Slowed down by its temperature at this moment."""


_FIELDS = (
    "index",
    "utilization.gpu",
    "temperature.gpu",
    "power.limit",
    "power.default_limit",
)
_REASONS = ("clocks_event_reasons", "clocks_throttle_reasons")
"""What newer and older drivers call the reasons for a low clock."""
_THERMAL = ("hw_thermal_slowdown", "sw_thermal_slowdown")


def nvidia_gpus(host: Host) -> tuple[NvidiaGpu, ...]:
    """NVIDIA's GPUs; none where the tool is missing."""
    rows = _query(host, _FIELDS)
    hot = _hot(host) if rows else frozenset()
    return tuple(
        NvidiaGpu(
            index=int(cells[0]),
            busy_percent=_figure(cells[1]),
            temperature_c=_figure(cells[2]),
            limit_w=_figure(cells[3]),
            default_limit_w=_figure(cells[4]),
            is_hot=cells[0] in hot,
        )
        for cells in rows
    )


def _hot(host: Host) -> frozenset[str]:
    """The indexes of the GPUs that their temperature slows down."""
    for name in _REASONS:
        # A field that the driver does not know fails the whole query.
        if rows := _query(host, ("index", *(f"{name}.{reason}" for reason in _THERMAL))):
            return frozenset(row[0] for row in rows if "Active" in row[1:])
    return frozenset()


def _query(host: Host, fields: Sequence[str]) -> list[list[str]]:
    """One row for each GPU: its index, and the other fields as they are printed."""
    query = f"--query-gpu={','.join(fields)}"
    printed = host.run(["nvidia-smi", query, "--format=csv,noheader,nounits"]) or ""
    rows = [[cell.strip() for cell in line.split(",")] for line in printed.splitlines()]
    return [row for row in rows if len(row) == len(fields) and row[0].isdigit()]


def _figure(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
