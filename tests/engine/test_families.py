"""Families: what a generator gives becomes whole tasks, and what is wrong with it is told."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from bench_loop.engine.families import family_names, load_family
from bench_loop.engine.packs import read_lone_task, read_pack, read_task
from bench_loop.engine.validate import task_faults
from bench_loop.errors import PackError
from bench_loop.result.fingerprint import UNSET

MANIFEST = """\
name: sums
title: Sums
version: "1.0"
dimension: quality
description: Adding up.
convention: answer_line
profiles: {core: all}
"""
GENERATOR = '''\
"""Two numbers."""
PATHS = ("plus", "minus")


def draw(random, path):
    first, second = random.randrange(50, 900), random.randrange(1, 50)
    value = first + second if path == "plus" else first - second
    if value % 10 == 0:
        return None
    sign = "+" if path == "plus" else "-"
    return {
        "answer": str(value),
        "title": "Two numbers",
        "difficulty": "easy",
        "capability_tags": ["arithmetic"],
        "verifier_type": "tolerance",
        "notes": "One step.",
        "prompt": f"What is {first} {sign} {second}? End with: ANSWER: <number>",
        "expected": {"value": value, "tolerance": 0, "units": {"": 1}},
        "reference": f"ANSWER: {value}",
        "also_right": [str(value), f"It is clear.\\nANSWER: {value}.0"],
        "near_misses": [
            {"output": f"ANSWER: {value + slip}", "reason": "wrong_value", "why": "a slip"}
            for slip in (1, 10, 100)
        ],
    }
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sums"
    (folder / "families").mkdir(parents=True)
    (folder / "pack.yaml").write_text(MANIFEST)
    (folder / "families" / "two_numbers.py").write_text(GENERATOR)
    (folder / "seven.yaml").write_text(
        "{id: sums.seven, title: Seven, difficulty: easy, capability_tags: [arithmetic],"
        " verifier_type: tolerance, family: two-numbers, notes: One step.,"
        " prompt: 'What is 4 + 3?', expected: {value: 7, tolerance: 0, units: {'': 1}},"
        " reference: 'ANSWER: 7'}"
    )
    return folder


def error_of(folder: Path, old: str, new: str) -> PackError:
    file = folder / "families" / "two_numbers.py"
    assert file.read_text().count(old) == 1, old
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(PackError) as caught:
        load_family(folder, "two-numbers").instances(1, 3)
    return caught.value


def test_instances_are_whole_tasks_of_the_suite(folder: Path) -> None:
    assert family_names(folder) == ["two-numbers"]
    pack = read_pack(folder)
    drawn = load_family(folder, "two-numbers").instances(12, 4)
    assert [one.task.id for one in drawn] == [f"sums.two-numbers-12-{at}" for at in (1, 2, 3, 4)]
    assert {one.task.family for one in drawn} == {"two-numbers"}
    assert [fault for one in drawn for fault in task_faults(pack, one.task)] == []


def test_paths_come_in_equal_shares_and_answers_once(folder: Path) -> None:
    drawn = load_family(folder, "two-numbers").instances(3, 100)
    assert Counter(one.path for one in drawn) == {"plus": 50, "minus": 50}
    assert len({one.answer for one in drawn}) == 100


def test_a_seed_decides_the_instances_and_their_beginning_stays(folder: Path) -> None:
    family = load_family(folder, "two-numbers")
    assert family.instances(5, 2) == family.instances(5, 9)[:2]
    assert family.instances(5, 2) != family.instances(6, 2)


def test_answers_that_are_taken_are_not_drawn(folder: Path) -> None:
    family = load_family(folder, "two-numbers")
    first = family.instances(5, 1)[0]
    assert first.answer not in {one.answer for one in family.instances(5, 50, {first.answer})}


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ('PATHS = ("plus", "minus")', 'PATHS = ("plus",)', "PATHS", "two or more"),
        ('PATHS = ("plus", "minus")', 'PATHS = ("plus", "plus")', "PATHS", "two or more"),
        ("def draw", "def drew", "draw", "must be a function"),
        ('"answer": str(value)', '"answer": value', "answer", "as text"),
        ('"answer": str(value)', '"answer": "7"', None, "no 3 instances"),
        ('"title"', '"id": "sums.mine", "title"', "id", "given by the engine"),
        ('"title": "Two numbers"', '"name": "Two numbers"', "title", "required"),
        ("value = first + second", "value = first / 0 + second", "draw", "ZeroDivisionError"),
        ('"""Two numbers."""', "import no_such_module", None, "no_such_module"),
        ('"tolerance": 0, ', "", "expected", ""),
    ],
)
def test_a_generator_that_is_wrong_is_told_by_file_and_field(
    folder: Path, old: str, new: str, field: str | None, reason: str
) -> None:
    error = error_of(folder, old, new)
    assert error.file == "sums/families/two_numbers.py"
    assert (error.field or "").startswith(field or "")
    assert reason in error.reason


def test_a_family_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(PackError, match="there is no such file"):
        load_family(folder, "three-numbers")


def test_an_official_task_names_a_family_that_is_there(folder: Path) -> None:
    (folder / "families" / "two_numbers.py").unlink()
    with pytest.raises(PackError, match="there is no generator 'two-numbers'"):
        read_pack(folder)


def test_at_most_two_official_tasks_are_of_one_family(folder: Path) -> None:
    text = (folder / "seven.yaml").read_text()
    for name in ("eight", "nine"):
        (folder / f"{name}.yaml").write_text(text.replace("sums.seven", f"sums.{name}"))
    with pytest.raises(PackError, match="more than 2 tasks"):
        read_pack(folder)


NAMED = """\
id: sums.nine
family: two-numbers
drawn: {path: plus, seed: 3, prompt_hash: "HASH"}
title: Named
"""


@pytest.fixture
def named(folder: Path) -> Path:
    """A task that names its draw, with the hash of its prompt, which the error tells."""
    file = folder / "nine.yaml"
    file.write_text(NAMED.replace("HASH", UNSET))
    with pytest.raises(PackError, match="makes another prompt") as caught:
        read_task(file, "sums")
    file.write_text(NAMED.replace("HASH", caught.value.reason.rpartition(" ")[2]))
    return file


def test_a_task_may_name_a_draw_and_what_its_file_says_goes_before(named: Path) -> None:
    task = read_task(named, "sums")
    assert (task.title, task.notes, task.family) == ("Named", "One step.", "two-numbers")
    assert task.messages[0].content.startswith("What is ")
    assert task_faults(read_pack(named.parent), task) == []
    assert read_lone_task(named) == task


def test_another_prompt_of_the_generator_is_noticed(named: Path) -> None:
    generator = named.parent / "families" / "two_numbers.py"
    copy = named.parent.parent / "changed" / "sums"
    shutil.copytree(named.parent, copy)
    (copy / "families" / "two_numbers.py").write_text(generator.read_text().replace("50", "60"))
    with pytest.raises(PackError, match="the generator makes another prompt: sha256:") as caught:
        read_task(copy / "nine.yaml", "sums")
    assert caught.value.field == "drawn.prompt_hash"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("family: two-numbers\n", "", "family"),
        ("family: two-numbers", "family: no-such", None),
        ("path: plus", "path: times", "drawn.path"),
        ("seed: 3, ", "", "seed"),
        ("seed: 3", "seed: three", "seed"),
        ("title:", "prompt: What is 2 + 3?\ntitle:", "prompt"),
    ],
)
def test_a_draw_that_is_named_wrongly_is_refused(
    old: str, new: str, field: str | None, named: Path
) -> None:
    named.write_text(named.read_text().replace(old, new))
    with pytest.raises(PackError) as caught:
        read_task(named, "sums")
    assert caught.value.field == field
