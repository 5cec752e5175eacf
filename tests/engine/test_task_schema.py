"""The JSON Schema of task files: exported from the records, and true of every file that ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bench_loop.config import bundled
from bench_loop.engine.packs import pack_names, task_files
from bench_loop.engine.strict_yaml import load_strict
from bench_loop.engine.task_schema import task_schema
from tests.packs.test_packs import TASK

COMMITTED = bundled("packs") / "task.schema.json"
FILES = [file for name in pack_names() for file in task_files(bundled("packs") / name)]


def document(text: str) -> Any:
    """A task file as JSON has it: keys are text, such as the number of a line."""
    return json.loads(json.dumps(load_strict(text, "task.yaml")))


def test_the_committed_schema_is_the_code() -> None:
    text = COMMITTED.read_text(encoding="utf-8")
    assert json.loads(text) == task_schema(), "packs/task.schema.json is not current: make docs"


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(task_schema())


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}.{file.stem}")
def test_every_shipped_task_follows_the_schema(file: Path) -> None:
    jsonschema.validate(document(file.read_text(encoding="utf-8")), task_schema())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("verifier_type: tolerance\n", ""),
        ("verifier_type: tolerance", "verifier_type: guess"),
        ("notes: One", "colour: red\nnotes: One"),
        ("difficulty: easy", "difficulty: simple"),
        ("[arithmetic]", "[telepathy]"),
        ("[arithmetic]", "[]"),
        ("prompt: What is 2 + 3?\n", ""),
        ("prompt: What", "messages: [{role: user, content: x}]\nprompt: What"),
        ("prompt: What is 2 + 3?", "messages: []"),
        ("value: 5, ", ""),
        ("value: 5", "value: five"),
        ("value: 5", "valeu: 5, value: 5"),
        ("tolerance: 0", "tolerance: -1"),
        ("answer_tokens: 256", "answer_tokens: 0"),
        ("reason: wrong_value, ", ""),
        ("id: sums.two", "id: sums.two\nsuite: sums"),
    ],
)
def test_a_wrong_file_is_wrong_by_the_schema_alone(old: str, new: str) -> None:
    assert TASK.count(old) == 1, old
    jsonschema.validate(document(TASK), task_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document(TASK.replace(old, new)), task_schema())
