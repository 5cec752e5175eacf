"""What the sensors read, at the end of a run in a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from bench_loop.console import THEME
from bench_loop.report.terminal import print_run
from bench_loop.result.records import PeakMemory, RunResult
from tests.look import samples


def lines(result: RunResult) -> list[str]:
    out = io.StringIO()
    print_run(result, Console(file=out, width=100, theme=THEME, force_terminal=False))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_a_sensor_that_was_missing_is_a_dash() -> None:
    assert "energy - no sensor" in lines(samples.result())


def test_memory_at_its_peak_is_told() -> None:
    peak = PeakMemory(ram_gb=3.25, ram_scope="server")
    assert "peak memory 3.25 GB, server" in lines(samples.result(peak_memory=peak))
