"""How a workspace came to be right: the credit, what must be looked at first, and idle calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench_loop.contracts.chat import CallRecord, ToolCall
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.workspace import artifacts, texts
from bench_loop.verifiers.conduct import is_efficient, unnecessary
from bench_loop.verifiers.judging import judge
from tests.verifiers.cases import make_task

FILES = {"RULES.md": "Write b, not c.\n", "note.txt": "a\n"}

Calls = list[tuple[str, dict[str, Any]]]

RULES = ("read_file", {"path": "./RULES.md"})
NOTE = ("read_file", {"path": "note.txt"})
WRITE = ("write_file", {"path": "note.txt", "content": "b\n"})
LIST = ("list_files", {"path": "."})


def task(**expected: Any) -> BenchmarkTask:
    rules = {
        "workspace": {"lines": {"note.txt": ["b"]}, "unchanged": ["RULES.md"]},
        "look_first": ["RULES.md"],
        "least_calls": 2,
        **expected,
    }
    return make_task("artifact", rules, tools="workspace", files=FILES)


def output(*turns: Calls, text: str = "It is done.") -> Output:
    """What is left when the calls of `turns` are done with BenchLoop's own tools."""
    toolbox = make_toolbox(task())
    calls = [
        toolbox.call(ToolCall(id=None, name=name, arguments=json.dumps(args)), turn)[0]
        for turn, together in enumerate(turns, 1)
        for name, args in together
    ]
    files = toolbox.files()
    assert files is not None
    return Output(
        text=text,
        tool_calls=tuple(calls),
        files=texts(artifacts(files)),
        convention="workspace",
    )


def told(verdict: TaskScore) -> tuple[str, float, str | None]:
    return verdict.outcome, verdict.score, verdict.reason


def test_the_shortest_way_has_all_four_quarters() -> None:
    assert told(judge(output([RULES], [WRITE]), task())) == ("pass", 1.0, None)


def test_a_detour_costs_nothing_up_to_the_slack_and_then_a_quarter() -> None:
    detour = [[LIST], [NOTE], [RULES], [WRITE]]
    assert told(judge(output(*detour), task())) == ("pass", 1.0, None)
    assert told(judge(output(*detour, [NOTE]), task())) == ("pass", 0.75, None)
    assert [is_efficient(calls, 2) for calls in (4, 5)] == [True, False]


def test_a_tool_that_is_not_offered_costs_a_quarter_and_no_pass() -> None:
    found = output([("open_file", {"path": "RULES.md"})], [RULES], [WRITE])
    assert told(judge(found, task())) == ("pass", 0.75, None)


EARLY: dict[str, tuple[Calls, ...]] = {
    "never": ([NOTE], [WRITE]),
    "with the change": ([RULES, WRITE],),
    "after the change": ([WRITE], [RULES]),
    "another file": ([("read_file", {"path": "note.txt"})], [WRITE]),
    "a call that reached nothing": ([("read_file", {})], [WRITE]),
}


@pytest.mark.parametrize("turns", EARLY.values(), ids=EARLY.keys())
def test_a_change_before_the_rules_were_looked_at_is_partial(turns: tuple[Calls, ...]) -> None:
    reason = "changed_before_looking:RULES.md"
    assert told(judge(output(*turns), task())) == ("partial", 0.75, reason)


SEEN: dict[str, tuple[Calls, ...]] = {
    "read": ([RULES], [WRITE]),
    "searched": ([("search_files", {"text": "b"})], [WRITE]),
    "shown by a program": ([("run_command", {"command": "cat RULES.md"})], [WRITE]),
    "with a scratch file before": (
        [("write_file", {"path": "plan", "content": "x"})],
        [RULES],
        [WRITE, ("delete_file", {"path": "plan"})],
    ),
}


@pytest.mark.parametrize("turns", SEEN.values(), ids=SEEN.keys())
def test_there_are_several_ways_to_look(turns: tuple[Calls, ...]) -> None:
    found = output(*turns)
    calls = tuple(
        call.model_copy(update={"is_well_formed": True, "is_offered": True, "is_useful": True})
        for call in found.tool_calls
    )
    verdict = judge(found.model_copy(update={"tool_calls": calls}), task(least_calls=4))
    assert told(verdict) == ("pass", 1.0, None)


def test_of_another_harness_only_the_outcome_is_judged() -> None:
    done = output([WRITE])
    calls = (CallRecord(id="1", name="edit", arguments="not JSON"),)
    for known in (calls, ()):
        verdict = judge(done.model_copy(update={"tool_calls": known}), task())
        assert told(verdict) == ("pass", 1.0, None)


WRONG: dict[str, tuple[Calls, ...]] = {
    "nothing": (),
    "looked at all": ([LIST], [RULES, NOTE]),
    "everything deleted": (
        [RULES],
        [("delete_file", {"path": "RULES.md"}), ("delete_file", {"path": "note.txt"})],
    ),
    "the wrong thing": ([RULES], [("write_file", {"path": "note.txt", "content": "c\n"})]),
}


@pytest.mark.parametrize("turns", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("text", ["Done.", "ANSWER: b", ""])
def test_good_conduct_is_worth_nothing_without_the_outcome(
    turns: tuple[Calls, ...], text: str
) -> None:
    verdict = judge(output(*turns, text=text), task())
    assert (verdict.outcome, verdict.score) == ("fail", 0.0)


def test_calls_that_brought_nothing_are_counted() -> None:
    turns = [[RULES], [RULES], [("open_file", {})], [("read_file", {})], [WRITE], [RULES]]
    assert unnecessary(output(*turns).tool_calls) == 4
    assert unnecessary(()) == 0
    assert unnecessary((CallRecord(id="1", name="edit", arguments="{}"),)) is None


BOUND = {"least_calls": 2, "most_calls": 4}


def test_a_right_outcome_within_the_bound_of_calls_passes_and_beyond_it_fails() -> None:
    within = output([RULES], [NOTE], [LIST], [WRITE])
    beyond = output([RULES], [NOTE], [LIST], [WRITE], [NOTE])
    assert told(judge(within, task(**BOUND))) == ("pass", 1.0, None)
    verdict = judge(beyond, task(**BOUND))
    assert told(verdict) == ("fail", 0.0, "too_many_calls")
    assert verdict.message == "5 calls were made where 4 are allowed."


def test_calls_of_one_turn_and_calls_in_vain_count_against_the_bound() -> None:
    together = output([RULES, NOTE, LIST], [WRITE, NOTE])
    in_vain = output([("open_file", {})], [("read_file", {})], [RULES], [WRITE], [WRITE])
    for found in (together, in_vain):
        assert judge(found, task(**BOUND)).reason == "too_many_calls"


def test_what_is_wrong_in_the_files_is_told_before_the_number_of_calls() -> None:
    idle = output([RULES], [NOTE], [LIST], [NOTE], [NOTE])
    assert judge(idle, task(**BOUND)).reason == "wrong_content:note.txt"


def test_calls_of_another_harness_count_and_those_that_none_tells_do_not() -> None:
    done = output([WRITE])
    calls = tuple(CallRecord(id=str(at), name="edit", arguments="not JSON") for at in range(5))
    reasons = [
        judge(done.model_copy(update={"tool_calls": known}), task(**BOUND)).reason
        for known in (calls, calls[:4], ())
    ]
    assert reasons == ["too_many_calls", None, None]
