"""`bench-loop dashboard` from a folder of result files."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group
from bench_loop.errors import ResultError
from bench_loop.result import store
from tests.look import samples


def dashboard(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["dashboard", *arguments])


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    for number in (1, 2):
        store.save(samples.result(number=number), folder)
    return folder


def test_it_writes_beside_the_results(results: Path) -> None:
    outcome = dashboard("--input", str(results))
    assert outcome.exit_code == 0
    assert outcome.stdout == f"2 runs: {results / 'dashboard.html'}\n"
    assert (results / "dashboard.html").read_text("utf-8").startswith("<!doctype html>")


def test_it_writes_where_it_is_told(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "report.html"
    assert dashboard("--input", str(results), "--output", str(target)).exit_code == 0
    assert target.is_file()


def test_a_bad_file_is_named_and_left_out(results: Path) -> None:
    (results / "broken.json").write_text("{")
    outcome = dashboard("--input", str(results))
    assert outcome.exit_code == 0
    assert "broken.json: not JSON" in outcome.stderr
    assert outcome.stdout.startswith("2 runs")


def test_with_no_readable_file_it_ends_with_code_4(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[]")
    outcome = dashboard("--input", str(tmp_path))
    assert isinstance(outcome.exception, ResultError)
    assert outcome.exception.exit_code == 4
    assert "no file could be read" in str(outcome.exception)


def test_an_empty_folder_names_the_remedy(tmp_path: Path) -> None:
    outcome = dashboard("--input", str(tmp_path))
    assert isinstance(outcome.exception, ResultError)
    assert outcome.exception.remedy == "Make one: bench-loop quickstart"


def test_without_a_folder_it_reads_the_users_own(benchloop_home: Path) -> None:
    store.save(samples.result(), benchloop_home / "results")
    assert dashboard().exit_code == 0
    assert (benchloop_home / "results" / "dashboard.html").is_file()
