"""Tests of what is kept of a trial that the program of a harness did."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.contracts.verifier import Limit
from bench_loop.engine.harness_record import (
    LONGEST_WORD,
    busy_s,
    harness_trial,
    is_seen,
    unseen_calls,
)
from bench_loop.engine.packs import load_pack
from bench_loop.engine.recorder import TrialLog
from bench_loop.result.records import RequestRecord
from tests.engine.doubles import reply

TASK = load_pack("agent").tasks[0]


def request(sent_s: float, latency_s: float, **fields: object) -> RequestRecord:
    return RequestRecord.model_validate({"sent_s": sent_s, "latency_s": latency_s, **fields})


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], 0.0),
        ([(1.0, 2.0)], 2.0),
        ([(0.0, 1.0), (5.0, 1.0)], 2.0),
        ([(0.0, 4.0), (1.0, 1.0)], 4.0),
        ([(0.0, 2.0), (1.0, 3.0)], 4.0),
        ([(1.0, 3.0), (0.0, 2.0)], 4.0),
    ],
)
def test_time_of_the_model_is_counted_once_where_requests_overlap(
    spans: list[tuple[float, float]], expected: float
) -> None:
    assert busy_s([request(*span) for span in spans]) == pytest.approx(expected)


def test_the_parts_of_the_wall_time_add_up() -> None:
    made = HarnessRunResult(final_text="", wall_s=10.0, tools_s=1.5)
    found = harness_trial(TASK, made, TrialLog(0.0, [], [request(2.0, 4.0)]))
    assert found is not None
    assert (found.model_s, found.tools_s, found.harness_s) == (4.0, 1.5, 4.5)


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("It is done.\n\nANSWER: calc.py", True),
        ("First I look.\nIt is  done.", True),
        ("It is in <workspace>/calc.py", True),
        ("ANSWER: other.py", False),
        ("It is done.\nANSWER: other.py", False),
        (" \n", None),
    ],
)
def test_an_answer_is_one_that_the_model_was_seen_to_give(text: str, is_said: bool | None) -> None:
    replies = [
        reply("First I look."),
        reply("It is done.\n\nANSWER: calc.py\nIt is in /bench/work/calc.py"),
    ]
    assert is_seen(text, replies) is is_said


def test_calls_that_the_model_never_made_are_counted() -> None:
    seen = [request(0.0, 1.0, tool_calls=(CallRecord(name="read", arguments="", turn=1),))]
    told = [CallRecord(name=name, arguments="", turn=1) for name in ("read", "read", "write")]
    assert unseen_calls(told, seen) == 2
    assert unseen_calls(told[:1], seen) == 0


def test_raw_has_no_such_record() -> None:
    assert harness_trial(TASK, HarnessRunResult(final_text="x"), TrialLog(0.0)) is None


CALLED = request(
    2.0, 1.0, finish_reason="tool_calls", tool_calls=(CallRecord(name="shell", arguments="{}"),)
)
ANSWERED = request(2.0, 1.0, finish_reason="stop")
OPEN = request(2.0, 8.0)
REFUSED = request(9.0, 0.0, refused="wall")


@pytest.mark.parametrize(
    ("limit", "requests", "waited_for"),
    [
        ("wall", [], "harness"),
        ("wall", [ANSWERED], "harness"),
        ("wall", [ANSWERED, OPEN], "model"),
        ("wall", [CALLED], "tool"),
        ("wall", [CALLED, REFUSED], "tool"),
        ("tokens", [ANSWERED], "model"),
        ("turns", [ANSWERED], None),
        (None, [OPEN], None),
    ],
)
def test_who_was_waited_for_is_told_where_the_time_or_the_tokens_were_up(
    limit: Limit | None, requests: list[RequestRecord], waited_for: str | None
) -> None:
    made = HarnessRunResult(final_text="", wall_s=10.0, limit=limit)
    found = harness_trial(TASK, made, TrialLog(0.0, [], requests))
    assert found is not None
    assert found.waited_for == waited_for


def test_what_a_harness_says_of_itself_is_cut_and_plain() -> None:
    said = {"long": "x" * 1000, "list": [1, 2], "count": 3, "leftovers": 2, "none": None}
    made = HarnessRunResult(final_text="", wall_s=1.0, metadata=said)
    found = harness_trial(TASK, made, TrialLog(0.0))
    assert found is not None
    assert found.leftovers == 2
    assert found.said == {"long": "x" * LONGEST_WORD, "count": 3, "none": None}
