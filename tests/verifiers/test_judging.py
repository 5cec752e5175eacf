"""What all suites have in common: cut, empty and misplaced replies get their own reasons."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import FinishReason, Message
from bench_loop.contracts.verifier import Output
from bench_loop.engine.packs import load_pack
from bench_loop.errors import PackError
from bench_loop.verifiers.judging import LONGEST_ANSWER, judge, task_prompt_hash, verifier_of
from tests.verifiers.cases import judged, make_task

FIVE = {"value": 5, "tolerance": 0}


@pytest.mark.parametrize(
    ("text", "thinking", "finish_reason", "outcome", "reason"),
    [
        ("ANSWER: 5", "", "stop", "pass", None),
        ("ANSWER: 5", "", "length", "truncated", "answer_budget"),
        ("ANSWER: 5", "", "limit", "truncated", "wall_limit"),
        ("", "", "length", "truncated", "answer_budget"),
        ("<think>is it 5", "", "length", "truncated", "thinking_unclosed"),
        ("<think>is it 5", "", "limit", "truncated", "thinking_unclosed"),
        ("<think>is it 5", "", "stop", "truncated", "thinking_unclosed"),
        ("", "is it 5", "length", "truncated", "thinking_unclosed"),
        ("<think>5</think>", "", "stop", "fail", "empty_answer"),
        ("", "ANSWER: 5", "stop", "fail", "empty_answer"),
        (" \n", "", "stop", "fail", "empty_answer"),
        ("", "", "tool_calls", "fail", "empty_answer"),
        ("ANSWER: 5", "", "error", "fail", "engine_rejected_output"),
        ("ANSWER: 5\n<think>or 6", "", "stop", "pass", None),
        ("Hm.", "", "stop", "fail", "no_answer"),
        ('{"name": "add", "arguments": {"a": 5}}', "", "stop", "fail", "tool_call_as_text"),
        ("<tool_call>\n{}", "", "stop", "fail", "tool_call_as_text"),
        ("I'll check.\n<function=add>\n<parameter=a> 5", "", "stop", "fail", "tool_call_as_text"),
    ],
)
def test_an_output_gets_its_outcome(
    text: str, thinking: str, finish_reason: FinishReason, outcome: str, reason: str | None
) -> None:
    verdict = judged(
        "tolerance", FIVE, text, "answer_line", thinking=thinking, finish_reason=finish_reason
    )
    assert (verdict.outcome, verdict.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("ANSWER: 5", "5"),
        ("ANSWER: 6", "6"),
        ("ANSWER: 5 miles", "5 miles"),
        ("ANSWER: 5 or 6", None),
        ("Hm.", None),
        ("", None),
    ],
)
def test_the_answer_is_what_the_convention_could_read(text: str, answer: str | None) -> None:
    assert judged("tolerance", FIVE, text, "answer_line").answer == answer


def test_whatever_is_no_pass_has_a_sentence() -> None:
    for text in ("", "Hm.", "ANSWER: 6", "ANSWER: 5 or 6", "ANSWER: 5 miles", "<think>"):
        message = judged("tolerance", FIVE, text, "answer_line").message
        assert message is not None
        assert message.endswith(".")


def test_a_long_answer_is_repeated_in_part_only() -> None:
    answer = judged("exact", {"lines": 1}, "x" * 10_000).answer
    assert answer == "x" * LONGEST_ANSWER


def test_a_verifier_that_does_not_exist_names_the_task_file() -> None:
    task = make_task("exact", {}).model_copy(update={"verifier_type": "guess"})
    with pytest.raises(PackError) as caught:
        verifier_of(task)
    assert (caught.value.file, caught.value.field) == ("cases/case.yaml", "verifier_type")


def test_the_prompt_hash_is_that_of_the_messages_alone() -> None:
    task = make_task("exact", {"lines": 1})
    other_key = task.model_copy(update={"expected": {"lines": 2}})
    other_prompt = task.model_copy(update={"messages": (Message(role="user", content="!"),)})
    assert task_prompt_hash(other_key) == task_prompt_hash(task)
    assert task_prompt_hash(other_prompt) != task_prompt_hash(task)


CHAIRS = next(task for task in load_pack("agent").tasks if task.id == "agent.chair-count")


@pytest.mark.parametrize(
    ("files", "state"),
    [
        (dict(CHAIRS.files), None),
        (None, None),
        ({**CHAIRS.files, "stock.csv": "item,count\n"}, "wrong_content:stock.csv"),
    ],
)
def test_files_changed_without_a_call_are_looked_at_where_the_work_was_cut(
    files: dict[str, str | None] | None, state: str | None
) -> None:
    output = Output(text="I go on.", files=files, limit="wall", convention="workspace")
    found = judge(output, CHAIRS)
    assert (found.outcome, found.reason, found.state_at_cut) == ("truncated", "wall_limit", state)


def test_files_that_lie_about_after_a_question_are_no_work() -> None:
    output = Output(text="I go on.", files={"note.txt": "5"}, limit="wall")
    assert judge(output, make_task("tolerance", expected=FIVE)).state_at_cut is None
