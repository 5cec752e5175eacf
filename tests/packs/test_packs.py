"""Packs are read strictly, and their hash covers all that can change a prompt or a verdict."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_loop.config import bundled
from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.engine.capabilities import CAPABILITIES
from bench_loop.engine.packs import PackSuite, load_pack, pack_names, read_pack
from bench_loop.errors import PackError, UsageError

CANARY = "benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60"
MANIFEST = """\
name: sums
title: Sums
version: "1.0"
dimension: quality
description: Adding up.
convention: answer_line
profiles: {smoke: [sums.two], core: all}
settings: {trials: 1}
"""
TASK = """\
id: sums.two
title: Two numbers
difficulty: easy
capability_tags: [arithmetic]
verifier_type: tolerance
notes: One addition.
prompt: What is 2 + 3?
expected: {value: 5, tolerance: 0, units: {'': 1}}
limits: {answer_tokens: 256}
reference: 'ANSWER: 5'
also_right: ['5', 'ANSWER: 2 + 3 = 5']
near_misses:
  - {output: 'ANSWER: 6', reason: wrong_value, why: multiplied}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "pack.yaml").write_text(MANIFEST)
    (folder / "two.yaml").write_text(TASK)
    return folder


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


def error_of(pack: Path) -> PackError:
    with pytest.raises(PackError) as caught:
        read_pack(pack)
    return caught.value


def test_a_pack_is_read(pack: Path) -> None:
    sums = read_pack(pack)
    assert [task.id for task in sums.tasks] == ["sums.two"]
    assert sums.tasks[0].suite == "sums"
    assert sums.tasks[0].messages[0].content == "What is 2 + 3?"
    assert sums.profiles == {"smoke": ("sums.two",), "core": ("sums.two",)}


def test_the_shipped_packs_are_found_and_read_once() -> None:
    assert pack_names() == [
        "agent",
        "coding",
        "dataextract",
        "instructfollow",
        "longcontext",
        "loop_code_fix",
        "loop_code_fix_files",
        "loop_harness",
        "loop_schema",
        "reasonmath",
        "speed",
        "toolcall",
    ]
    assert load_pack("reasonmath") is load_pack("reasonmath")


def test_an_unknown_pack_names_the_similar_ones() -> None:
    with pytest.raises(UsageError) as caught:
        load_pack("reasonmaths")
    assert caught.value.remedy == "Did you mean reasonmath?"


