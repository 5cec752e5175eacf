"""Every shipped task: its own answers get the verdicts that it names, and nonsense fails."""

from __future__ import annotations

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Trajectory
from bench_loop.contracts.verifier import TaskScore
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.trajectory import example_output
from bench_loop.verifiers.artifact import Expected, judge_original
from bench_loop.verifiers.expectation import read_expected
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


CALLS_BLINDLY = {"one constant call": {}, "and one invented argument": {"nothing": "nothing"}}


def verdict(pack: Pack, task: BenchmarkTask, example: str | Trajectory, box: Sandbox) -> TaskScore:
    return judge(example_output(pack, task, example, box), task, box)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_the_reference_passes(pack: Pack, task: BenchmarkTask, sandbox: Sandbox) -> None:
    found = verdict(pack, task, task.reference, sandbox)
    assert (found.outcome, found.reason, found.score) == ("pass", None, 1.0)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_every_other_right_form_passes(pack: Pack, task: BenchmarkTask, sandbox: Sandbox) -> None:
    reasons = [verdict(pack, task, example, sandbox).reason for example in task.also_right]
    assert reasons == [None] * len(reasons)
    assert len(reasons) >= 2


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_every_near_miss_fails_for_its_own_reason(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    found = [verdict(pack, task, miss.output, sandbox) for miss in task.near_misses]
    assert [one.reason for one in found] == [miss.reason for miss in task.near_misses]
    assert {one.outcome for one in found} <= {"fail", "partial"}
    assert len(found) >= 3


@pytest.mark.parametrize(("pack", "task"), TASKS)
@pytest.mark.parametrize("text", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_fails_without_credit(
    pack: Pack, task: BenchmarkTask, text: str, sandbox: Sandbox
) -> None:
    found = judge(pack.output(text), task, sandbox)
    assert (found.outcome, found.score) == ("fail", 0.0)


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_the_prompt_echoed_back_fails_without_credit(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    prompt = task.messages[-1].content
    for echo in (prompt, f"{prompt}\n{prompt}", prompt.splitlines()[-1], prompt.splitlines()[0]):
        found = judge(pack.output(echo), task, sandbox)
        assert (found.outcome, found.score) == ("fail", 0.0)


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


WITH_TOOLS = [one for one in TASKS if one.values[1].tools]  # type: ignore[union-attr]


@pytest.mark.parametrize(("pack", "task"), WITH_TOOLS)
@pytest.mark.parametrize("args", CALLS_BLINDLY.values(), ids=CALLS_BLINDLY.keys())
def test_calling_every_tool_blindly_fails_without_credit(
    pack: Pack, task: BenchmarkTask, args: dict[str, str], sandbox: Sandbox
) -> None:
    names = ["list_files", "delete_file"]
    if isinstance(task.tools, tuple):
        names = [tool.name for tool in task.tools]
    turns = [*[[{name: args}] for name in names], {"say": "ANSWER: done"}]
    example = Trajectory.model_validate({"trajectory": turns}, strict=False)
    found = verdict(pack, task, example, sandbox)
    assert (found.outcome, found.score) == ("fail", 0.0)


@pytest.mark.parametrize(("pack", "task"), [one for one in TASKS if one.values[1].files])  # type: ignore[union-attr]
def test_deleting_every_file_fails_without_credit(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    output = example_output(pack, task, task.reference, sandbox)
    text = output.text if task.tools else "I deleted everything."
    found = judge(output.model_copy(update={"files": {}, "text": text}), task, sandbox)
    assert (found.outcome, found.score) == ("fail", 0.0)


REPAIRS = [
    one
    for one in TASKS
    if one.values[1].verifier_type == "artifact"  # type: ignore[union-attr]
    and read_expected(one.values[1], Expected).visible  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("pack", "task"), REPAIRS)
def test_what_is_to_be_repaired_fails_its_visible_test(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    assert judge_original(task, sandbox).reason == "visible_value"
