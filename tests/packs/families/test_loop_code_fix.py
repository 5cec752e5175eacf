"""The families of `loop_code_fix`: their keys by other methods, and what the slips really do."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.engine.families import Instance, load_family
from bench_loop.engine.packs import load_pack
from tests.packs.repairs import cases, changed_files, counted, played, tidied, values

FAMILIES = ("kept-open", "one-wrong-word", "wrong-stage")
SEED = 815
COUNT = 10
STAGES = {"touch": "join", "inside": "join", "order": "join", "read": "read", "show": "show"}


def instances(family: str, count: int = COUNT) -> list[Instance]:
    return load_family(load_pack("loop_code_fix").folder, family).instances(SEED, count)


def test_one_wrong_word_by_counting() -> None:
    for instance in instances("one-wrong-word", 50):
        for case in cases(instance.task):
            assert case["value"] == counted(instance.task, case["args"]), (instance.task.id, case)


def test_the_wrong_stage_by_the_set_of_all_numbers() -> None:
    for instance in instances("wrong-stage", 50):
        for case in cases(instance.task):
            assert case["value"] == tidied(instance.task, *case["args"]), (instance.task.id, case)


def test_what_is_kept_open_by_the_sentences_of_the_docstring() -> None:
    for instance in instances("kept-open", 20):
        for case in cases(instance.task):
            assert case["value"] == played(instance.task, *case["args"]), (instance.task.id, case)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_original_is_wrong_in_hidden_cases_too_and_the_reference_in_none(
    family: str, tmp_path: Path
) -> None:
    for instance in instances(family):
        task = instance.task
        keys = [case["value"] for case in cases(task)]
        original = values(task, tmp_path / task.id / "original", {})
        assert original[0] != keys[0]
        assert original[1:] != keys[1:], task.id
        changed = changed_files(task, str(task.reference))
        assert values(task, tmp_path / task.id / "right", changed) == keys


@pytest.mark.parametrize("family", FAMILIES)
def test_every_wrong_repair_but_the_bent_test_is_caught_by_a_case_of_its_own_kind(
    family: str, tmp_path: Path
) -> None:
    for instance in instances(family, 5):
        task = instance.task
        keys = [case["value"] for case in cases(task)]
        for at, miss in enumerate(task.near_misses):
            changed = changed_files(task, str(miss.output))
            got = values(task, tmp_path / task.id / str(at), changed)
            assert (got[0] != keys[0]) == (miss.reason == "visible_value")
            assert got != keys


def test_the_place_of_the_slip_is_where_the_path_says() -> None:
    for instance in instances("wrong-stage", 20):
        (path,) = changed_files(instance.task, str(instance.task.reference))
        assert path.endswith(f"/{STAGES[instance.path]}.py")


def test_the_seed_changes_the_program_of_what_is_kept_open() -> None:
    programs = {
        instance.path: instance.task.files["tests/fake.py"].split("class ")[1].split(":")[0]
        for instance in instances("kept-open", 20)
    }
    assert programs == {
        "early return": "Line",
        "error": "Line",
        "skipped turn": "Box",
        "error in a task": "Machine",
        "cancelled task": "Machine",
    }
