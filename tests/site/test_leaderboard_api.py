"""The leaderboard over HTTP: filters, order, pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from leaderboard.models import Entry
from leaderboard.publish import publish, withdraw
from runs.models import Run
from tests.site.make_result import make_result, nothing_right, to_bytes

LEADERBOARD = "/api/v1/leaderboard/"


def shown_run(profile: str = "quick", **changes: Any) -> Run:
    result = make_result(profile=profile, **changes)
    run = Run.of(result, to_bytes(result), Run.Source.UPLOAD)
    run.save()
    publish(run, level="consistent", is_local=False)
    return run


def models(query: str) -> list[str]:
    response = Client().get(LEADERBOARD + query)
    assert response.status_code == 200, response.content
    return [entry["model_id"] for entry in response.json()["results"]]


@pytest.fixture
def board(db: None) -> None:
    """Three runs: two on a GPU, one on a processor."""
    shown_run(model_id="qwen3:8b", latency_s=2.0)
    shown_run(
        model_id="llama3.2:1b",
        harness="aider",
        subject={"model_family": "llama", "quantization": "Q8_0", "provider": "llamacpp"},
        write=nothing_right,
        latency_s=1.0,
        finished_at=datetime(2026, 5, 1, tzinfo=UTC),
    )
    shown_run(model_id="gemma3:4b", gpu=None, profile="smoke", latency_s=4.0)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"qwen3:8b", "llama3.2:1b", "gemma3:4b"}),
        ("?harness=aider", {"llama3.2:1b"}),
        ("?harness=aider&harness=raw", {"qwen3:8b", "llama3.2:1b", "gemma3:4b"}),
        ("?gpu=RTX 4090", {"qwen3:8b", "llama3.2:1b"}),
        ("?gpu=rtx 4090", {"qwen3:8b", "llama3.2:1b"}),
        ("?gpu=CPU only", {"gemma3:4b"}),
        ("?device_class=cpu-ryzen-7-7700-8c-64gb", {"gemma3:4b"}),
        ("?model_family=llama", {"llama3.2:1b"}),
        ("?quantization=Q8_0", {"llama3.2:1b"}),
        ("?profile=smoke", {"gemma3:4b"}),
        ("?provider=llamacpp", {"llama3.2:1b"}),
        ("?level=verified", set()),
        ("?level=consistent&gpu=CPU only", {"gemma3:4b"}),
        ("?q=gemma", {"gemma3:4b"}),
        ("?q=4090 raw", {"qwen3:8b"}),
        ("?min_memory_gb=48", {"gemma3:4b"}),
        ("?max_memory_gb=24", {"qwen3:8b", "llama3.2:1b"}),
        ("?until=2026-05-01", {"llama3.2:1b"}),
        ("?since=2026-05-02", {"qwen3:8b", "gemma3:4b"}),
        ("?harness=", {"qwen3:8b", "llama3.2:1b", "gemma3:4b"}),
    ],
)
def test_a_filter_keeps_what_it_names(board: None, query: str, expected: set[str]) -> None:
    assert set(models(query)) == expected


@pytest.mark.parametrize(
    "query",
    [
        "?gpuu=x",
        "?level=best",
        "?min_memory_gb=much",
        "?since=yesterday",
        "?ordering=run__header",
        "?q=" + "x" * 201,
        "?harness=%00",
        "?harness=" + "x" * 201,
        "?min_memory_gb=NaN",
    ],
)
def test_a_filter_that_means_nothing_is_refused(db: None, query: str) -> None:
    response = Client().get(LEADERBOARD + query)
    assert response.status_code == 400
    assert set(response.json()) == {"code", "message", "fields"}


@pytest.mark.parametrize("ordering", ["answers_per_minute", "-answers_per_minute"])
def test_unknown_values_are_last_in_both_directions(board: None, ordering: str) -> None:
    Entry.objects.filter(model_id="gemma3:4b").update(answers_per_minute=None)
    assert models(f"?ordering={ordering}")[-1] == "gemma3:4b"


def test_unknown_scores_are_last_by_default(board: None) -> None:
    Entry.objects.update(is_ranked=True, overall_score=None)
    Entry.objects.filter(model_id="gemma3:4b").update(overall_score=1.0)
    assert models("")[0] == "gemma3:4b"


def test_a_withdrawn_run_is_not_listed(db: None) -> None:
    withdraw(shown_run(), "mistake")
    assert models("") == []


def test_pages_hold_as_many_as_asked(board: None) -> None:
    response = Client().get(LEADERBOARD + "?page_size=2&ordering=finished_at")
    assert (response.json()["count"], len(response.json()["results"])) == (3, 2)
    assert Client().get(LEADERBOARD + "?page=9").status_code == 404


def test_a_page_takes_two_queries(board: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        models("?gpu=RTX 4090")


def test_an_entry_shows_every_column_and_nothing_of_the_tables(board: None) -> None:
    entry = Client().get(LEADERBOARD).json()["results"][0]
    assert {"id", "url", "overall_score_low", "band_low", "not_ranked_reason"} <= set(entry)
    assert not {"run", "withdrawn_reason"} & set(entry)
    assert len(entry["id"]) == 12


def test_the_schema_is_the_one_of_the_records(db: None) -> None:
    schema = Client().get("/api/v1/schema/result-v1.json").json()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "trials" in schema["properties"]


@pytest.mark.parametrize("address", ["/api/x/", "/api/v1/x/", "/api/v1/runs/x/", "/api/v2/"])
def test_an_unknown_address_has_the_error_body(db: None, address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 404
    assert set(response.json()) == {"code", "message", "fields"}


def test_a_wrong_method_has_the_error_body(db: None) -> None:
    response = Client().post(LEADERBOARD)
    assert response.status_code == 405
    assert response.json()["code"] == "method_not_allowed"


def test_a_wrong_host_has_the_error_body(db: None) -> None:
    response = Client().get(LEADERBOARD, headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert response.json()["code"] == "bad_request"