def test_packs_of_another_folder_can_be_read(pack: Path) -> None:
    assert pack_names(pack.parent) == ["sums"]
    assert load_pack("sums", pack.parent).title == "Sums"


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("verifier_type: tolerance\n", "", "verifier_type", "Field required"),
        ("verifier_type: tolerance", "verifier_type: guess", "verifier_type", "Input should be"),
        ("verifier_type: tolerance", "verifier_type: artifact", "expected.value", "Extra inputs"),
        ("prompt: What is 2 + 3?", "messages: [hello]", "messages.0", "be an object"),
        ("prompt: What is 2 + 3?", "messages: hello", "messages", "valid array"),
        ("title: Two numbers", "titel: Two numbers", "title", "Field required"),
        ("notes: One", "colour: red\nnotes: One", "colour", "Extra inputs are not permitted"),
        ("difficulty: easy", "difficulty: simple", "difficulty", "Input should be"),
        ("[arithmetic]", "[telepathy]", "capability_tags", "'telepathy' is not a known"),
        ("[arithmetic]", "[]", "capability_tags", "at least 1 item"),
        ("id: sums.two", "id: sums.three", "id", "must be 'sums.two'"),
        ("id: sums.two", "id: sums.two\nsuite: sums", "suite", "the folder says it"),
        ("prompt: What is 2 + 3?", "messages: []", "messages", "at least 1 item"),
        ("prompt: What is 2 + 3?\n", "", "prompt", "either prompt or messages"),
        ("value: 5, ", "", "expected.value", "Field required"),
        ("value: 5", "value: five", "expected.value", "valid number"),
        ("value: 5", "valeu: 5, value: 5", "expected.valeu", "Extra inputs"),
        ("tolerance: 0", "tolerance: -1", "expected.tolerance", "greater than or equal to 0"),
        ("{'': 1}", "{km: 1000}", "expected.units", "base unit"),
        ("{'': 1}", "{'': 1, m: 0}", "expected.units", "greater than zero"),
        ("answer_tokens: 256", "answer_tokens: 0", "limits.answer_tokens", "greater than or equal"),
        ("reason: wrong_value, ", "", "near_misses.0.reason", "Field required"),
        ("title: Two numbers", "title: 2", "title", "valid string"),
    ],
)
def test_a_wrong_task_file_is_refused(
    pack: Path, old: str, new: str, field: str, reason: str
) -> None:
    change(pack / "two.yaml", old, new)
    error = error_of(pack)
    assert (error.file, error.field) == ("sums/two.yaml", field)
    assert reason in error.reason


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("name: sums", "name: summs", "name", "must be the folder's name, 'sums'"),
        ("smoke: [sums.two]", "smoke: [sums.ten]", "profiles.smoke", "no task 'sums.ten'"),
        ("[sums.two]", "[sums.two, sums.two]", "profiles.smoke", "named twice"),
        ("smoke: [sums.two]", "tiny: [sums.two]", "profiles.tiny.[key]", "Input should be"),
        ('version: "1.0"', "version: 1.0", "version", "valid string"),
        ("dimension: quality", "dimension: beauty", "dimension", "Input should be"),
        ("dimension: quality", "dimension: speed", "texts", "cut from"),
        ("settings: {trials: 1}", "settings: {trials: 0}", "settings.trials", "greater than"),
        ("settings: {trials: 1}", "texts: {prose: none.txt}", "texts.prose", "cannot be read"),
    ],
)
def test_a_wrong_manifest_is_refused(
    pack: Path, old: str, new: str, field: str, reason: str
) -> None:
    change(pack / "pack.yaml", old, new)
    error = error_of(pack)
    assert (error.file, error.field) == ("sums/pack.yaml", field)
    assert reason in error.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TASK + "id: sums.two\n", "line 14: the key 'id' is given twice"),
        (TASK.replace("value: 5", "value: 5, value: 6"), "line 8: the key 'value' is given twice"),
        ("- a\n- list\n", "must be a mapping of fields"),
        ("", "must be a mapping of fields"),
        ("a: [1\n", "line 2: "),
        ("a: 1\n---\nb: 2\n", "line 2: "),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1: "),
        (TASK.replace("value: 5", "value: !!float .inf"), "a number that JSON does not know"),
        ("? [a]\n: 1\n", "line 1: a key is no text"),
    ],
)
def test_yaml_that_is_not_one_plain_mapping_is_refused(pack: Path, text: str, reason: str) -> None:
    (pack / "two.yaml").write_text(text)
    assert reason in error_of(pack).reason


def test_words_and_times_stay_text_in_pack_files(pack: Path) -> None:
    change(pack / "two.yaml", "title: Two numbers", "title: no")
    change(pack / "two.yaml", "notes: One addition.", "notes: 12:30")
    task = read_pack(pack).tasks[0]
    assert (task.title, task.notes) == ("no", "12:30")


def test_text_that_is_not_utf8_is_refused(pack: Path) -> None:
    (pack / "two.yaml").write_bytes(b"id: \xff\n")
    assert error_of(pack).reason == "is not UTF-8"


def test_a_quality_pack_without_tasks_is_refused(pack: Path) -> None:
    (pack / "two.yaml").unlink()
    assert "no task" in error_of(pack).reason


def test_a_duplicated_id_is_refused(pack: Path) -> None:
    shutil.copy(pack / "two.yaml", pack / "three.yaml")
    assert (error_of(pack).file, error_of(pack).field) == ("sums/three.yaml", "id")


DECISIVE: dict[str, Callable[[Path], None]] = {
    "the version": lambda p: change(p / "pack.yaml", '"1.0"', '"1.1"'),
    "the convention": lambda p: change(p / "pack.yaml", "answer_line", "whole_reply"),
    "the number of trials": lambda p: change(p / "pack.yaml", "trials: 1", "trials: 3"),
    "the sampling": lambda p: change(
        p / "pack.yaml", "{trials: 1}", "{trials: 1, sampling: {top_k: 40}}"
    ),
    "a profile": lambda p: change(p / "pack.yaml", "core: all", "core: []"),
    "one more profile": lambda p: change(p / "pack.yaml", "core: all", "core: all, full: all"),
    "a prompt": lambda p: change(p / "two.yaml", "2 + 3?", "3 + 2?"),
    "a key": lambda p: change(p / "two.yaml", "value: 5", "value: 5.5"),
    "a tolerance": lambda p: change(p / "two.yaml", "tolerance: 0", "tolerance: 0.1"),
    "a rule": lambda p: change(p / "two.yaml", "{'': 1}", "{'': 1, km: 1000}"),
    "a limit": lambda p: change(p / "two.yaml", "256", "512"),
    "the expected turns": lambda p: change(p / "two.yaml", "notes:", "expected_turns: 2\nnotes:"),
    "a system message": lambda p: change(
        p / "two.yaml",
        "prompt: What is 2 + 3?",
        "messages: [{role: system, content: Add.}, {role: user, content: 'What is 2 + 3?'}]",
    ),
    "one more task": lambda p: (p / "ten.yaml").write_text(  # type: ignore[func-returns-value]
        TASK.replace("sums.two", "sums.ten")
    ),
    "a text": lambda p: change(p / "pack.yaml", "settings:", "texts: {prose: two.yaml}\nsettings:"),
}


