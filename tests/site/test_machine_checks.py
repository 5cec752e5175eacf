"""Machines and timings that cannot be, for a person to look at; and honest ones, that can."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.chat import EngineTimings, StreamFacts, TokenCounts
from bench_loop.result import store
from bench_loop.result.records import Gpu, RunResult, Trial
from submissions import checks
from tests.site.make_result import make_result, rescored

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
REFERENCE_RUNS = sorted((Path(__file__).parents[2] / "docs" / "reference-runs").glob("*.json"))


def found(result: RunResult) -> set[tuple[str, str]]:
    """Code and field of what a person should look at. Nothing here is refused."""
    findings = checks.findings(result, NOW)
    assert [one for one in findings if one.severity == "refused"] == []
    return {(one.code, one.field) for one in findings if one.severity == "needs_review"}


def on(**machine: Any) -> RunResult:
    return make_result(suites=["reasonmath"], machine=machine, finished_at=NOW)


def gpu(model: str, memory_gb: float | None, vendor: str | None = "NVIDIA") -> dict[str, Any]:
    return {
        "gpus": (Gpu(model=model, vendor=vendor, memory_gb=memory_gb),),
        "gpu_memory_gb": memory_gb,
    }


@pytest.mark.parametrize(
    "machine",
    [
        gpu("RTX 4090", 23.99) | {"device_class": "rtx-4090-24gb"},
        gpu("RTX 4090", 47.4) | {"device_class": "rtx-4090-48gb"},  # rebuilt boards
        gpu("RTX 3060", 12.0) | {"device_class": "rtx-3060-12gb"},
        gpu("Board 9000", 500.0) | {"device_class": "board-9000-500gb"},  # in no table
        gpu("Radeon RX 7900 XTX", 24.0, "AMD")
        | {"device_class": "rx-7900-xtx-24gb", "backend": "rocm"},
        gpu("RTX 4090", 24.0) | {"device_class": "rtx-4090-24gb", "backend": "vulkan"},
        {"gpus": (), "gpu_memory_gb": None, "backend": "cpu"}
        | {"device_class": "cpu-ryzen-7-7700-8c-64gb"},
        {"gpus": (), "gpu_memory_gb": None, "backend": "cpu", "system_memory_gb": 62.7}
        | {"device_class": "cpu-ryzen-7-7700-64gb"},
    ],
)
def test_a_machine_that_can_be_is_not_looked_at(machine: dict[str, Any]) -> None:
    assert found(on(**machine)) == set()


@pytest.mark.parametrize(
    ("machine", "field"),
    [
        (
            gpu("RTX 4090", 80.0) | {"device_class": "rtx-4090-80gb"},
            "machine.gpus[0].memory_gb",
        ),
        (
            gpu("GeForce RTX 4090", 24.0, "AMD") | {"device_class": "rtx-4090-24gb"},
            "machine.gpus[0].vendor",
        ),
        ({"backend": "metal"}, "machine.backend"),
        ({"backend": "rocm"}, "machine.backend"),
        ({"system_memory_gb": 0.1}, "machine.system_memory_gb"),
        ({"system_memory_gb": 1e6}, "machine.system_memory_gb"),
    ],
)
def test_a_machine_that_cannot_be_is_looked_at(machine: dict[str, Any], field: str) -> None:
    assert ("odd_machine", field) in found(on(**machine))


@pytest.mark.parametrize(
    "device_class",
    ["cpu-ryzen-7-7700-8c-128gb", "cpu-epyc-9654-96c-64gb", "cpu-ryzen-7-7700", "cpu-"],
)
def test_the_class_of_a_processor_follows_from_it(device_class: str) -> None:
    machine = {"gpus": (), "gpu_memory_gb": None, "backend": "cpu", "device_class": device_class}
    assert ("machine_mismatch", "machine.device_class") in found(on(**machine))


def test_no_processor_has_five_thousand_cores() -> None:
    machine = {"gpus": (), "gpu_memory_gb": None, "backend": "cpu"}
    name = "cpu-ryzen-7-7700-5000c-64gb"
    assert ("odd_machine", "machine.device_class") in found(on(**machine, device_class=name))


@pytest.mark.parametrize(
    ("parameters_b", "share", "field"),
    [
        (8.2, 1.0, None),
        (30.0, 1.0, None),  # 18 GB
        (70.0, None, None),  # 43 GB, in part on the processor
        (70.0, 1.0, "subject.offloaded_share"),
        (235.0, None, "subject.parameters_b"),
    ],
)
def test_a_model_lies_in_memory_that_there_is(
    parameters_b: float, share: float | None, field: str | None
) -> None:
    subject = {
        "parameters_b": parameters_b,
        "active_parameters_b": 8.0,
        "offloaded_share": share,
    }
    # Named without a size, which would be compared with this one.
    renamed = make_result(
        suites=["reasonmath"], subject=subject, model_id="qwen3:latest", finished_at=NOW
    )
    expected = set() if field is None else {("memory_mismatch", field)}
    assert found(renamed) == expected


def with_first(result: RunResult, **changes: Any) -> RunResult:
    first = result.trials[0].model_copy(update=changes)
    return rescored(result.model_copy(update={"trials": (first, *result.trials[1:])}))


def timings(trial: Trial, **changes: Any) -> EngineTimings:
    assert trial.engine_timings is not None
    return trial.engine_timings.model_copy(update=changes)


def test_timings_of_another_trial_are_looked_at() -> None:
    result = make_result(finished_at=NOW)
    first = result.trials[0]
    for changes, field in (
        ({"engine_timings": timings(first, generated_tokens=9)}, "generated_tokens"),
        ({"engine_timings": timings(first, prompt_tokens=9)}, "prompt_tokens"),
        ({"engine_timings": timings(first, prompt_s=900.0)}, ""),
    ):
        where = f"trials[0].engine_timings{'.' if field else ''}{field}"
        assert ("foreign_timings", where) in found(with_first(result, **changes))


def test_more_events_than_tokens_are_looked_at_where_tokens_are_counted() -> None:
    result = make_result(suites=["reasonmath"], finished_at=NOW)
    many = StreamFacts(events=900, distinct_arrivals=900)
    where = ("foreign_timings", "trials[0].stream.events")
    assert where in found(with_first(result, stream=many))
    guessed = TokenCounts(prompt=300, completion=5, basis="estimated")
    assert where not in found(with_first(result, stream=many, tokens=guessed))


def test_another_seed_than_the_rules_is_looked_at() -> None:
    result = make_result(suites=["reasonmath"], finished_at=NOW)
    assert ("other_settings", "trials[0].seed") in found(with_first(result, seed=7))


def test_a_whole_reply_in_one_event_has_no_rate() -> None:
    result = make_result(finished_at=NOW)
    index = max(
        range(len(result.trials)),
        key=lambda i: (
            (result.trials[i].suite != "speed" and result.trials[i].tokens.completion) or 0
        ),
    )
    at_once = result.trials[index].model_copy(
        update={
            "t_first_answer_s": result.trials[index].t_last_s,
            "stream": StreamFacts(
                events=1,
                distinct_arrivals=1,
                first_event_tokens=result.trials[index].tokens.completion or 0,
            ),
        }
    )
    trials = (*result.trials[:index], at_once, *result.trials[index + 1 :])
    assert found(rescored(result.model_copy(update={"trials": trials}))) == set()


@pytest.mark.parametrize("file", REFERENCE_RUNS, ids=lambda file: file.stem)
def test_no_real_run_has_an_odd_machine_or_anothers_timings(file: Path) -> None:
    codes = {one.code for one in checks.findings(store.load(file), datetime.now(UTC))}
    assert not codes & {"odd_machine", "foreign_timings", "memory_mismatch", "verdict_mismatch"}
