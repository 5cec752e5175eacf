"""The matrix of the site: what it takes in, and what it costs to look at it."""

from __future__ import annotations

import csv
import io
import zlib
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from bench_loop.result import outline
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.scoring.matrix import matrix_of
from leaderboard import matrix as matrices
from leaderboard.models import Outline
from leaderboard.publish import withdraw
from submissions.models import Submission
from tests.look import matrix_samples as samples
from tests.look.reader import Page
from tests.look.test_pages import Show, page, show

__all__ = ["show"]

pytestmark = pytest.mark.django_db

SUITE = ("loop_code_fix",)
QUERIES = 7
"""Four facets, the profile, the runs, and their outlines."""


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def runs(models: int = 1, harnesses: int = 2) -> list[samples.RunResult]:
    return [
        samples.arm(model, harness, place, suites=SUITE, tasks=4, number=10 * row + place)
        for row, model in enumerate(samples.MODELS[:models], start=1)
        for place, harness in enumerate(samples.HARNESSES[:harnesses], start=1)
    ]


def cells(seen: Page) -> list[str]:
    fields = (one.get("class") or "" for one in seen.named("td"))
    return [found for found in fields if found.startswith("heat ")]


def test_published_runs_stand_in_it(client: Client, show: Show) -> None:
    show(runs(2, 3))
    seen = page(client, "/matrix/")
    assert "Change against raw, same weights" in seen.text
    assert "profile harness" in seen.text
    assert len(cells(seen)) == 2 * 2 + 2 * 3


def test_a_model_that_was_run_in_raw_alone_is_left_out(client: Client, show: Show) -> None:
    show([*runs(1, 2), samples.arm(samples.MODELS[4], samples.HARNESSES[0], 1, number=40)])
    text = page(client, "/matrix/").text
    assert samples.MODELS[0].name in text
    assert samples.MODELS[4].name not in text


def test_without_harnesses_it_gives_the_one_command(client: Client, show: Show) -> None:
    show(runs(1, 1))
    text = page(client, "/matrix/").text
    assert "No harness was run yet" in text
    assert "bench-loop matrix --models" in text


def test_a_withdrawn_run_is_in_no_cell(client: Client, show: Show) -> None:
    *_, last = show(runs(1, 3))
    withdraw(last.run, "A mistake.")
    seen = page(client, "/matrix/")
    assert len(cells(seen)) == 1 + 2


def test_a_filter_by_harness_keeps_raw(client: Client, show: Show) -> None:
    show(runs(1, 5))
    assert len(cells(page(client, "/matrix/?harness=aider"))) == 1 + 2


def test_filters_that_match_nothing_say_so(client: Client, show: Show) -> None:
    show(runs(1, 2))
    assert "No model was run in a harness here" in page(client, "/matrix/?gpu=none").text


@pytest.mark.parametrize("address", ["/matrix/?hardness=aider", "/matrix.csv?level=best"])
def test_a_misspelt_filter_is_named(client: Client, show: Show, address: str) -> None:
    show(runs(1, 2))
    assert "No such filter" in page(client, address, status=400).text


@pytest.mark.parametrize(("models", "harnesses"), [(1, 2), (3, 4)])
def test_it_asks_the_database_as_often_however_many_runs(
    client: Client,
    show: Show,
    django_assert_num_queries: DjangoAssertNumQueries,
    models: int,
    harnesses: int,
) -> None:
    show(runs(models, harnesses))
    with django_assert_num_queries(QUERIES):
        client.get("/matrix/")
    with django_assert_num_queries(QUERIES - 1):
        client.get("/matrix/")


def test_a_run_that_comes_later_is_in_the_next_page(client: Client, show: Show) -> None:
    first, second, third = runs(1, 3)
    show([first, second])
    assert len(cells(page(client, "/matrix/"))) == 1 + 2
    show([third])
    assert len(cells(page(client, "/matrix/"))) == 2 + 3


