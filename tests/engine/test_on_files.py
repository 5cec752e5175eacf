"""Tasks put on a workspace: the same repair, asked of whoever works in the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Say, Trajectory
from bench_loop.contracts.verifier import Output
from bench_loop.engine.on_files import CLOSING_WORD, on_files, worked_out
from bench_loop.engine.packs import Pack, load_pack, read_pack
from bench_loop.engine.trajectory import example_output
from bench_loop.errors import PackError
from bench_loop.verifiers.judging import judge

SUITE = "loop_code_fix_files"
PACK = load_pack(SUITE)
SOURCE = load_pack("loop_code_fix")
CHAIRS = next(task for task in PACK.tasks if task.id == f"{SUITE}.chairs-as-text")
PUMPS = next(task for task in PACK.tasks if task.id == f"{SUITE}.pump-round")
FAKE = "tests/fake.py"


def test_every_task_of_the_source_is_there_under_the_same_name() -> None:
    assert [task.id.split(".")[1] for task in PACK.tasks] == [
        task.id.split(".")[1] for task in SOURCE.tasks
    ]
    assert {(task.suite, task.tools) for task in PACK.tasks} == {(SUITE, "workspace")}
    assert PACK.source == SOURCE


@pytest.mark.parametrize("task", PACK.tasks, ids=lambda task: task.id)
def test_a_prompt_names_the_files_and_shows_none_of_them(task: BenchmarkTask) -> None:
    (message,) = task.messages
    assert "```" not in message.content
    assert "Reply with" not in message.content
    assert "Change them there" in message.content
    assert "assert" in message.content or "Error" in message.content or "diff" in message.content
    editable = SOURCE.tasks[PACK.tasks.index(task)].expected["editable"]
    assert set(editable) <= set(message.content.split())


def test_a_prompt_reads_as_one_that_was_written_so() -> None:
    assert CHAIRS.messages[0].content == (
        "The test below fails. Find the cause and repair it. Do not change the test. The test run "
        "says:\n\n    TypeError: unsupported operand type(s) for +: 'int' and 'str'\n\n"
        "hall/chairs.py\n\ntests/test_chairs.py\n\n"
        "The files lie in the folder that you work in. Change them there, and leave the tests as "
        "they are:\nwhat counts is the program in the folder at the end. Your reply need not "
        "repeat it.\n"
    )


@pytest.mark.parametrize("task", PACK.tasks, ids=lambda task: task.id)
def test_the_hidden_calls_are_those_of_the_source(task: BenchmarkTask) -> None:
    source = SOURCE.tasks[PACK.tasks.index(task)]
    assert (task.files, task.protected) == (source.files, source.protected)
    for field in ("visible", "cases"):
        assert task.expected[field] == source.expected[field]


def test_the_shortest_way_reads_what_the_prompt_names_writes_and_says_so() -> None:
    assert isinstance(CHAIRS.reference, Trajectory)
    first, second, write, say = CHAIRS.reference.trajectory
    assert [first, second] == [
        ({"read_file": {"path": "hall/chairs.py"}},),
        ({"read_file": {"path": "tests/test_chairs.py"}},),
    ]
    assert not isinstance(write, Say)
    assert list(write[0]) == ["write_file"]
    assert say == Say(say=CLOSING_WORD)
    assert (CHAIRS.expected_turns, CHAIRS.expected["least_calls"]) == (4, 3)


def test_a_wrong_answer_that_is_only_wrongly_written_has_no_counterpart() -> None:
    index = [task.id for task in SOURCE.tasks].index("loop_code_fix.free-delivery")
    reasons = [miss.reason for miss in SOURCE.tasks[index].near_misses]
    assert [miss.reason for miss in PACK.tasks[index].near_misses] == [
        reason for reason in reasons if reason != "diff"
    ]
    assert worked_out(SOURCE.tasks[index], "I would write < in place of >.") is None


def left(task: BenchmarkTask, files: dict[str, str], text: str = CLOSING_WORD) -> Output:
    """What a harness leaves that has changed `files` by its own means."""
    output = PACK.output(text)
    return output.model_copy(update={"files": {**task.files, **files}})


def repaired(task: BenchmarkTask) -> dict[str, str]:
    files = example_output(PACK, task, task.reference).files
    return {path: text or "" for path, text in (files or {}).items()}


def test_what_a_harness_leaves_beside_the_program_does_not_matter(sandbox: Sandbox) -> None:
    beside = {"notes.md": "Repaired.", "tests/test_more.py": "def test(): pass\n"}
    found = judge(left(CHAIRS, {**repaired(CHAIRS), **beside}), CHAIRS, sandbox)
    assert (found.outcome, found.score) == ("pass", 1.0)


def test_a_file_that_the_program_does_not_need_may_go(sandbox: Sandbox) -> None:
    output = left(CHAIRS, repaired(CHAIRS))
    assert output.files is not None
    files = {path: text for path, text in output.files.items() if path != "hall/__init__.py"}
    changed = output.model_copy(update={"files": files})
    assert judge(changed, CHAIRS, sandbox).outcome == "pass"


def test_a_test_that_was_bent_to_the_fault_is_put_back(sandbox: Sandbox) -> None:
    bent = {FAKE: "def play(answers):\n    return ['ValueError', 'free']\n"}
    found = judge(left(PUMPS, bent), PUMPS, sandbox)
    assert (found.outcome, found.reason) == ("fail", "visible_value")
    assert found.answer == "1 files changed"


def test_a_repair_that_lost_the_tests_is_a_repair(sandbox: Sandbox) -> None:
    output = left(PUMPS, repaired(PUMPS))
    assert output.files is not None
    files = {path: text for path, text in output.files.items() if not path.startswith("tests/")}
    changed = output.model_copy(update={"files": files})
    assert judge(changed, PUMPS, sandbox).outcome == "pass"


def test_files_that_change_how_tests_run_are_left_out(sandbox: Sandbox) -> None:
    planted = {"sitecustomize.py": "import os\nos._exit(3)\n", "conftest.py": "raise SystemExit\n"}
    found = judge(left(CHAIRS, {**repaired(CHAIRS), **planted}), CHAIRS, sandbox)
    assert found.outcome == "pass"


def test_a_claim_without_a_change_is_no_repair(sandbox: Sandbox) -> None:
    found = judge(left(CHAIRS, {}), CHAIRS, sandbox)
    assert (found.outcome, found.reason, found.answer) == ("fail", "visible_value", None)


def test_its_hash_is_its_own_and_changes_with_the_source(tmp_path: Path) -> None:
    assert copied(tmp_path).pack_hash == PACK.pack_hash != SOURCE.pack_hash
    file = tmp_path / "loop_code_fix" / "chairs-as-text.yaml"
    file.write_text(file.read_text().replace('["12", "8"]', '["12", "9"]'))
    assert read_pack(tmp_path / SUITE).pack_hash != PACK.pack_hash


def copied(folder: Path) -> Pack:
    for name in (SUITE, "loop_code_fix"):
        shutil.copytree(bundled("packs") / name, folder / name)
    return read_pack(folder / SUITE)


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("on_files: loop_code_fix", "on_files: other", "on_files", "no pack 'other' beside it"),
        ("on_files: loop_code_fix", "on_files: ../etc", "on_files", "should match pattern"),
        ("on_files: loop_code_fix", f"on_files: {SUITE}", "on_files", "are changed_files"),
        ("convention: workspace", "convention: changed_files", "convention", "must be workspace"),
    ],
)
def test_a_pack_that_cannot_be_put_on_files_is_refused(
    tmp_path: Path, old: str, new: str, field: str, reason: str
) -> None:
    copied(tmp_path)
    manifest = tmp_path / SUITE / "pack.yaml"
    manifest.write_text(manifest.read_text().replace(old, new))
    with pytest.raises(PackError) as refused:
        read_pack(tmp_path / SUITE)
    assert (refused.value.file, refused.value.field) == (f"{SUITE}/pack.yaml", field)
    assert reason in refused.value.reason


def test_a_pack_has_its_own_tasks_or_those_of_another(tmp_path: Path) -> None:
    copied(tmp_path)
    shutil.copy(tmp_path / "loop_code_fix" / "chairs-as-text.yaml", tmp_path / SUITE)
    with pytest.raises(PackError, match="has the tasks of another"):
        read_pack(tmp_path / SUITE)


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("Reply with the complete", "Give the complete", "prompt", "does not close with"),
        ("FEE = 4\n", "FEE = 5\n", "prompt", "shows none"),
    ],
)
def test_a_prompt_that_cannot_be_put_on_files_is_refused(
    old: str, new: str, field: str, reason: str
) -> None:
    task = next(task for task in SOURCE.tasks if task.id == "loop_code_fix.free-delivery")
    message = task.messages[0]
    other = message.model_copy(update={"content": message.content.replace(old, new)})
    with pytest.raises(PackError, match=reason) as refused:
        on_files(task.model_copy(update={"messages": (other,)}), SUITE)
    assert refused.value.field == field
