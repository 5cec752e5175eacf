"""A suite tells models apart: what a hasty model of middling size writes passes some of its tasks.

`answers/<suite>.yaml` holds, for every official task, what such a model would write: it reads well,
and slips where a reader in a hurry slips.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import Trajectory
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.trajectory import example_output
from bench_loop.verifiers.judging import judge

ANSWERS = Path(__file__).with_name("answers")
QUALITY = [name for name in pack_names() if load_pack(name).dimension == "quality"]


def answers(suite: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ANSWERS / f"{suite}.yaml").read_text())["mid"]
    return loaded


@pytest.mark.parametrize("suite", QUALITY)
def test_a_hasty_model_passes_a_third_and_fails_a_third(suite: str, sandbox: Sandbox) -> None:
    pack, written = load_pack(suite), answers(suite)
    assert {f"{suite}.{name}" for name in written} == {task.id for task in pack.tasks}
    passed = set()
    for task in pack.tasks:
        answer = written[task.id.partition(".")[2]]
        example = (
            answer
            if isinstance(answer, str)
            else Trajectory.model_validate_json(json.dumps(answer))  # A list may fill a tuple.
        )
        if judge(example_output(pack, task, example, sandbox), task, sandbox).outcome == "pass":
            passed.add(task.id)
    third = len(pack.tasks) / 3
    assert third <= len(passed) <= len(pack.tasks) - third, sorted(passed)
