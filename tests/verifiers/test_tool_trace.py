"""Tool calls: arguments to the letter, order by invariants only, no free points."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.errors import PackError
from bench_loop.verifiers.judging import judge
from bench_loop.verifiers.tool_trace import check
from tests.verifiers.cases import make_task

ORDER = {
    "name": "order",
    "description": "Orders an item.",
    "parameters": {
        "type": "object",
        "required": ["item", "count"],
        "properties": {
            "item": {"type": "string"},
            "count": {"type": "integer"},
            "gift": {"type": "boolean"},
            "price": {"type": "number"},
            "tags": {"type": "array"},
        },
    },
}
STOCK = {
    "name": "get_stock",
    "description": "Counts an item.",
    "parameters": {
        "type": "object",
        "required": ["item"],
        "properties": {"item": {"type": "string"}},
    },
}
REPLIES = {
    "state": {"orders": 0},
    "rules": (
        {"tool": "get_stock", "reply": {"count": 3}},
        {"tool": "order", "when": {"item": "void"}, "error": "no such item"},
        {"tool": "order", "reply": {"ok": True}, "add": {"orders": 1}},
    ),
}


def task(**expected: Any) -> BenchmarkTask:
    return make_task("tool_trace", expected, tools=(ORDER, STOCK), replies=REPLIES)


def said(*turns: list[tuple[str, Any]], text: str = "") -> Output:
    """Calls turn by turn; arguments that are text are sent as they are."""
    calls = [
        CallRecord(
            id=None,
            name=name,
            arguments=args if isinstance(args, str) else json.dumps(args),
            turn=number,
        )
        for number, turn in enumerate(turns, 1)
        for name, args in turn
    ]
    return Output(text=text, tool_calls=tuple(calls), convention="tool_calls")


def verdict(output: Output, **expected: Any) -> TaskScore:
    return judge(output, task(**expected))


LAMP = {"item": "lamp", "count": 2}
ONE_ORDER = [{"tool": "order", "args": LAMP}]


def test_the_expected_call_passes_with_full_credit() -> None:
    found = verdict(said([("order", LAMP)]), calls=ONE_ORDER, least_calls=1)
    assert (found.outcome, found.score) == ("pass", 1.0)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"item": "lamp", "count": 3}, "wrong_value"),
        ({"item": "lam", "count": 2}, "wrong_value"),
        ({"item": "lamps", "count": 2}, "wrong_value"),
        ({"item": "Lamp", "count": 2}, "wrong_value"),
        ({"item": "lamp", "count": "2"}, "wrong_argument_type"),
        ({"item": "lamp", "count": 2.5}, "wrong_argument_type"),
        ({"item": "lamp", "count": True}, "wrong_argument_type"),
        ({"item": "lamp", "count": None}, "wrong_argument_type"),
        ({"item": "lamp"}, "missing_argument"),
        ({"item": "lamp", "count": 2, "colour": "red"}, "invented_argument"),
        ({"item": "lamp", "count": 2, "gift": False}, "extra_argument"),
        ('{"item": "lamp", "count": 2', "malformed_arguments"),
        ('{"item": "lamp", "count": 2} {}', "malformed_arguments"),
        ('{"item": "void", "item": "lamp", "count": 2}', "malformed_arguments"),
        ('["lamp", 2]', "malformed_arguments"),
        ("{'item': 'lamp', 'count': 2}", "malformed_arguments"),
        ("", "missing_argument"),
    ],
)
def test_arguments_are_compared_by_type_and_value(args: Any, reason: str) -> None:
    found = verdict(said([("order", args)]), calls=ONE_ORDER)
    assert (found.outcome, found.reason) == ("fail", reason)


def test_a_whole_float_is_the_integer_that_json_says_it_is() -> None:
    args = {"item": "lamp", "count": 2.0}
    assert verdict(said([("order", args)]), calls=ONE_ORDER).outcome == "pass"


@pytest.mark.parametrize(
    ("value", "got", "is_right"),
    [
        (True, True, True),
        (True, False, False),
        (0.5, 0.5, True),
        (0.5, 0.25, False),
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["b", "a"], False),
        (["a", "b"], ["a", "a"], False),
    ],
)
def test_every_kind_of_value_is_compared(value: Any, got: Any, is_right: bool) -> None:
    name = {bool: "gift", float: "price", list: "tags"}[type(value)]
    found = verdict(
        said([("order", {**LAMP, name: got})]),
        calls=[{"tool": "order", "args": {**LAMP, name: value}}],
    )
    assert (found.outcome == "pass") == is_right


def test_comparisons_can_be_loosened_by_argument() -> None:
    calls = [
        {
            "tool": "order",
            "args": {**LAMP, "tags": ["a", "b"]},
            "compare": {"item": "text", "tags": "set"},
            "optional": ["gift"],
        }
    ]
    args = {"item": " LAMP ", "count": 2, "tags": ["b", "a"], "gift": True}
    assert verdict(said([("order", args)]), calls=calls).outcome == "pass"


def test_one_call_satisfies_one_expectation_only() -> None:
    both = [*ONE_ORDER, {"tool": "order", "args": {"item": "desk", "count": 1}}]
    assert verdict(said([("order", LAMP), ("order", LAMP)]), calls=both).reason == "missing_call"


def test_the_right_call_among_ten_wrong_ones_is_an_extra_effect() -> None:
    wrong = [("order", {"item": f"thing {number}", "count": 1}) for number in range(10)]
    assert verdict(said([("order", LAMP), *wrong]), calls=ONE_ORDER).reason == "extra_effect"


def test_the_same_order_placed_twice_is_an_extra_effect() -> None:
    assert verdict(said([("order", LAMP)], [("order", LAMP)]), calls=ONE_ORDER).reason == (
        "extra_effect"
    )


def test_extra_reading_passes_and_costs_the_credit_for_efficiency() -> None:
    reads = [[("get_stock", {"item": f"thing {number}"})] for number in range(5)]
    found = verdict(said(*reads, [("order", LAMP)]), calls=ONE_ORDER, least_calls=1)
    assert (found.outcome, found.score) == ("pass", 0.75)


def test_an_unoffered_tool_beside_the_right_outcome_is_partial() -> None:
    found = verdict(said([("Order", LAMP)], [("order", LAMP)]), calls=ONE_ORDER, least_calls=1)
    assert (found.outcome, found.reason, found.score) == ("partial", "hallucinated_tool", 0.75)


def test_a_refused_call_changes_nothing_and_is_tolerated() -> None:
    output = said([("order", {"item": "void", "count": 1})], [("order", LAMP)])
    assert verdict(output, calls=ONE_ORDER).outcome == "pass"


BEFORE = [{"first": {"tool": "get_stock"}, "then": {"tool": "order"}}]


def test_reading_must_come_in_an_earlier_turn_than_acting() -> None:
    read, act = ("get_stock", {"item": "lamp"}), ("order", LAMP)
    reasons = [
        verdict(output, calls=ONE_ORDER, before=BEFORE).reason
        for output in (said([read], [act]), said([read, act]), said([act], [read]), said([act]))
    ]
    assert reasons == [None, *["acted_before_reading"] * 3]


@pytest.mark.parametrize("text", ["abc", "", "7", "No tool is needed.", "ANSWER: 3"])
def test_silence_is_not_enough_where_no_tool_is_needed(text: str) -> None:
    found = verdict(said(text=text), abstains=True, answer={"parts": ["Oslo"]})
    assert (found.outcome, found.score) == ("fail", 0.0)


def test_a_call_attempt_is_no_abstention_even_if_it_is_wrong() -> None:
    output = said([("nothing", {})], text="ANSWER: Oslo")
    found = verdict(output, abstains=True, answer={"parts": ["Oslo"]})
    assert found.reason == "unwanted_call"


def test_state_is_computed_and_not_believed() -> None:
    records = [
        CallRecord(
            id=None,
            name="order",
            arguments='{"item": "void", "count": 1}',
            turn=1,
            is_offered=True,
            is_well_formed=True,
            is_useful=True,
        )
    ]
    output = Output(text="", tool_calls=tuple(records), convention="tool_calls")
    assert verdict(output, state={"orders": 1}).reason == "wrong_state:orders"


def test_no_output_raises() -> None:
    hostile = ["[" * 5000, '{"a":' * 5000, "\x00", '{"count": 1e999}', '{"count": NaN}', "9" * 5000]
    for arguments in hostile:
        found = verdict(said([("order", arguments)]), calls=ONE_ORDER)
        assert found.reason == "malformed_arguments"


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"abstains": True},
        {"calls": [{"tool": "unknown"}]},
        {"state": {"unknown": 1}},
        {"answer": {"parts": ["a"], "among": ["b"]}},
        {"calls": ONE_ORDER, "surplus": True},
    ],
)
def test_an_expectation_that_means_nothing_is_refused(expected: dict[str, Any]) -> None:
    with pytest.raises(PackError):
        check(task(**expected))
