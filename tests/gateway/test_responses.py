"""The other API of OpenAI's kind: its streams and whole answers, as replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench_loop.contracts.chat import ChatReply
from bench_loop.errors import EngineRejectedError
from bench_loop.gateway.responses import parse_line
from bench_loop.providers._stream import StreamReader
from tests.fakes.server import Piece, Reply
from tests.gateway.gated import Scripted, gated

USAGE = {
    "input_tokens": 20,
    "output_tokens": 9,
    "input_tokens_details": {"cached_tokens": 5},
    "output_tokens_details": {"reasoning_tokens": 3},
}
ITEM = {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": ""}
EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"model": "models/tiny.gguf"}},
    {"type": "response.reasoning_text.delta", "delta": "hm"},
    {"type": "response.output_text.delta", "delta": "I look"},
    {"type": "response.output_text.delta", "delta": " at it"},
    {"type": "response.output_item.added", "output_index": 2, "item": ITEM},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"path"'},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ': "a"}'},
    {"type": "response.completed", "response": {"status": "completed", "usage": USAGE}},
]


def lines(events: list[dict[str, Any]]) -> bytes:
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events
    ).encode()


def read(data: bytes) -> ChatReply:
    reader = StreamReader(parse_line, max_tokens=100)
    reader.feed(data, 0.1)
    return reader.reply(0.2, 0.1, is_cut=False)


def test_a_stream_is_a_reply() -> None:
    reply = read(lines(EVENTS))
    assert (reply.thinking, reply.text) == ("hm", "I look at it")
    (call,) = reply.tool_calls
    assert (call.id, call.name, call.arguments) == ("call_1", "read", '{"path": "a"}')
    assert reply.finish_reason == "tool_calls"
    tokens = reply.tokens
    assert (tokens.prompt, tokens.cached, tokens.completion, tokens.reasoning) == (20, 5, 9, 3)


def test_a_whole_answer_is_the_same_reply() -> None:
    whole = {
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": [], "content": [{"text": "hm"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look at it"}]},
            ITEM | {"arguments": '{"path": "a"}'},
        ],
        "usage": USAGE,
    }
    once, streamed = read(json.dumps(whole).encode()), read(lines(EVENTS))
    for part in ("text", "thinking", "tool_calls", "finish_reason", "tokens"):
        assert getattr(once, part) == getattr(streamed, part)


def test_an_answer_that_was_cut_off_says_so() -> None:
    end = {"type": "response.incomplete", "response": {"status": "incomplete"}}
    assert read(lines([*EVENTS[:4], end])).finish_reason == "length"


def test_a_stream_without_its_end_is_no_reply() -> None:
    with pytest.raises(EngineRejectedError, match="ended too early"):
        read(lines(EVENTS[:-1]))


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "message": "no memory"},
        {"type": "response.failed", "response": {"error": {"message": "no memory"}}},
    ],
)
def test_an_error_is_a_failure(event: dict[str, Any]) -> None:
    with pytest.raises(EngineRejectedError, match="no memory"):
        read(lines([*EVENTS[:3], event]))


def test_a_stream_passes_the_gateway_and_is_recorded() -> None:
    reply = Reply([Piece(lines(EVENTS))], content_type="text/event-stream")
    with Scripted(reply) as server, gated(server.url) as harness:
        answer = harness.ask("/v1/responses", input=[{"role": "user", "content": "?"}])
        (record,) = harness.trial.requests()
    assert answer.content == lines(EVENTS)
    assert server.requests[0].json["max_output_tokens"] == 64
    assert (record.messages, record.tokens.completion, len(record.tool_calls)) == (1, 9, 1)
