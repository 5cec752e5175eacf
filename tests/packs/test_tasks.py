"""Every shipped task: its own answers get the verdicts that it names, and nonsense fails."""

from __future__ import annotations

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.trajectory import example_output
from bench_loop.engine.validate import task_faults
from bench_loop.verifiers.judging import judge

PACKS = [load_pack(name) for name in pack_names()]
TASKS = [pytest.param(pack, task, id=task.id) for pack in PACKS for task in pack.tasks]
GUESSES = ("7", "ANSWER: 42", "true", "A", "N/A", "I do not know.", "0")


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_every_answer_that_a_task_gives_gets_the_verdict_due(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    assert [str(fault) for fault in task_faults(pack, task, sandbox)] == []


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_a_guess_fails_without_credit(pack: Pack, task: BenchmarkTask, sandbox: Sandbox) -> None:
    verdicts = [judge(pack.output(text), task, sandbox) for text in GUESSES]
    assert {(verdict.outcome, verdict.score) for verdict in verdicts} == {("fail", 0.0)}


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_a_cut_reply_is_truncated_even_if_it_is_right(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    output = example_output(pack, task, task.reference, sandbox)
    found = judge(output.model_copy(update={"finish_reason": "length"}), task, sandbox)
    assert (found.outcome, found.reason) == ("truncated", "answer_budget")
    assert found.state_at_cut == ("pass" if output.tool_calls else None)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_thinking_before_the_reference_changes_nothing(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    output = example_output(pack, task, task.reference, sandbox)
    wrong = example_output(pack, task, task.near_misses[0].output, sandbox).text
    text = f"<think>{wrong}</think>\n{output.text}"
    assert judge(output.model_copy(update={"text": text}), task, sandbox).outcome == "pass"
