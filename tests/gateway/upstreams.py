"""Upstreams of the tests' own, and streams of a model server as bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bench_loop.contracts.chat import ChatReply
from bench_loop.gateway.upstream import Answer, Asked, Upstream, UpstreamFailedError
from bench_loop.providers._openai_chat import parse_line
from bench_loop.providers._stream import StreamReader

EVENTS = "text/event-stream; charset=utf-8"
JSON = "application/json"


@dataclass(slots=True)
class Canned:
    """An answer with these pieces; `failed` breaks it off at their end."""

    body: Sequence[bytes]
    content_type: str = EVENTS
    status: int = 200
    failed: str | None = None
    fault: str | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        return {"content-type": self.content_type, "x-engine": "canned"}

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self.body:
            yield piece
        if self.failed is not None:
            raise UpstreamFailedError(self.failed)


@dataclass(slots=True)
class CannedUpstream:
    """Gives its answers one after another, the last of them over and over."""

    answers: Sequence[Canned | UpstreamFailedError]
    asked: list[Asked] = field(default_factory=list)

    @asynccontextmanager
    async def send(self, asked: Asked) -> AsyncIterator[Answer]:
        self.asked.append(asked)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, UpstreamFailedError):
            raise answer
        yield answer


@dataclass(frozen=True, slots=True)
class Got:
    """What came of a request; `failed` is why it ended too early."""

    status: int | None
    content_type: str
    pieces: list[bytes]
    fault: str | None
    failed: str | None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def reply(self) -> ChatReply:
        """The stream as BenchLoop's own reader has it."""
        reader = StreamReader(parse_line, max_tokens=1000)
        reader.feed(self.body, 0.1)
        return reader.reply(0.2, 0.1, is_cut=False)


def get(upstream: Upstream, asked: Asked, most_pieces: int | None = None) -> Got:
    """Send one request to the end, or hang up after some pieces."""
    return asyncio.run(_got(upstream, asked, most_pieces))


async def _got(upstream: Upstream, asked: Asked, most_pieces: int | None) -> Got:
    status, content_type, fault = None, "", None
    pieces: list[bytes] = []
    failed: str | None = None
    try:
        async with upstream.send(asked) as answer:
            status, headers = answer.status, answer.headers
            content_type = {n.lower(): value for n, value in headers.items()}["content-type"]
            async for piece in answer.pieces():
                pieces.append(piece)
                if len(pieces) == most_pieces:
                    break
            fault = answer.fault
    except UpstreamFailedError as error:
        failed, fault = str(error), answer.fault if status is not None else None
    return Got(status, content_type, pieces, fault, failed)


def chat(path: str = "/v1/chat/completions", **fields: Any) -> Asked:
    """A request for a reply."""
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "go"}]}
    return Asked("POST", path, {}, json.dumps(body | fields).encode())


def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"

TEXT = (
    event({"role": "assistant", "content": None}),
    event({"content": "It is "}),
    event({"content": "done."}),
    event({}, "stop"),
    DONE,
)
"""The stream of an answer in words, one piece for each event."""


def call_part(index: int, arguments: str, name: str | None = None) -> bytes:
    part: dict[str, Any] = {"index": index, "function": {"arguments": arguments}}
    if name is not None:
        part |= {"id": f"call_{index}", "type": "function"}
        part["function"]["name"] = name
    return event({"tool_calls": [part]})


CALLS = (
    event({"role": "assistant", "content": None}),
    event({"content": "Let me look."}),
    call_part(0, "", "read"),
    call_part(0, '{"path": "a'),
    call_part(0, '.py", "limit": 9}'),
    call_part(1, '{"command": "make"}', "exec"),
    event({}, "tool_calls"),
    DONE,
)
"""The stream of an answer with two tool calls, the first of them in three events."""
