"""`bench-loop harness`, with harnesses that are not installed: nothing is fetched here."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from bench_loop import cli
from bench_loop.programs.installed import RECORD, installation_folder
from bench_loop.programs.known import all_harnesses
from tests.fakes.small_harness import lay_down


def bench_loop(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def pretend_installed(name: str) -> Path:
    """Put something in the place of `name` that counts as its installation."""
    [adapter] = [one.adapter for one in all_harnesses() if one.adapter.name == name]
    assert adapter.installation is not None
    folder = installation_folder(name, adapter.installation)
    found = lay_down(folder)
    program = folder / adapter.installation.program
    program.parent.mkdir(parents=True, exist_ok=True)
    program.symlink_to(found.program)
    changed = {"name": name, "version": adapter.version, "size_bytes": 5 * 2**20}
    record = found.record.model_copy(update=changed)
    (folder / RECORD).write_text(record.model_dump_json())
    return folder


def test_all_harnesses_are_listed_with_what_they_need(capfd: pytest.CaptureFixture[str]) -> None:
    pretend_installed("goose")
    assert bench_loop("harness", "list") == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["hermes", "0.19.0", "MIT", "no", "228", "64,000", "needed"] in lines
    assert ["goose", "1.50.0", "Apache-2.0", "yes", "5", "4,096", "needed"] in lines
    assert ["raw", "1.1", "MIT", "built", "in", "-", "-", "not", "needed"] in lines


def test_on_a_narrow_terminal_no_name_or_window_is_cut(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert bench_loop("harness", "list") == 0
    table, _, rest = capfd.readouterr().out.partition("\n\n")
    assert "..." not in table
    assert "…" not in table
    assert "openclaw  2026.9.6  no" in table
    assert "goose  plain answer" in rest.splitlines()[4]
    assert "\n  commands, native tools" in rest


def test_the_list_can_be_read_by_a_program(capfd: pytest.CaptureFixture[str]) -> None:
    folder = pretend_installed("goose")
    assert bench_loop("harness", "list", "--json") == 0
    found = {one["name"]: one for one in json.loads(capfd.readouterr().out)}
    assert found["raw"]["installation"] is None
    assert found["hermes"]["installed"] is None
    assert found["hermes"]["options"]["path"][0] == "runs"
    assert found["hermes"]["needs"] == {"context_window": 64000, "tool_calls": True}
    assert found["goose"]["installed"]["folder"] == str(folder)
    assert found["goose"]["installation"]["packages"] == ["@aaif/goose-acp@1.50.0"]


def test_before_a_download_its_size_source_and_licence_are_shown(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert bench_loop("harness", "install", "aider") == 2
    said = capfd.readouterr().err
    assert "aider-chat==0.86.2 from PyPI" in said
    assert "licence Apache-2.0, https://aider.chat" in said
    assert "about 687 MB in " in said
    assert "Add --yes" in said


def test_what_is_there_is_not_installed_again(capfd: pytest.CaptureFixture[str]) -> None:
    pretend_installed("goose")
    assert bench_loop("harness", "install", "goose", "--yes") == 0
    assert capfd.readouterr().err == "goose 1.50.0 is installed already.\n"


def test_removing_shows_what_goes_and_asks(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    folder = pretend_installed("goose")
    assert bench_loop("harness", "remove", "goose") == 2
    assert f"{folder} (5 MB)" in capfd.readouterr().err
    assert folder.is_dir()
    assert bench_loop("harness", "remove", "goose", "--yes") == 0
    assert not folder.exists()
    assert bench_loop("harness", "remove", "goose", "--yes") == 0
    assert "goose is not installed." in capfd.readouterr().err


def test_a_check_of_what_is_not_installed_names_the_command(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert bench_loop("harness", "check", "goose") == 3
    assert "bench-loop harness install goose" in capfd.readouterr().err


def test_a_harness_without_settings_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    pretend_installed("goose")
    assert bench_loop("harness", "check", "goose", "--harness-option", "path=exec") == 2
    said = capfd.readouterr().err
    assert "goose has no settings." in said
    assert "Leave --harness-option out." in said


def test_a_run_looks_for_the_program_before_it_loads_a_model(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ("--model", "no-such-model", "--provider", "embedded", "--suites", "dataextract")
    assert bench_loop("run", *words, "--harness", "goose") == 3
    said = capfd.readouterr().err
    assert "The harness goose is not installed.\n  Try: bench-loop harness install goose" in said
    assert "Loading" not in said


@pytest.mark.parametrize("verb", ["install", "check", "remove"])
def test_raw_is_no_program(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert bench_loop("harness", verb, "raw") == 2
    assert "raw is part of BenchLoop" in capfd.readouterr().err


def test_a_misspelt_harness_is_guessed(capfd: pytest.CaptureFixture[str]) -> None:
    assert bench_loop("harness", "install", "gose") == 2
    assert "Did you mean goose?" in capfd.readouterr().err


def test_an_option_that_a_harness_lacks_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert bench_loop("harness", "check", "hermes", "--harness-option", "path=telepathy") == 2
    assert "telepathy" in capfd.readouterr().err
