"""From a run's header to the columns of its entry."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.contracts.chat import Sampling
from bench_loop.engine.ranking import league_of, not_ranked_reason
from bench_loop.result.records import ContextFacts, Gpu
from leaderboard.models import Entry
from leaderboard.publish import columns, gpu_model, publish, withdraw
from runs.models import Run, RunEvent
from tests.site.make_result import make_machine, make_result, make_subject, nothing_right, to_bytes


def stored_run(**changes: Any) -> Run:
    """A run of a profile that is ranked."""
    result = make_result(profile="quick", **changes)
    run = Run.of(result, to_bytes(result), Run.Source.LOCAL)
    run.save()
    return run


def test_scores_and_intervals_become_columns() -> None:
    result = make_result(profile="quick")
    row = columns(result)
    interval = result.aggregates.quality_score_interval
    assert row["quality_score"] == result.aggregates.quality_score
    assert (row["quality_score_low"], row["quality_score_high"]) == interval
    assert row["model_id"] == "qwen3:8b"
    assert row["gpu_model"] == "RTX 4090"


def test_every_column_that_a_run_fills_is_one_of_the_entry() -> None:
    names = {field.name for field in Entry._meta.concrete_fields}
    assert set(columns(make_result())) <= names


def gpu(model: str) -> Gpu:
    return Gpu(model=model, vendor="NVIDIA", memory_gb=24.0)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "RTX 4090"),
        ({"gpus": (gpu("RTX 3090"), gpu("RTX 3090"))}, "2 x RTX 3090"),
        ({"gpus": (gpu("RTX 3090"), gpu("RTX 4090"))}, "RTX 3090 + RTX 4090"),
        ({"gpus": ()}, "CPU only"),
        ({"backend": "cpu"}, "CPU only"),
        ({"gpus": (), "is_local": False, "backend": None}, None),
    ],
)
def test_the_gpu_is_named_as_a_person_would(changes: dict[str, Any], expected: str | None) -> None:
    assert gpu_model(make_machine("RTX 4090", **changes)) == expected


def test_a_smoke_run_is_never_ranked() -> None:
    assert "never ranked" in not_ranked_reason(make_result(profile="smoke"))


def test_a_run_of_picked_suites_is_never_ranked() -> None:
    assert "never ranked" in not_ranked_reason(make_result(suites=["reasonmath"]))


def test_an_incomplete_run_is_not_ranked() -> None:
    result = make_result(profile="quick").model_copy(update={"status": "incomplete"})
    assert not_ranked_reason(result) == "The run is incomplete."


def test_a_window_that_was_not_read_back_is_not_ranked() -> None:
    result = make_result(profile="core")
    aggregates = result.aggregates.model_copy(update={"overall_score": 50.0})
    subject = make_subject(context=ContextFacts(declared=8192))
    changed = result.model_copy(update={"aggregates": aggregates, "subject": subject})
    assert "window" in not_ranked_reason(changed)


def test_publishing_twice_keeps_one_entry(db: None) -> None:
    run = stored_run()
    publish(run, level="reported", is_local=True)
    publish(run, level="consistent", is_local=True)
    assert Entry.objects.get().level == "consistent"


def test_publishing_and_withdrawing_are_events_in_order(db: None) -> None:
    run = stored_run()
    publish(run, level="reported", is_local=True)
    withdraw(run, "mistake")
    withdraw(run, "again")
    assert [(event.seq, event.kind) for event in RunEvent.objects.all()] == [
        (1, "published"),
        (2, "withdrawn"),
    ]


def test_two_equal_runs_share_the_first_place(db: None) -> None:
    for model_id in ("qwen3:8b", "gemma3:4b"):
        publish(stored_run(model_id=model_id), level="reported", is_local=True)
    bands = [(entry.band_low, entry.band_high) for entry in Entry.objects.all()]
    assert bands == [(1, 2), (1, 2)]


def test_a_run_that_does_nothing_right_is_surely_last(db: None) -> None:
    good = publish(stored_run(), level="reported", is_local=True)
    bad = publish(
        stored_run(model_id="gemma3:4b", write=nothing_right), level="reported", is_local=True
    )
    good.refresh_from_db()
    assert (good.band_low, good.band_high) == (1, 1)
    assert (bad.run.entry.band_low, bad.run.entry.band_high) == (2, 2)


def test_withdrawing_a_run_moves_the_others_up(db: None) -> None:
    good, bad = stored_run(), stored_run(model_id="gemma3:4b", write=nothing_right)
    for run in (good, bad):
        publish(run, level="reported", is_local=True)
    withdraw(good, "mistake")
    assert [(entry.band_low, entry.band_high) for entry in Entry.objects.order_by("pk")] == [
        (None, None),
        (1, 1),
    ]


def test_another_harness_is_another_league(db: None) -> None:
    for harness in ("raw", "aider"):
        publish(stored_run(harness=harness), level="reported", is_local=True)
    assert {(entry.band_low, entry.band_high) for entry in Entry.objects.all()} == {(1, 1)}


def test_a_run_gives_back_its_exact_bytes_and_its_result(db: None) -> None:
    result = make_result()
    data = b"\n" + to_bytes(result)
    run = Run.of(result, data, Run.Source.UPLOAD)
    run.save()
    again = Run.objects.get()
    assert again.data() == data
    assert again.result() == result
    assert again.run_header().model_dump() == result.model_dump(exclude={"trials"})


@pytest.mark.parametrize("spelling", ["NVIDIA GeForce RTX 3090", "GeForce RTX 3090", "RTX 3090"])
def test_the_spellings_of_a_device_are_one_device(spelling: str) -> None:
    assert gpu_model(make_machine(gpus=(gpu(spelling),))) == "RTX 3090"


def test_an_unknown_device_keeps_its_name() -> None:
    assert gpu_model(make_machine(gpus=(gpu("CMP 170HX"),))) == "CMP 170HX"


def test_names_fit_the_columns_and_their_indexes(db: None) -> None:
    long = "\U0001f600" * 1000
    many = tuple(Gpu(model=f"{number}{long[:900]}") for number in range(64))
    entry = publish(
        stored_run(model_id=long, subject={"model_family": long}, machine={"gpus": many}),
        level="reported",
        is_local=True,
    )
    assert len(entry.model_id) == len(entry.gpu_model or "") == 255


@pytest.mark.parametrize(
    "changes",
    [{"sampling": Sampling(temperature=1.0)}, {"trials": 3}, {"thinking_budget": 8192}],
)
def test_runs_with_other_core_settings_are_not_ranked_together(changes: dict[str, Any]) -> None:
    result = make_result(profile="quick")
    settings = result.settings.model_copy(update=changes)
    assert league_of(result) != league_of(result.model_copy(update={"settings": settings}))


def test_a_model_without_the_switch_for_thinking_is_in_the_league_of_those_told_not_to() -> None:
    result = make_result(profile="quick")
    leagues = [
        league_of(
            result.model_copy(
                update={"subject": result.subject.model_copy(update={"thinking": value})}
            )
        )
        for value in (None, False, True)
    ]
    assert leagues[0] == leagues[1] != leagues[2]
