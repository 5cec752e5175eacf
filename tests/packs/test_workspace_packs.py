"""What every task on a folder of files must keep to, in both suites of such tasks."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.task import BenchmarkTask, Say, Trajectory
from bench_loop.engine.packs import Pack, load_pack
from bench_loop.engine.toolbox import FILE_TOOLS, RUN_TOOL

PACKS = [load_pack("agent"), load_pack("loop_harness")]
EACH = [pytest.param(task, id=task.id) for pack in PACKS for task in pack.tasks]


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_three_trials_with_some_chance_in_them(pack: Pack) -> None:
    assert pack.settings.trials == 3
    assert pack.settings.sampling == Sampling(temperature=0.7, top_p=0.95)


def calls_of(example: str | Trajectory) -> list[str]:
    """Names of the tools that an example calls."""
    assert isinstance(example, Trajectory)
    turns = [turn for turn in example.trajectory if not isinstance(turn, Say)]
    return [name for turn in turns for call in turn for name in call]


@pytest.mark.parametrize("task", EACH)
def test_the_reference_is_the_shortest_way_that_is_named(task: BenchmarkTask) -> None:
    """Call by call: who makes several at once has no more replies than who does not."""
    calls = calls_of(task.reference)
    assert len(calls) == task.expected["least_calls"] == task.expected_turns - 1
    assert task.turn_limit >= 2 * task.expected_turns


@pytest.mark.parametrize("task", EACH)
def test_no_prompt_names_a_tool(task: BenchmarkTask) -> None:
    text = task.messages[0].content
    assert [tool.name for tool in (*FILE_TOOLS, RUN_TOOL) if tool.name in text] == []


@pytest.mark.parametrize("task", EACH)
def test_a_workspace_is_small(task: BenchmarkTask) -> None:
    """But for many files where calls are counted, and one long file where it is to be searched."""
    if "most_calls" not in task.expected:
        assert len(task.files) <= 6
    if "long_context" not in task.capability_tags:
        assert sum(map(len, task.files.values())) <= 4096


@pytest.mark.parametrize("task", load_pack("loop_harness").tasks, ids=lambda task: task.id)
def test_edits_alone_are_enough_for_a_task_of_harnesses(task: BenchmarkTask) -> None:
    """Some run nothing and delete nothing: the model sees the files and writes text."""
    others = {RUN_TOOL.name, "delete_file"}
    ways = [calls_of(example) for example in (task.reference, *task.also_right)]
    assert any(not others & set(way) for way in ways)
