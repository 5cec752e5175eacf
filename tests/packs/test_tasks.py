"""Every shipped task: its own answers get the verdicts that it names, and nonsense fails."""

from __future__ import annotations

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.verifiers.judging import judge

PACKS = [load_pack(name) for name in pack_names()]
TASKS = [pytest.param(pack, task, id=task.id) for pack in PACKS for task in pack.tasks]

NONSENSE = {
    "nothing": "",
    "white space": " \n\t\n",
    "abc": "abc",
    "yes": "yes",
    "no": "No.",
    "an empty object": "{}",
    "an empty list": "[]",
    "null": "null",
    "a lone number": "7",
    "another lone number": "ANSWER: 42",
    "off-topic prose": "The sea was calm that day, and 12 gulls sat on the pier.",
    "a refusal": "I'm sorry, but I can't help with that.",
    "a claim": "Done.",
    "valid-looking JSON": '{"status": "ok", "result": "success", "items": []}',
    "a call as text": '{"name": "list_files", "arguments": {}}',
    "an empty answer line": "ANSWER:",
    "a fence without content": "```\n```",
}


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_the_reference_passes(pack: Pack, task: BenchmarkTask) -> None:
    verdict = judge(pack.output(task.reference), task)
    assert (verdict.outcome, verdict.reason) == ("pass", None)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_every_other_right_form_passes(pack: Pack, task: BenchmarkTask) -> None:
    verdicts = [judge(pack.output(text), task).reason for text in task.also_right]
    assert verdicts == [None] * len(verdicts)
    assert len(verdicts) >= 2


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_every_near_miss_fails_for_its_own_reason(pack: Pack, task: BenchmarkTask) -> None:
    verdicts = [judge(pack.output(miss.output), task) for miss in task.near_misses]
    assert [verdict.reason for verdict in verdicts] == [miss.reason for miss in task.near_misses]
    assert {verdict.outcome for verdict in verdicts} == {"fail"}
    assert len(verdicts) >= 3


@pytest.mark.parametrize(("pack", "task"), TASKS)
@pytest.mark.parametrize("text", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_fails_without_credit(pack: Pack, task: BenchmarkTask, text: str) -> None:
    verdict = judge(pack.output(text), task)
    assert (verdict.outcome, verdict.score) == ("fail", 0.0)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_the_prompt_echoed_back_fails_without_credit(pack: Pack, task: BenchmarkTask) -> None:
    prompt = task.messages[-1].content
    for echo in (prompt, f"{prompt}\n{prompt}", prompt.splitlines()[-1], prompt.splitlines()[0]):
        verdict = judge(pack.output(echo), task)
        assert (verdict.outcome, verdict.score) == ("fail", 0.0)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_a_cut_reply_is_truncated_even_if_it_is_right(pack: Pack, task: BenchmarkTask) -> None:
    verdict = judge(pack.output(task.reference, finish_reason="length"), task)
    assert (verdict.outcome, verdict.reason) == ("truncated", "answer_budget")


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_thinking_before_the_reference_changes_nothing(pack: Pack, task: BenchmarkTask) -> None:
    text = f"<think>{task.near_misses[0].output}</think>\n{task.reference}"
    assert judge(pack.output(text), task).outcome == "pass"
