"""`bench-loop report` as a person calls it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group
from bench_loop.errors import ResultError, SetupError, UsageError
from bench_loop.result import store
from tests.look import samples
from tests.processes import ROOT, bench_loop, environment, finish


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return store.save(samples.result(), tmp_path / "results")


def report(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["report", *map(str, arguments)])


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("html", "<!doctype html>"),
        ("md", "### `qwen3:8b`"),
        ("json", "{"),
        ("csv", "run_id,"),
        ("junit", "<?xml"),
    ],
)
def test_each_format_goes_to_standard_output(file: Path, form: str, begins: str) -> None:
    outcome = report(file, "--format", form)
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith(begins)
    assert outcome.stderr == ""


@pytest.mark.parametrize("name", ["run.html", "run.md", "run.JSON", "run.csv", "run.xml"])
def test_the_name_of_the_output_tells_the_format(file: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "new" / name
    assert report(file, "--output", target).exit_code == 0
    assert target.stat().st_size > 500


def test_without_a_format_it_is_a_report_to_read(file: Path) -> None:
    assert "reliability" in report(file).stdout


def test_the_json_is_the_whole_result(file: Path) -> None:
    assert json.loads(report(file, "--format", "json").stdout) == json.loads(file.read_bytes())


def test_latest_is_the_newest_of_the_data_folder(benchloop_home: Path) -> None:
    store.save(samples.result(), benchloop_home / "results")
    assert report("latest", "--format", "md").exit_code == 0


def test_the_result_itself_is_never_overwritten(file: Path) -> None:
    before = file.read_bytes()
    outcome = report(file, "--output", file)
    assert isinstance(outcome.exception, UsageError)
    assert file.read_bytes() == before


def test_an_ending_that_tells_nothing_needs_a_format(file: Path, tmp_path: Path) -> None:
    outcome = report(file, "--output", tmp_path / "run.txt")
    assert isinstance(outcome.exception, UsageError)
    assert outcome.exception.remedy == "Add --format html|md|json|csv|junit|hf"


def test_a_place_that_takes_no_file_is_named(file: Path) -> None:
    outcome = report(file, "--output", file / "run.md")
    assert isinstance(outcome.exception, SetupError)


def test_the_hub_needs_a_data_set_and_only_the_hub(file: Path) -> None:
    assert isinstance(report(file, "--format", "hf").exception, UsageError)
    assert isinstance(report(file, "--format", "md", "--dataset", "a/b").exception, UsageError)
    assert "task_id: reasonmath" in report(file, "--format", "hf", "--dataset", "a/b").stdout


def test_a_file_that_is_no_result_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    assert isinstance(report(tmp_path / "x.json").exception, ResultError)


@pytest.mark.parametrize("code_page", ["cp437", "cp1252"])
@pytest.mark.parametrize("command", ["report", "dashboard"])
def test_a_name_that_the_code_page_lacks_is_no_error(
    tmp_path: Path, code_page: str, command: str
) -> None:
    folder = tmp_path / "результаты"
    about = samples.subject(model_id="модель 模型")
    file = store.save(samples.result(about=about), folder)
    source = (file,) if command == "report" else ("--input", folder)
    env = environment(tmp_path / "home", PYTHONIOENCODING=code_page, PYTHONUTF8="0")
    assert "\\u" in finish(bench_loop(command, *source), env)


@pytest.mark.parametrize("columns", ["40", "60", "80", "140"])
def test_no_line_of_the_report_is_wider_than_the_terminal(file: Path, columns: str) -> None:
    env = environment(file.parent / "home", COLUMNS=columns)
    for line in finish(bench_loop("report", file), env).splitlines():
        assert len(line) <= int(columns) or "next" in line or "saved" in line


def test_the_form_of_a_file_does_not_hang_on_the_code_page(file: Path, tmp_path: Path) -> None:
    command = bench_loop("report", file, "--format", "md")
    env = environment(tmp_path / "home", PYTHONIOENCODING="cp437", PYTHONUTF8="0")
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, check=True)
    assert "±" in done.stdout.decode("utf-8")
