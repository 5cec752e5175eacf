"""Any output is judged by any task file, in the way that its suite reads answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.config import bundled
from bench_loop.engine.score import OutputFormat, find_task, judge_saved
from bench_loop.errors import PackError, UsageError
from tests.packs.test_packs import MANIFEST, TASK

LABELS = bundled("packs") / "reasonmath" / "label-sheets.yaml"


def reason_of(data: str, form: OutputFormat = "text") -> str | None:
    task, convention = find_task(LABELS, None)
    return judge_saved(task, convention, data.encode(), form).verdict.reason


def test_a_shipped_task_is_judged_as_in_a_run() -> None:
    assert reason_of("12 x 8\nANSWER: 96 labels\n") is None
    assert reason_of("ANSWER: 20 labels") == "wrong_value"


def test_a_task_beside_no_pack_is_judged_by_the_convention_that_is_given(tmp_path: Path) -> None:
    file = tmp_path / "any-name.yaml"
    file.write_text(TASK)
    task, convention = find_task(file, "answer_line")
    assert (task.suite, convention) == ("sums", "answer_line")
    assert judge_saved(task, convention, b"ANSWER: 5", "text").verdict.outcome == "pass"


def test_a_task_beside_no_pack_needs_a_convention(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TASK)
    with pytest.raises(UsageError, match=r"no pack\.yaml beside two\.yaml") as caught:
        find_task(tmp_path / "two.yaml", None)
    assert "--convention" in (caught.value.remedy or "")


def test_the_pack_beside_the_task_says_the_convention(tmp_path: Path) -> None:
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "pack.yaml").write_text(MANIFEST)
    (folder / "two.yaml").write_text(TASK)
    assert find_task(folder / "two.yaml", None)[1] == "answer_line"
    assert find_task(folder / "two.yaml", "answer_line")[1] == "answer_line"
    with pytest.raises(UsageError, match="reads answers as answer_line"):
        find_task(folder / "two.yaml", "document")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("value: 5", "value: five", "expected.value"),
        ("id: sums.two", "id: two", "id"),
        ("id: sums.two\n", "", "id"),
        ("[arithmetic]", "[telepathy]", "capability_tags"),
        ("verifier_type: tolerance", "verifier_type: guess", "verifier_type"),
    ],
)
def test_a_wrong_task_file_is_named_with_its_field(
    tmp_path: Path, old: str, new: str, field: str
) -> None:
    (tmp_path / "two.yaml").write_text(TASK.replace(old, new))
    with pytest.raises(PackError) as caught:
        find_task(tmp_path / "two.yaml", "answer_line")
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_missing_file_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(PackError, match="no such file"):
        find_task(tmp_path / name, "answer_line")


def answer(content: str | None, finish: str = "stop", **message: object) -> str:
    return json.dumps(
        {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (answer("ANSWER: 96"), None),
        (answer("ANSWER: 96", reasoning_content="86? no"), None),
        (answer("ANSWER: 96", finish="length"), "answer_budget"),
        (answer("", finish="length", reasoning_content="ANSWER: 96"), "thinking_unclosed"),
        (answer(None, reasoning_content="ANSWER: 96"), "empty_answer"),
        (answer("ANSWER: 96", finish="content_filter"), "engine_rejected_output"),
        ('{"error": {"message": "CUDA out of memory"}}', "engine_crashed"),
        ("", "engine_crashed"),
    ],
)
def test_an_answer_of_a_server_is_judged_with_how_it_ended(data: str, reason: str | None) -> None:
    assert reason_of(data, "json") == reason


def test_thinking_is_told_and_left_out_of_what_is_judged() -> None:
    task, convention = find_task(LABELS, None)
    found = judge_saved(task, convention, b"<think>86</think>ANSWER: 96", "text")
    assert (found.has_thinking, found.final_text) == (True, "ANSWER: 96")
    plain = judge_saved(task, convention, b"ANSWER: 96", "text")
    assert not plain.has_thinking


def test_bytes_that_are_no_text_are_judged_and_never_raise() -> None:
    task, convention = find_task(LABELS, None)
    assert judge_saved(task, convention, b"\xff\xfe\x00", "text").verdict.outcome == "fail"