@pytest.mark.parametrize("alter", DECISIVE.values(), ids=DECISIVE.keys())
def test_the_hash_changes_with_what_decides(pack: Path, alter: Callable[[Path], None]) -> None:
    before = read_pack(pack).pack_hash
    alter(pack)
    assert read_pack(pack).pack_hash != before


INDIFFERENT: dict[str, Callable[[Path], None]] = {
    "a comment": lambda p: change(p / "two.yaml", "id:", "# why\nid:"),
    "the order of keys": lambda p: change(
        p / "two.yaml", "id: sums.two\ntitle: Two numbers\n", "title: Two numbers\nid: sums.two\n"
    ),
    "the notes": lambda p: change(p / "two.yaml", "One addition.", "One sum."),
    "a title": lambda p: change(p / "two.yaml", "Two numbers", "A sum"),
    "the difficulty": lambda p: change(p / "two.yaml", "easy", "medium"),
    "the description": lambda p: change(p / "pack.yaml", "Adding up.", "Summing up."),
    "an example answer": lambda p: change(p / "two.yaml", "'5', ", "'5.0', "),
    "line ends": lambda p: (p / "two.yaml").write_bytes(TASK.replace("\n", "\r\n").encode()),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("alter", INDIFFERENT.values(), ids=INDIFFERENT.keys())
def test_the_hash_stays_with_what_cannot_decide(pack: Path, alter: Callable[[Path], None]) -> None:
    before = read_pack(pack).pack_hash
    alter(pack)
    assert read_pack(pack).pack_hash == before


def test_a_speed_text_is_part_of_the_hash(tmp_path: Path) -> None:
    folder = tmp_path / "speed"
    shutil.copytree(bundled("packs") / "speed", folder)
    before = read_pack(folder).pack_hash
    change(folder / "prose.txt", "The weir above", "The wall above")
    assert read_pack(folder).pack_hash != before


def test_a_suite_judges_what_a_harness_made(pack: Path) -> None:
    suite = PackSuite(read_pack(pack))
    (task,) = suite.tasks()
    right = suite.evaluate(HarnessRunResult("ANSWER: 5"), task)
    cut = suite.evaluate(HarnessRunResult("ANSWER: 5", finish_reason="length"), task)
    assert [right.outcome, cut.outcome] == ["pass", "truncated"]


LEVELS = {
    "agent": (4, 5, 3),
    "coding": (4, 5, 3),
    "dataextract": (4, 5, 3),
    "instructfollow": (4, 5, 3),
    "loop_code_fix": (4, 5, 3),
    "loop_code_fix_files": (4, 5, 3),
    "loop_harness": (4, 5, 3),
    "loop_schema": (4, 5, 3),
    "reasonmath": (5, 6, 4),
    "toolcall": (4, 5, 3),
}
"""Easy, medium and hard tasks of a suite."""


@pytest.mark.parametrize(("name", "mix"), LEVELS.items())
def test_a_shipped_quality_suite_has_its_mix_of_levels(
    name: str, mix: tuple[int, int, int]
) -> None:
    levels = [task.difficulty for task in load_pack(name).tasks]
    assert tuple(levels.count(level) for level in ("easy", "medium", "hard")) == mix


def test_every_capability_is_used_by_a_task() -> None:
    tasks = [task for name in pack_names() for task in load_pack(name).tasks]
    assert {tag for task in tasks for tag in task.capability_tags} == CAPABILITIES.keys()


def test_the_speed_texts_never_repeat_themselves() -> None:
    prose = load_pack("speed").texts["prose"]
    sentences = [part.strip() for part in prose.replace("\n", " ").split(". ") if len(part) > 40]
    assert len(prose.encode()) >= 24 * 1024
    assert len(set(sentences)) == len(sentences)


def test_every_fixture_and_generator_holds_the_canary() -> None:
    folder = bundled("packs")
    files = [*folder.glob("*/*.yaml"), *folder.glob("*/families/*.py")]
    assert len(files) > 30
    assert [str(file) for file in files if CANARY not in file.read_text("utf-8")] == []
