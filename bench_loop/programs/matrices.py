"""A matrix of runs with what this installation knows of harnesses: their standard, their faults."""

from __future__ import annotations

from collections.abc import Sequence

from bench_loop.programs.fault_table import recoveries
from bench_loop.programs.known import pinned
from bench_loop.result.pinned import custom_reasons
from bench_loop.result.records import RunHeader, RunResult
from bench_loop.scoring.matrix import Configuration, Matrix, Refusal, matrix_of


def matrix_of_runs(runs: Sequence[RunResult], refusals: Sequence[Refusal] = ()) -> Matrix:
    """Their matrix; `refusals` are of arms that have no run."""
    return matrix_of(
        runs, configuration_of=configuration_of, refusals=refusals, recoveries=recoveries()
    )


def configuration_of(header: RunHeader) -> Configuration:
    """Whether it ran as BenchLoop pins and configures it."""
    return "custom" if custom_reasons(header, pinned()) else "standard"
