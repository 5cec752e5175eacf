"""`score`, `rescore`, `validate` and `schema --task` from the command line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import get_args

import pytest

from bench_loop.commands.score import CONVENTIONS, FORMATS
from bench_loop.config import bundled
from bench_loop.contracts.task import Convention
from bench_loop.providers.saved import SavedFormat
from bench_loop.result.signature import signed, signer_of
from bench_loop.result.store import load, to_bytes
from tests.commands.test_compare_and_suites import run
from tests.engine.test_rescore import MISJUDGED, math_run, with_stale_pack, with_trial
from tests.packs.test_packs import MANIFEST, TASK

Captured = pytest.CaptureFixture[str]
LABELS = str(bundled("packs") / "reasonmath" / "label-sheets.yaml")


@pytest.fixture
def reply(tmp_path: Path) -> Path:
    file = tmp_path / "reply.txt"
    file.write_text("<think>86?</think>\n12 x 8\nANSWER: 96 labels\n")
    return file


def test_a_pass_ends_with_0_and_shows_what_was_read(reply: Path, capsys: Captured) -> None:
    assert run("score", "--task", LABELS, "--output", str(reply)) == 0
    shown = capsys.readouterr().out
    assert "pass  reasonmath.label-sheets" in shown
    assert "answer read     96" in shown
    assert "86" not in shown


def test_whatever_is_no_pass_ends_with_1_and_says_why(reply: Path, capsys: Captured) -> None:
    reply.write_text("ANSWER: 20 \x1b[31mlabels")
    assert run("score", "--task", LABELS, "--output", str(reply)) == 1
    shown = capsys.readouterr().out
    assert "fail  reasonmath.label-sheets  " in shown
    assert "\x1b[31m" not in shown


def test_the_output_may_come_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ANSWER: 96")))
    assert run("score", "--task", LABELS, "--output", "-") == 0


def test_score_prints_json_and_only_that(reply: Path, capsys: Captured) -> None:
    assert run("score", "--task", LABELS, "--output", str(reply), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    names = ("outcome", "score", "reason", "message", "answer", "final_text", "has_thinking")
    assert [shown[name] for name in names] == [
        "pass",
        1.0,
        None,
        None,
        "96",
        "\n12 x 8\nANSWER: 96 labels\n",
        True,
    ]


def test_a_wrong_task_file_ends_with_4(tmp_path: Path, reply: Path, capsys: Captured) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TASK.replace("value: 5", "value: five"))
    arguments = ("--convention", "answer_line", "--output", str(reply))
    assert run("score", "--task", str(file), *arguments) == 4
    assert "two.yaml: expected.value: " in capsys.readouterr().err


def test_an_output_that_is_not_there_ends_with_2(tmp_path: Path, capsys: Captured) -> None:
    assert run("score", "--task", LABELS, "--output", str(tmp_path / "none")) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.fixture
def misjudged(tmp_path: Path) -> Path:
    file = tmp_path / "run.json"
    file.write_bytes(to_bytes(with_trial(math_run(), **MISJUDGED)))
    return file


def test_rescore_shows_what_changed_and_ends_with_1(misjudged: Path, capsys: Captured) -> None:
    before = misjudged.read_bytes()
    assert run("rescore", str(misjudged)) == 1
    shown = capsys.readouterr().out
    assert "reasonmath.label-sheets, trial 1: fail (no_answer) -> pass" in shown
    assert misjudged.read_bytes() == before


def test_rescore_ends_with_0_where_nothing_changed(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(to_bytes(math_run()))
    assert run("rescore", str(file)) == 0
    assert "Nothing has changed." in capsys.readouterr().out


def test_rescore_tells_a_pack_that_has_changed(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(to_bytes(with_stale_pack(math_run())))
    assert run("rescore", str(file)) == 0
    assert "Its pack has changed since the run" in capsys.readouterr().out


def test_rescore_writes_only_where_it_is_told_and_never_over_a_file(
    misjudged: Path, tmp_path: Path, capsys: Captured
) -> None:
    new = tmp_path / "new.json"
    assert run("rescore", str(misjudged), "--output", str(new), "--json") == 1
    assert json.loads(capsys.readouterr().out)["trials"][0]["after"]["outcome"] == "pass"
    assert run("rescore", str(new)) == 0
    assert load(new).rescored is not None
    assert run("rescore", str(misjudged), "--output", str(new)) == 4
    assert "exists already" in capsys.readouterr().err


def test_what_rescore_writes_of_an_own_signed_run_is_signed_again(tmp_path: Path) -> None:
    file, new = tmp_path / "run.json", tmp_path / "new.json"
    file.write_bytes(to_bytes(signed(with_trial(math_run(), **MISJUDGED))))
    assert run("rescore", str(file), "--output", str(new)) == 1
    assert signer_of(json.loads(new.read_bytes())) is not None
    assert load(new).signature != load(file).signature


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "pack.yaml").write_text(MANIFEST)
    (folder / "two.yaml").write_text(TASK)
    return folder


def test_validate_tells_every_fault_and_ends_with_4(faulty: Path, capsys: Captured) -> None:
    assert run("validate", str(faulty)) == 4
    shown = capsys.readouterr().out
    assert "sums/two.yaml: near_misses: at least 3 wrong answers are needed\n" in shown
    assert "1 pack, 1 task: 1 fault" in shown


def test_validate_prints_json_and_only_that(faulty: Path, capsys: Captured) -> None:
    assert run("validate", "--json", str(faulty)) == 4
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["file"], fault["field"]) == ("sums/two.yaml", "near_misses")


def test_packs_that_ship_are_valid(capsys: Captured) -> None:
    # Each of their tasks is tested by itself in tests/packs, with a sandbox.
    for name in ("reasonmath", "toolcall"):
        assert run("validate", str(bundled("packs") / name)) == 0
        assert "no fault" in capsys.readouterr().out


def test_the_schema_of_task_files_is_printed(capsys: Captured) -> None:
    assert run("schema", "--task") == 0
    assert json.loads(capsys.readouterr().out)["$id"] == "urn:bench-loop:task"


def test_every_convention_and_format_can_be_named() -> None:
    assert get_args(Convention) == CONVENTIONS
    assert {"text", *get_args(SavedFormat)} == set(FORMATS)
