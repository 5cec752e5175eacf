"""Faults put into the answers of a model server: once, where they were planned, and told."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from bench_loop.errors import BenchLoopError
from bench_loop.gateway.faults import FAULTS, Fault, FaultPlan, FaultyUpstream
from bench_loop.gateway.spoiling import FAILING_COMMAND, NO_FILE, UNKNOWN_TOOL
from bench_loop.gateway.upstream import UpstreamFailedError
from tests.gateway.upstreams import (
    CALLS,
    DONE,
    JSON,
    TEXT,
    Canned,
    CannedUpstream,
    Got,
    call_part,
    chat,
    event,
    get,
)


def faulty(
    fault: Fault,
    *answers: Canned | UpstreamFailedError,
    request: int = 1,
    stall_s: float = 0.0,
) -> FaultyUpstream:
    inner = CannedUpstream(answers or (Canned(CALLS),))
    return FaultyUpstream(inner, FaultPlan(fault, request, stall_s))


def whole(**message: Any) -> Canned:
    """An answer in one piece."""
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": "stop"}
    return Canned([json.dumps({"choices": [choice]}).encode()], JSON)


def calls(got: Got) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in got.reply.tool_calls]


NO_JSON = r"Unterminated|Expecting"
READ = ("read", '{"path": "a.py", "limit": 9}')
EXEC = ("exec", '{"command": "make"}')


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_put_in_once_and_told(fault: Fault) -> None:
    upstream = faulty(fault, request=2)
    first, second, third = (get(upstream, chat()) for _ in range(3))
    assert [got.fault for got in (first, second, third)] == [None, fault, None]
    assert first.pieces == third.pieces == list(CALLS)
    assert second.body != first.body or fault == "stall"
    assert upstream.done_at == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_what_asks_for_no_reply_is_not_counted(fault: Fault) -> None:
    upstream = faulty(fault, request=1)
    assert get(upstream, chat("/v1/models")).fault is None
    assert upstream.done_at is None


def test_the_next_trial_has_its_own_fault() -> None:
    upstream = faulty("http_500")
    get(upstream, chat())
    upstream.arm(FaultPlan("empty_answer", request=2))
    assert [get(upstream, chat()).fault for _ in range(3)] == [None, "empty_answer", None]
    upstream.arm(None)
    assert [get(upstream, chat()).fault for _ in range(2)] == [None, None]


def test_a_500_is_an_error_object_and_asks_no_model() -> None:
    inner = CannedUpstream([Canned(TEXT)])
    got = get(FaultyUpstream(inner, FaultPlan("http_500")), chat())
    assert (got.status, json.loads(got.body)["error"]["type"]) == (500, "server_error")
    assert inner.asked == []


def test_an_empty_answer_ends_regularly() -> None:
    got = get(faulty("empty_answer"), chat())
    assert (got.status, got.reply.text, got.reply.tool_calls) == (200, "", ())
    assert got.reply.finish_reason == "stop"
    assert got.body.endswith(DONE)


def test_an_empty_answer_can_be_in_one_piece() -> None:
    got = get(faulty("empty_answer"), chat(stream=False))
    assert json.loads(got.body)["choices"][0]["message"]["content"] == ""


def test_a_stall_is_a_silence_after_the_first_token() -> None:
    upstream = faulty("stall", Canned([b"".join(TEXT)]), stall_s=0.2)
    began = time.monotonic()
    hung_up = get(upstream, chat(), most_pieces=2)
    assert time.monotonic() - began < 0.15
    assert hung_up.pieces == list(TEXT[:2])
    upstream.arm(FaultPlan("stall", stall_s=0.2))
    assert get(upstream, chat()).body == b"".join(TEXT)
    assert time.monotonic() - began > 0.2


def test_a_cut_ends_the_stream_in_the_middle_of_an_event() -> None:
    got = get(faulty("cut_stream", Canned([b"".join(TEXT)])), chat())
    assert got.body == b"".join(TEXT[:2]) + TEXT[2][: len(TEXT[2]) // 2]
    assert got.failed == "the answer was cut on purpose"
    with pytest.raises(BenchLoopError):
        _ = got.reply


def test_a_call_can_be_cut_too() -> None:
    got = get(faulty("cut_stream", Canned([event({}), *CALLS[2:]])), chat())
    assert got.body.startswith(event({}) + CALLS[2])
    assert got.failed is not None


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_malformed_arguments_are_no_json(size: int) -> None:
    stream = b"".join(CALLS)
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    got = get(faulty("malformed_arguments", Canned(pieces)), chat())
    assert calls(got) == [("read", READ[1][: len(READ[1]) // 2]), EXEC]
    with pytest.raises(ValueError, match=NO_JSON):
        json.loads(calls(got)[0][1])


@pytest.mark.parametrize("arguments", ["", "{}", " ", '{"a": 1}', "[1]"])
def test_any_arguments_can_be_malformed(arguments: str) -> None:
    answer = Canned([call_part(0, arguments, "read"), event({}, "tool_calls"), DONE])
    ((_, spoilt),) = calls(get(faulty("malformed_arguments", answer), chat()))
    with pytest.raises(ValueError, match=NO_JSON):
        json.loads(spoilt)


def test_an_unknown_tool_gets_the_arguments_of_the_known_one() -> None:
    assert calls(get(faulty("unknown_tool"), chat())) == [(UNKNOWN_TOOL, READ[1]), EXEC]


def test_a_failing_tool_is_asked_for_a_file_that_cannot_be() -> None:
    wanted = json.dumps({"path": NO_FILE, "limit": 9})
    assert calls(get(faulty("tool_error"), chat())) == [("read", wanted), EXEC]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"filePath": "a", "content": "b"}, {"filePath": NO_FILE, "content": "b"}),
        ({"command": "make", "path": 3}, {"command": FAILING_COMMAND, "path": 3}),
    ],
)
def test_a_failing_call_is_made_from_its_path_or_command(
    arguments: dict[str, Any], wanted: dict[str, Any]
) -> None:
    answer = Canned([call_part(0, json.dumps(arguments), "x"), event({}, "tool_calls"), DONE])
    ((_, spoilt),) = calls(get(faulty("tool_error", answer), chat()))
    assert json.loads(spoilt) == wanted


@pytest.mark.parametrize("fault", ["malformed_arguments", "unknown_tool", "tool_error"])
def test_a_fault_of_a_call_waits_for_one(fault: Fault) -> None:
    upstream = faulty(fault, Canned(TEXT), Canned(TEXT), Canned(CALLS))
    got = [get(upstream, chat()) for _ in range(3)]
    assert [one.fault for one in got] == [None, None, fault]
    assert got[0].pieces == list(TEXT)
    assert upstream.done_at == 3


def test_what_comes_before_a_call_and_after_it_stays_as_it_was() -> None:
    got = get(faulty("unknown_tool"), chat())
    assert got.pieces[:2] == list(CALLS[:2])
    assert got.pieces[5:] == list(CALLS[5:])


def test_events_end_as_they_did() -> None:
    crlf = [piece.replace(b"\n\n", b"\r\n\r\n") for piece in CALLS]
    got = get(faulty("unknown_tool", Canned(crlf)), chat())
    assert b"\n\n" not in got.body
    assert calls(got)[0][0] == UNKNOWN_TOOL


def test_a_call_without_arguments_of_a_known_kind_cannot_fail() -> None:
    answer = Canned([call_part(0, '{"zone": "UTC"}', "clock"), event({}, "tool_calls"), DONE])
    got = get(faulty("tool_error", answer), chat())
    assert (got.fault, calls(got)) == (None, [("clock", '{"zone": "UTC"}')])


@pytest.mark.parametrize(
    ("fault", "spoilt"),
    [
        ("malformed_arguments", ("read", '{"path": "a.')),
        ("unknown_tool", (UNKNOWN_TOOL, '{"path": "a.py", "x": 1}')),
        ("tool_error", ("read", json.dumps({"path": NO_FILE, "x": 1}))),
    ],
)
def test_a_call_in_one_piece_is_spoilt_too(fault: Fault, spoilt: tuple[str, str]) -> None:
    made = [("read", '{"path": "a.py", "x": 1}'), EXEC]
    functions = [{"function": {"name": name, "arguments": told}} for name, told in made]
    got = get(faulty(fault, whole(tool_calls=functions)), chat(stream=False))
    message = json.loads(got.body)["choices"][0]["message"]
    functions = [call["function"] for call in message["tool_calls"]]
    assert functions[1] == {"name": EXEC[0], "arguments": EXEC[1]}
    assert functions[0] == {"name": spoilt[0], "arguments": spoilt[1]}


def test_arguments_that_come_as_an_object_are_spoilt_as_text() -> None:
    function = {"name": "read", "arguments": {"path": "a.py"}}
    part = {"index": 0, "id": "call_0", "function": function}
    answer = Canned([event({"tool_calls": [part]}), event({}, "tool_calls"), DONE])
    got = get(faulty("tool_error", answer), chat())
    assert calls(got) == [("read", json.dumps({"path": NO_FILE}))]


def test_calls_under_one_index_are_told_apart_by_their_ids() -> None:
    first, second = (
        event({"tool_calls": [{"index": 0, "id": name, "function": {"name": name}}]})
        for name in ("one", "two")
    )
    answer = Canned([first, second, event({}, "tool_calls"), DONE])
    got = get(faulty("unknown_tool", answer), chat())
    assert got.pieces[1] == second
    assert UNKNOWN_TOOL in got.pieces[0].decode()


def test_an_answer_in_one_piece_can_be_cut() -> None:
    got = get(faulty("cut_stream", whole(content="done")), chat(stream=False))
    assert got.failed is not None
    with pytest.raises(ValueError, match=NO_JSON):
        json.loads(got.body)


def test_a_refusal_is_no_place_for_a_fault() -> None:
    refused = Canned([b'{"error": {"message": "no"}}'], JSON, status=400)
    upstream = faulty("cut_stream", refused, Canned(TEXT))
    assert [get(upstream, chat()).fault for _ in range(2)] == [None, "cut_stream"]


@pytest.mark.parametrize("fault", ["stall", "cut_stream", "malformed_arguments"])
@pytest.mark.parametrize("pieces", [TEXT[:1], CALLS[:4]])
def test_a_model_server_may_fail_before_the_fault(fault: Fault, pieces: Sequence[bytes]) -> None:
    answer = Canned([*pieces, b"data: {"], failed="the model server went away")
    got = get(faulty(fault, answer), chat())
    assert got.failed is not None
    if got.fault is None:
        assert got.body == b"".join(pieces) + b"data: {"
        assert got.failed == "the model server went away"


def test_a_model_server_that_is_away_is_told_as_it_is() -> None:
    upstream = faulty("stall", UpstreamFailedError("nobody is there"))
    assert get(upstream, chat()).failed == "nobody is there"
    assert upstream.done_at is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"choices": 1}', b"\xff"])
def test_nonsense_passes_as_it_is(body: bytes) -> None:
    for content_type in (JSON, "text/event-stream"):
        answer = Canned([b"data: " + body + b"\n\n"], content_type)
        got = get(faulty("unknown_tool", answer), chat())
        assert got.body == b"data: " + body + b"\n\n"


def test_an_api_that_faults_do_not_know_is_left_alone_by_those_of_calls() -> None:
    upstream = faulty("empty_answer")
    assert get(upstream, chat("/v1/responses")).fault is None
    upstream.arm(FaultPlan("http_500"))
    assert get(upstream, chat("/v1/responses")).fault == "http_500"
