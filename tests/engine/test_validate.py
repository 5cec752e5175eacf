"""A pack is checked as a whole: every fault is told with file, field and reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.packs import pack_names
from bench_loop.engine.validate import validate, wants_sandbox
from bench_loop.errors import PackError
from tests.packs.test_packs import MANIFEST, TASK

NEAR_MISSES = """\
near_misses:
  - {output: 'ANSWER: 6', reason: wrong_value, why: multiplied}
  - {output: 'ANSWER: 5 km', reason: unknown_unit, why: a unit that is not asked for}
  - {output: 'ANSWER: 5 or 6', reason: no_single_answer, why: two values}
"""
GOOD = TASK[: TASK.index("near_misses:")] + NEAR_MISSES
TEN = (
    GOOD.replace("sums.two", "sums.ten")
    .replace("'5', 'ANSWER: 2 + 3 = 5'", "'10', 'ANSWER: 5 + 5 = 10'")
    .replace("value: 5", "value: 10")
    .replace("reference: 'ANSWER: 5'", "reference: 'ANSWER: 10'")
)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "pack.yaml").write_text(MANIFEST)
    (folder / "two.yaml").write_text(GOOD)
    return folder


def faults_of(pack: Path) -> list[str]:
    return [str(fault) for fault in validate(pack).faults]


def change(pack: Path, old: str, new: str) -> None:
    assert GOOD.count(old) == 1, old
    (pack / "two.yaml").write_text(GOOD.replace(old, new))


def test_with_a_sandbox_code_is_checked_too(tmp_path: Path, sandbox: Sandbox) -> None:
    # That no shipped task has a fault is tested task by task, in tests/packs.
    pack = tmp_path / "coding"
    pack.mkdir()
    shipped = bundled("packs") / "coding"
    manifest = (shipped / "pack.yaml").read_text()
    profiles = manifest.index("profiles:")
    (pack / "pack.yaml").write_text(f"{manifest[:profiles]}profiles: {{}}\n")
    shutil.copy(shipped / "fragile-weight.yaml", pack)
    found = validate(pack, sandbox=sandbox)
    assert (found.faults, found.unchecked, found.task_count) == ((), (), 1)


def test_without_a_sandbox_the_tasks_that_need_one_are_named() -> None:
    found = validate()
    assert found.faults == ()
    assert set(found.packs) == set(pack_names())
    assert "coding.quiet-hours" in found.unchecked
    assert "reasonmath.last-bus" not in found.unchecked


def test_only_a_pack_with_code_wants_a_sandbox(pack: Path) -> None:
    assert wants_sandbox()
    assert not wants_sandbox(pack)
    change(pack, "value: 5", "value: five")
    assert not wants_sandbox(pack)


def test_a_pack_or_a_folder_of_packs_is_checked(pack: Path) -> None:
    assert validate(pack) == validate(pack.parent)
    assert (validate(pack).packs, validate(pack).task_count) == (("sums",), 1)
    assert faults_of(pack) == []


def test_a_folder_without_packs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="holds no pack"):
        validate(tmp_path)


def test_the_faults_of_all_files_are_told_at_once(pack: Path) -> None:
    change(pack, "verifier_type: tolerance\n", "")
    (pack / "ten.yaml").write_text(TEN.replace("difficulty: easy", "difficulty: simple"))
    (pack / "pack.yaml").write_text(MANIFEST.replace("name: sums", "name: summs"))
    found = validate(pack).faults
    assert [(fault.file, fault.field) for fault in found] == [
        ("sums/pack.yaml", "name"),
        ("sums/ten.yaml", "difficulty"),
        ("sums/two.yaml", "verifier_type"),
    ]


def test_a_profile_that_names_no_task_is_told(pack: Path) -> None:
    (pack / "pack.yaml").write_text(MANIFEST.replace("[sums.two]", "[sums.six]"))
    assert faults_of(pack) == ["sums/pack.yaml: profiles.smoke: there is no task 'sums.six'"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "reference: 'ANSWER: 5'",
            "reference: 'ANSWER: 6'",
            "reference: must pass, and is judged fail (wrong_value)",
        ),
        (
            "'ANSWER: 2 + 3 = 5'",
            "'It may be 5 or so.'",
            "also_right.1: must pass, and is judged fail (no_answer)",
        ),
        (
            "also_right: ['5', 'ANSWER: 2 + 3 = 5']",
            "also_right: ['5']",
            "also_right: at least 2 other right forms are needed",
        ),
        (
            "output: 'ANSWER: 6', reason: wrong_value",
            "output: 'ANSWER: 5.0', reason: wrong_value",
            "near_misses.0: must fail as wrong_value, and is judged pass",
        ),
        (
            "reason: unknown_unit",
            "reason: wrong_value",
            "near_misses.1: must fail as wrong_value, and is judged fail (unknown_unit)",
        ),
        (
            "  - {output: 'ANSWER: 5 or 6', reason: no_single_answer, why: two values}\n",
            "",
            "near_misses: at least 3 wrong answers are needed",
        ),
    ],
)
def test_an_answer_with_another_verdict_is_a_fault(
    pack: Path, old: str, new: str, fault: str
) -> None:
    change(pack, old, new)
    assert faults_of(pack) == [f"sums/two.yaml: {fault}"]


def test_the_reference_of_another_task_must_fail(pack: Path) -> None:
    (pack / "ten.yaml").write_text(TEN)
    assert faults_of(pack) == []
    change(pack, "tolerance: 0", "tolerance: 5")
    assert any(
        "two.yaml: expected: accepts the reference of sums.ten" in f for f in faults_of(pack)
    )


LAX = """\
id: sums.lax
title: Anything goes
difficulty: easy
capability_tags: [format]
verifier_type: exact
notes: A task without content.
prompt: Write something.
expected: {words: {least: 1}}
reference: a fine day
also_right: [a b, c d]
near_misses:
  - {output: '-', reason: word_count, why: no word}
  - {output: '- -', reason: word_count, why: no word}
  - {output: '...', reason: word_count, why: no word}