def test_no_more_than_the_best_runs_are_taken(
    client: Client, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrices, "MOST_RUNS", 2)
    show(runs(1, 3))
    seen = page(client, "/matrix/")
    assert "the best 2 runs of more" in seen.text
    assert "2 runs" in seen.text


def test_an_outline_gives_the_very_same_matrix(show: Show) -> None:
    made = runs(2, 4)
    show(made)
    kept = [outline.from_bytes(bytes(one.data)) for one in Outline.objects.order_by("pk")]
    assert matrix_of(kept) == matrix_of(made)


@pytest.mark.parametrize("data", [b"no zlib", zlib.compress(b'{"schema_version": 0}')])
def test_an_outline_that_cannot_be_read_costs_its_own_run_alone(
    client: Client, show: Show, data: bytes
) -> None:
    show(runs(1, 3))
    last = Outline.objects.order_by("pk").last()
    assert last is not None
    last.data = data
    last.save()
    assert len(cells(page(client, "/matrix/"))) == 1 + 2


def test_no_words_of_a_trial_are_in_an_outline() -> None:
    (run,) = runs(1, 1)
    assert any(trial.output for trial in run.trials)
    kept = outline.outline(run)
    assert {trial.output for trial in kept.trials} == {None}
    assert {len(trial.answer or "") for trial in kept.trials} <= {0, 1}


def test_the_file_holds_every_cell_unrounded(client: Client, show: Show) -> None:
    show(runs(2, 3))
    response = client.get("/matrix.csv")
    assert response["Content-Type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert len(lines) == 2 * 3
    assert {line["suite"] for line in lines} == set(SUITE)
    assert all(line["change"] == "" for line in lines if line["harness"] == "raw")
    assert all(line["change"] for line in lines if line["harness"] == "aider")


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "  =1+1", "\uff1d1+1", "-1+cmd"])
def test_a_name_in_the_file_is_no_formula(client: Client, show: Show, name: str) -> None:
    model = samples.Model(name, "Q4_K_M", samples.MODELS[0].rate)
    show(
        [
            samples.arm(model, harness, place, suites=SUITE, tasks=4, number=place)
            for place, harness in enumerate(samples.HARNESSES[:2], start=1)
        ]
    )
    lines = list(csv.DictReader(io.StringIO(client.get("/matrix.csv").content.decode())))
    assert {line["model"] for line in lines} == {f"'{name}"}


def test_a_stranger_is_not_the_baseline_of_a_matrix(show: Show) -> None:
    """Whose raw run takes the name of the matrix of another, and is worse and newer."""
    raw, aider = runs(1, 2)
    ours = show([raw, aider])
    worse = [
        one.model_copy(update={"outcome": "fail", "reason": "wrong", "answer": "no"})
        for one in raw.trials
    ]
    later = {"started_at": raw.started_at + timedelta(days=1), "trials": tuple(worse)}
    claimed = raw.model_copy(update={**later, "run_id": "20260909T090909Z-bbbbbbbbbb"})
    theirs = show([fingerprinted(claimed)])
    for name, entries in (("ours", ours), ("stranger", theirs)):
        owner = User.objects.create_user(name)
        for entry in entries:
            Submission.objects.create(run=entry.run, owner=owner)
    made = matrices.made_of([entry.pk for entry in (*ours, *theirs)])
    lines = list(csv.DictReader(io.StringIO(made.csv)))
    (against,) = (line["change"] for line in lines if line["harness"] == "aider")
    alone = matrices.made_of([entry.pk for entry in ours])
    (wanted,) = (
        line["change"]
        for line in csv.DictReader(io.StringIO(alone.csv))
        if line["harness"] == "aider"
    )
    assert against == wanted


def test_what_was_published_before_gets_its_outline(show: Show) -> None:
    made = runs(1, 2)
    show(made)
    before = sorted(bytes(one.data) for one in Outline.objects.all())
    Outline.objects.all().delete()
    migration = import_module("leaderboard.migrations.0003_outlines_for_matrices")
    migration.outlines_of_what_is_there(apps, None)
    assert sorted(bytes(one.data) for one in Outline.objects.all()) == before
