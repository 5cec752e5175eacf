"""The record of a request: what was offered, what was called, which try it was, and when."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from bench_loop.contracts.chat import ToolCall
from bench_loop.gateway.record import MOST_CALLS, call_records, is_well_formed, offered_tools
from tests.fakes.server import Piece, Reply, json_reply
from tests.gateway.gated import NO_LIMITS, PINS, Harness, Scripted, events, gated

READ = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "array"}},
    "required": ["path"],
}
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": READ}}]


def called(name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "call_1", "function": function}]}


def streamed(*deltas: dict[str, Any]) -> Reply:
    return Reply([Piece(event) for event in events(*deltas)], content_type="text/event-stream")


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ('{"path": "a"}', True),
        ('{"path": "a", "lines": [1]}', True),
        ('{"path": 1}', False),
        ('{"lines": []}', False),
        ('{"path": "a", "lines": 1}', False),
        ('["a"]', False),
        ('{"path": "a"', False),
        ("", False),
    ],
)
def test_arguments_are_well_formed_when_they_fit_the_parameters(arguments: str, fits: bool) -> None:
    assert is_well_formed(arguments, READ) is fits


def test_no_arguments_fit_a_tool_that_needs_none() -> None:
    assert is_well_formed("", {}) is True


@pytest.mark.parametrize(
    "schema",
    [{"type": "no such type"}, {"$ref": "http://example.invalid/s.json"}, {"required": 5}],
)
def test_what_is_no_schema_says_nothing_of_the_arguments(schema: dict[str, Any]) -> None:
    assert is_well_formed('{"path": "a"}', schema) is None


def test_a_pattern_is_not_looked_at() -> None:
    schema = {"properties": {"path": {"type": "string", "pattern": "^(a+)+$"}}}
    assert is_well_formed(json.dumps({"path": "a" * 50 + "!"}), schema) is True


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_a_schema_that_asks_for_too_much_says_nothing(word: str) -> None:
    """Thirty levels that each name the next one three times: more steps than there is time."""
    steps: dict[str, Any] = {
        f"s{at}": {word: [{"$ref": f"#/$defs/s{at + 1}"}] * 3} for at in range(30)
    }
    schema = {"$defs": {**steps, "s30": {"type": "string"}}, "$ref": "#/$defs/s0"}
    started = time.monotonic()
    assert is_well_formed("{}", schema | {"required": []}) is (False if word == "allOf" else None)
    assert time.monotonic() - started < 20


def test_a_schema_of_any_length_is_not_looked_at() -> None:
    schema = {"properties": {str(at): {"type": "string"} for at in range(10_000)}}
    assert is_well_formed('{"1": 1}', schema) is None


def test_items_are_not_compared_with_each_other() -> None:
    assert is_well_formed('{"lines": [1, 1]}', {"properties": {"lines": {"uniqueItems": True}}})


def test_tools_are_read_in_the_forms_of_both_apis() -> None:
    flat = {"type": "function", "name": "write", "parameters": {"type": "object"}}
    nonsense = [5, {}, {"function": {"name": 5}}, {"function": {"name": "bare"}}]
    offered = offered_tools({"tools": [*TOOLS, flat, *nonsense]})
    assert offered == {"read": READ, "write": {"type": "object"}, "bare": {}}


@pytest.mark.parametrize("tools", [None, {}, "read", 5])
def test_without_a_list_of_tools_none_is_offered(tools: Any) -> None:
    assert offered_tools({"tools": tools}) == {}


def test_a_call_says_whether_its_tool_was_offered() -> None:
    calls = [ToolCall(name="read", arguments='{"path": "a"}'), ToolCall(name="x", arguments="{")]
    known, unknown = call_records(calls, {"read": READ}, turn=3)
    assert (known.turn, known.is_offered, known.is_well_formed) == (3, True, True)
    assert (unknown.turn, unknown.is_offered, unknown.is_well_formed) == (3, False, False)


def test_calls_without_end_are_cut() -> None:
    calls = [ToolCall(name="read", arguments="{}")] * (MOST_CALLS + 1)
    assert len(call_records(calls, {}, turn=1)) == MOST_CALLS


def test_a_call_of_a_stream_is_recorded_with_its_turn() -> None:
    replies = streamed({"content": "hm"}), streamed(called("read", '{"path": "a"}'))
    with Scripted(*replies) as server, gated(server.url) as harness:
        for _ in range(2):
            harness.ask(tools=TOOLS)
        first, second = harness.trial.requests()
    assert (first.tool_calls, first.finish_reason) == ((), "stop")
    assert (second.tools_offered, second.messages, second.finish_reason) == (1, 1, "tool_calls")
    (call,) = second.tool_calls
    assert (call.id, call.name, call.turn) == ("call_1", "read", 2)
    assert (call.is_offered, call.is_well_formed) == (True, True)


def test_the_same_body_after_a_failure_is_a_retry() -> None:
    busy = json_reply({"error": "loading"}, status=503)
    with Scripted(busy, busy, streamed({"content": "yes"})) as server, gated(server.url) as harness:
        for text in ("one", "one", "one", "one", "two"):
            harness.ask(messages=[{"role": "user", "content": text}])
        records = harness.trial.requests()
    assert [record.retry for record in records] == [0, 1, 2, 0, 0]
    assert [record.status for record in records] == [503, 503, 200, 200, 200]


def test_marks_of_time_are_in_their_order() -> None:
    pieces = [Piece(event, 0.02) for event in events({"role": "assistant"}, {"content": "yes"})]
    reply = Reply(pieces, content_type="text/event-stream", pause_s=0.02)
    with Scripted(reply) as server, gated(server.url) as harness:
        harness.ask()
        (record,) = harness.trial.requests()
    assert record.t_first_byte_s is not None
    assert record.t_first_answer_s is not None
    assert record.t_first_byte_s >= 0.02
    assert record.t_first_answer_s >= record.t_first_byte_s + 0.04
    assert record.latency_s >= record.t_first_answer_s + 0.06


def test_text_is_watched_as_it_comes() -> None:
    reply = streamed({"content": "yes"}, {"content": " no"})
    watched: list[str] = []
    with Scripted(reply) as server, gated(server.url) as harness:
        Harness(harness.gateway, harness.gateway.open(PINS, NO_LIMITS, watched.append)).ask()
    assert watched == ["yes", " no"]
