"""What an installation knows of the harnesses in a matrix."""

from __future__ import annotations

import pytest

from bench_loop.programs.known import all_harnesses
from bench_loop.programs.matrices import configuration_of, matrix_of_runs
from bench_loop.result.records import HarnessSettings, RunHeader
from tests.look import matrix_samples, samples

PROGRAMS = [one.adapter for one in all_harnesses() if one.adapter.installation is not None]


def header(**changes: object) -> RunHeader:
    found = samples.result(["pass"], speed=[], about=samples.subject(**changes))
    program = HarnessSettings(place="bubblewrap", limit_rule="as raw")
    settings = found.settings.model_copy(update={"harness": program})
    return found.model_copy(update={"settings": settings})


@pytest.mark.parametrize("adapter", PROGRAMS, ids=lambda adapter: adapter.name)
def test_the_pinned_configuration_is_the_standard(adapter: object) -> None:
    known = {
        "harness": adapter.name,  # type: ignore[attr-defined]
        "harness_version": adapter.version,  # type: ignore[attr-defined]
        "harness_config_hash": adapter.config_hash,  # type: ignore[attr-defined]
    }
    assert configuration_of(header(**known)) == "standard"
    assert configuration_of(header(**{**known, "harness_config_hash": samples.HASH})) == "custom"
    assert configuration_of(header(**{**known, "harness_version": "0.0.1"})) == "custom"


def test_raw_is_the_standard_and_a_harness_of_ones_own_is_not() -> None:
    assert configuration_of(header(harness="raw")) == "standard"
    assert configuration_of(header(harness="mine")) == "custom"


def test_recoveries_come_from_the_table_that_was_measured() -> None:
    harness = next(one for one in matrix_samples.HARNESSES if one.name == "opencode")
    runs = [
        matrix_samples.arm(matrix_samples.MODELS[0], one, place, suites=("agent",), tasks=2)
        for place, one in enumerate((matrix_samples.HARNESSES[0], harness), start=1)
    ]
    raw, program = matrix_of_runs(runs).costs
    assert raw.recovery is None
    assert program.recovery is not None
    assert program.recovery.tried > 0
