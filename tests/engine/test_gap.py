"""The frozen run that a fresh one is held against: found among the results, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.config import results_folder
from bench_loop.engine.gap import find_gap, gap_among, gap_between
from bench_loop.engine.plan import make_plan
from bench_loop.engine.run import Run
from bench_loop.engine.shelf import Shelf
from bench_loop.report.dashboard import dashboard
from bench_loop.report.gap import gap_json, gap_sentences
from bench_loop.result.records import RunResult
from tests.engine.doubles import ScriptedProvider
from tests.engine.fresh_packs import adder, official_packs
from tests.look.packs import packed_text


@pytest.fixture(autouse=True)
def _packs(tmp_path: Path) -> Iterator[None]:
    with official_packs(tmp_path / "packs"):
        yield


def run(
    provider: ScriptedProvider, seed: int | None = None, folder: Path | None = None, **plan: Any
) -> RunResult:
    setup = prepare(provider, "tiny", load_harness("raw"))
    planned = make_plan(suites=["sums"], shelf=Shelf(seed), **plan)
    return Run(planned, setup, folder or results_folder(), lambda event: None).go()


def knows_official(prompt: str) -> bool:
    return any(known in prompt for known in ("4000 + 17", "300 + 17", "300 - 17"))


def test_who_knows_the_official_tasks_by_heart_has_a_gap() -> None:
    frozen = run(adder(knows_official))
    found = find_gap(run(adder(knows_official), 7))
    assert found is not None
    assert found.frozen_run_id == frozen.run_id
    gap = found.gap
    assert (gap.frozen, gap.fresh, gap.difference, gap.family_count) == (100, 0, -100, 2)
    sentence, reading = gap_sentences(found)
    assert sentence.startswith(
        f"The same 2 families: frozen 100.0 (run {frozen.run_id}), fresh 0.0"
    )
    assert "no proof against it" in reading or "may be known by heart" in reading
    assert gap_json(found)["difference"] == -100


def test_who_can_add_has_none() -> None:
    run(adder())
    found = find_gap(run(adder(), 7))
    assert found is not None
    assert found.gap.difference == 0
    assert "no sign of tasks known by heart" in gap_sentences(found)[1]


def test_the_newest_frozen_run_counts_and_other_folders_are_looked_through(tmp_path: Path) -> None:
    older = run(adder(knows_official))
    file = results_folder() / f"{older.run_id}.json"
    file.rename(file.with_name("20200101T000000Z-aaaaaaaaaa.json"))
    newest = run(adder(), folder=tmp_path / "elsewhere")
    fresh = run(adder(), 7)
    found = find_gap(fresh, [tmp_path / "elsewhere"])
    assert found is not None
    assert found.frozen_run_id == newest.run_id


def test_only_the_instances_may_differ() -> None:
    fresh = run(adder(), 7)
    frozen = run(adder())
    assert gap_between(frozen, fresh) is not None
    assert gap_between(fresh, fresh) is None
    assert gap_between(frozen, frozen) is None
    assert gap_between(run(adder(), trials=2), fresh) is None
    for changes in (
        {"subject": frozen.subject.model_copy(update={"model_id": "other"})},
        {"subject": frozen.subject.model_copy(update={"quantization": "Q8_0"})},
        {"status": "incomplete"},
        {"suites": ()},
        {"profile": "quick"},
        {"suites": (frozen.suites[0].model_copy(update={"pack_hash": "sha256:" + "0" * 64}),)},
        {"suites": (frozen.suites[0].model_copy(update={"is_private": True}),)},
    ):
        assert gap_between(frozen.model_copy(update=changes), fresh) is None, changes


def test_without_a_frozen_run_there_is_no_gap() -> None:
    (results_folder() / "foreign.json").write_text("{}")
    assert find_gap(run(adder(), 7)) is None


def test_the_dashboard_says_it_beside_the_fresh_run_alone() -> None:
    frozen, fresh = run(adder(knows_official)), run(adder(knows_official), 7)
    page = packed_text(dashboard([frozen, fresh]))
    assert page.count(f"(run {frozen.run_id}), fresh 0.0") == 1
    assert "same 2 families" not in packed_text(dashboard([fresh]))
    assert gap_among(fresh, [fresh, frozen]) == find_gap(fresh)
