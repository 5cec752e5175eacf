"""Every shipped task: its own answers get the verdicts that it names, and nonsense fails."""

from __future__ import annotations

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.validate import task_faults
from bench_loop.verifiers.judging import judge

PACKS = [load_pack(name) for name in pack_names()]
TASKS = [pytest.param(pack, task, id=task.id) for pack in PACKS for task in pack.tasks]


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_every_answer_that_a_task_gives_gets_the_verdict_due(
    pack: Pack, task: BenchmarkTask
) -> None:
    assert [str(fault) for fault in task_faults(pack, task)] == []


@pytest.mark.parametrize(("pack", "task"), TASKS)
@pytest.mark.parametrize("text", ["7", "ANSWER: 42", "true", "A", "N/A", "I do not know.", "0"])
def test_a_guess_fails_without_credit(pack: Pack, task: BenchmarkTask, text: str) -> None:
    verdict = judge(pack.output(text), task)
    assert (verdict.outcome, verdict.score) == ("fail", 0.0)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_a_cut_reply_is_truncated_even_if_it_is_right(pack: Pack, task: BenchmarkTask) -> None:
    verdict = judge(pack.output(task.reference, finish_reason="length"), task)
    assert (verdict.outcome, verdict.reason) == ("truncated", "answer_budget")


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_thinking_before_the_reference_changes_nothing(pack: Pack, task: BenchmarkTask) -> None:
    text = f"<think>{task.near_misses[0].output}</think>\n{task.reference}"
    assert judge(pack.output(text), task).outcome == "pass"