"""


def test_a_task_that_nonsense_passes_is_a_fault(pack: Path) -> None:
    (pack / "pack.yaml").write_text(MANIFEST.replace("answer_line", "whole_reply"))
    (pack / "two.yaml").unlink()
    (pack / "lax.yaml").write_text(LAX)
    (pack / "pack.yaml").write_text((pack / "pack.yaml").read_text().replace("[sums.two]", "all"))
    found = "\n".join(faults_of(pack))
    for name in ("abc", "yes", "a refusal", "off-topic prose", "the prompt", "a claim"):
        assert f"sums/lax.yaml: expected: accepts {name}: it is judged pass" in found


IDLE = """\
id: sums.idle
title: A note that is right already
difficulty: easy
capability_tags: [abstention]
verifier_type: artifact
notes: Nothing is to be done, and nothing is to be told.
prompt: See to it that note.txt says 5.
files: {note.txt: "5"}
tools: workspace
expected: {workspace: {lines: {note.txt: ["5"]}}, least_calls: 1}
reference: {trajectory: [[{read_file: {path: note.txt}}], {say: It does.}]}
also_right:
  - {trajectory: [[{search_files: {text: "5"}}], {say: Yes.}]}
  - {trajectory: [[{list_files: {path: .}}], {say: Nothing to do.}]}
near_misses:
  - reason: wrong_content:note.txt
    why: twice
    output: {trajectory: [[{write_file: {path: note.txt, content: "5\\n5"}}], {say: x}]}
  - reason: wrong_content:note.txt
    why: another
    output: {trajectory: [[{write_file: {path: note.txt, content: "6"}}], {say: x}]}
  - reason: extra_file
    why: a second note
    output: {trajectory: [[{write_file: {path: note2.txt, content: "5"}}], {say: x}]}
"""


def test_a_task_that_a_harness_passes_which_does_nothing_is_a_fault(pack: Path) -> None:
    manifest = MANIFEST.replace("answer_line", "workspace").replace("[sums.two]", "all")
    (pack / "pack.yaml").write_text(manifest)
    (pack / "two.yaml").unlink()
    (pack / "idle.yaml").write_text(IDLE)
    found = "\n".join(faults_of(pack))
    for words in ("without a word", "with a claim"):
        name = f"the files as they were {words}"
        assert f"sums/idle.yaml: expected: accepts {name}: it is judged pass" in found
    assert "no file left" not in found
