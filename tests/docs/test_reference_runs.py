"""Tests that the committed reference runs are what this version would make of their outputs."""

from __future__ import annotations

import json

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.official_text import official_text
from bench_loop.engine.rescore import packs_of, rescore
from bench_loop.privacy import private_findings, this_person
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.schema import result_schema
from scripts.reference_page import page, stale_suites
from scripts.references import FOLDER, MATRICES, REFERENCES, arms, runs

WHOLE, ARMS = runs(), arms()
RUNS = WHOLE | ARMS


def test_the_page_says_what_the_files_hold() -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == page(WHOLE, ARMS)


def test_every_file_is_that_of_a_run_with_its_report() -> None:
    results = {file.name.removesuffix(".json") for file in FOLDER.glob("*.json")}
    assert results == set(RUNS)
    reports = {file.name.removesuffix(".html") for file in FOLDER.glob("*.html")}
    assert reports == {*WHOLE, *(name.rpartition(".")[0] for name in ARMS)}


@pytest.mark.parametrize("name", RUNS)
class TestOneRun:
    """What holds for each of them."""

    def test_it_follows_the_published_schema(self, name: str) -> None:
        import jsonschema

        raw = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(result_schema()).validate(raw)

    def test_it_is_unchanged_since_it_was_written(self, name: str) -> None:
        assert fingerprint(RUNS[name]) == RUNS[name].fingerprint

    def test_it_is_a_whole_run_of_its_model(self, name: str) -> None:
        result = RUNS[name]
        matrix = MATRICES.get(name.rpartition(".")[0])
        reference = matrix or REFERENCES[name]
        profile = "custom" if matrix else reference.arguments[1]
        assert (result.status, result.profile) == ("complete", profile)
        assert reference.model in result.subject.model_id.lower().replace("_", "-")
        assert (result.matrix is not None) == (matrix is not None)

    def test_it_holds_nothing_private(self, name: str) -> None:
        data = (FOLDER / f"{name}.json").read_bytes()
        # A model made `/home/nut-cart` up out of the words of its task.
        public = official_text(RUNS[name], packs_of(RUNS[name]))
        assert private_findings(data, this_person(), public) == ()

    @pytest.mark.real
    def test_its_verdicts_and_scores_come_out_again(self, name: str, sandbox: Sandbox) -> None:
        again = rescore(RUNS[name], sandbox=sandbox)
        current = [suite for suite in again.suites if not suite.is_stale]
        assert not [change for change in again.trials if not change.is_stale]
        assert not sum(suite.not_judged for suite in current)
        assert again.after is again.before

    def test_a_suite_that_was_changed_since_is_called_stale(self, name: str) -> None:
        stale = stale_suites(RUNS[name])
        rows = [line for line in page(WHOLE, ARMS).splitlines() if line.startswith("| ")]
        for what in [f"[{name.rpartition('.')[2]}]"] * bool(stale) if name in ARMS else stale:
            assert any(row.startswith(f"| {what}") and "(stale)" in row for row in rows)
