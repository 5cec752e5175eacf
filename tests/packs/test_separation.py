"""A suite tells models apart: what a hasty model of middling size writes passes some of its tasks.

`answers/<suite>.yaml` holds, for every official task, what such a model would write: it reads well,
and slips where a reader in a hurry slips. `answers/<suite>-blind.yaml` holds one right and one
wrong answer of somebody who saw the prompt and nothing else. A suite that puts another's tasks on
files has that one's answers, put on files as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import Trajectory
from bench_loop.engine.on_files import id_on_files, worked_out
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.trajectory import example_output
from bench_loop.verifiers.judging import judge

ANSWERS = Path(__file__).with_name("answers")
QUALITY = [name for name in pack_names() if load_pack(name).dimension == "quality"]


def blind_file(suite: str) -> Path:
    source = load_pack(suite).source
    return ANSWERS / f"{source.name if source else suite}-blind.yaml"


def written(suite: str, kind: str) -> dict[str, Any]:
    """Task id to answer: a hasty model's (`mid`), or the `right` or `wrong` one by the prompt."""
    source = load_pack(suite).source
    if source is not None:
        answers = written(source.name, kind)
        return {
            id_on_files(task.id, suite): worked_out(task, answers[task.id]) or answers[task.id]
            for task in source.tasks
        }
    file = ANSWERS / f"{suite}.yaml" if kind == "mid" else blind_file(suite)
    found_in: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))[kind]
    found = {f"{suite}.{name}": answer for name, answer in found_in.items()}
    assert set(found) == {task.id for task in load_pack(suite).tasks}
    return found


def passed_of(suite: str, answers: dict[str, Any], sandbox: Sandbox) -> set[str]:
    pack = load_pack(suite)
    passed = set()
    for task in pack.tasks:
        answer = answers[task.id]
        example = (
            answer
            if isinstance(answer, str | Trajectory)
            else Trajectory.model_validate_json(json.dumps(answer))  # A list may fill a tuple.
        )
        if judge(example_output(pack, task, example, sandbox), task, sandbox).outcome == "pass":
            passed.add(task.id)
    return passed


@pytest.mark.parametrize("suite", QUALITY)
def test_a_hasty_model_passes_a_third_and_fails_a_third(suite: str, sandbox: Sandbox) -> None:
    passed = passed_of(suite, written(suite, "mid"), sandbox)
    count = len(load_pack(suite).tasks)
    assert count / 3 <= len(passed) <= count - count / 3, sorted(passed)


@pytest.mark.parametrize("suite", [name for name in QUALITY if blind_file(name).exists()])
def test_answers_of_a_reader_of_the_prompts_alone_get_the_verdict_due(
    suite: str, sandbox: Sandbox
) -> None:
    tasks = {task.id for task in load_pack(suite).tasks}
    assert passed_of(suite, written(suite, "right"), sandbox) == tasks
    assert passed_of(suite, written(suite, "wrong"), sandbox) == set()
