"""Faults put into a trial on purpose, once each: how a harness gets over them is its recovery."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from bench_loop.gateway.events import events_of, has_call, says_something, whole_of
from bench_loop.gateway.spoiling import (
    Spoil,
    spoil_events,
    spoil_whole,
    with_failing_tool,
    with_malformed_arguments,
    with_unknown_tool,
)
from bench_loop.gateway.upstream import Answer, Asked, Upstream, UpstreamFailedError
from bench_loop.providers._text import as_dict, parse_json

Fault = Literal[
    "http_500",
    "stall",
    "cut_stream",
    "malformed_arguments",
    "unknown_tool",
    "empty_answer",
    "tool_error",
]
"""`http_500`: the model is not asked. `stall`: silence after the first token. `cut_stream`: the
connection ends in the middle of an event. `malformed_arguments`, `unknown_tool`: the model's first
tool call is no JSON, or names a tool that nobody offered. `empty_answer`: nothing, and a regular
end. `tool_error`: the first call asks for what the harness's own tool must answer with an error."""

FAULTS: tuple[Fault, ...] = get_args(Fault)

_SPOILS: dict[Fault, Spoil] = {
    "malformed_arguments": with_malformed_arguments,
    "unknown_tool": with_unknown_tool,
    "tool_error": with_failing_tool,
}

_ROUTES = ("/v1/chat/completions", "/v1/responses")
_CHAT = _ROUTES[0]
_ON_EVERY_ROUTE: tuple[Fault, ...] = ("http_500", "stall", "cut_stream")
"""Faults that ask nothing of what an answer says; the others know chat completions alone."""


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """One fault for one trial."""

    fault: Fault
    request: int = 1
    """The request for a reply, from 1, in whose answer it is put, or else in that of the first one
    after it that has what the fault needs: a tool call, or any token."""
    stall_s: float = 60.0
    """Length of the silence, after which the answer goes on."""


class FaultyUpstream:
    """Passes everything on to another upstream, and puts the fault of the plan in, once.

    Only the answer with the fault differs; the others pass byte by byte. Answers that could hold
    the fault are looked into event by event.
    """

    def __init__(self, inner: Upstream, plan: FaultPlan | None = None) -> None:
        self._inner = inner
        self.arm(plan)

    def arm(self, plan: FaultPlan | None) -> None:
        """Begin a trial: its requests count from 1. None: a trial without a fault."""
        self._plan = plan
        self._asked = 0
        self.done_at: int | None = None
        """The request that got the fault; None: none did."""

    @asynccontextmanager
    async def send(self, asked: Asked) -> AsyncIterator[Answer]:
        plan, number = self._plan, self._number(asked)
        if plan is None or not self._is_due(plan, number, asked):
            async with self._inner.send(asked) as answer:
                yield answer
        elif (made := _made(plan.fault, asked)) is not None:
            self.done_at = number
            yield made
        else:
            async with self._inner.send(asked) as answer:
                yield _Spoilt(self, answer, plan, number) if answer.status == 200 else answer

    def _number(self, asked: Asked) -> int:
        """Which request for a reply this is; 0: none."""
        if asked.method != "POST" or urlsplit(asked.path).path not in _ROUTES:
            return 0
        self._asked += 1
        return self._asked

    def _is_due(self, plan: FaultPlan, number: int, asked: Asked) -> bool:
        fits = urlsplit(asked.path).path == _CHAT or plan.fault in _ON_EVERY_ROUTE
        return fits and self.done_at is None and number >= plan.request > 0

    def claim(self, plan: FaultPlan, number: int) -> bool:
        """Whether the fault may be put into request `number` now: once, and in its own trial."""
        if self._plan is not plan or self.done_at is not None:
            return False
        self.done_at = number
        return True


class _Made:
    """An answer that no model server gave."""

    def __init__(self, fault: Fault, status: int, content_type: str, body: bytes) -> None:
        self.fault: str | None = fault
        self.status = status
        self.headers: Mapping[str, str] = {"Content-Type": content_type}
        self._body = body

    async def pieces(self) -> AsyncIterator[bytes]:
        yield self._body


class _Spoilt:
    """The answer of a model server with a fault in it, if it has the place for one."""

    def __init__(
        self, upstream: FaultyUpstream, answer: Answer, plan: FaultPlan, number: int
    ) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self.fault = answer.fault
        self._upstream = upstream
        self._answer = answer
        self._plan = plan
        self._number = number

    async def pieces(self) -> AsyncIterator[bytes]:
        kinds = {name.lower(): value for name, value in self.headers.items()}
        is_streamed = kinds.get("content-type", "").startswith("text/event-stream")
        spoil = _SPOILS.get(self._plan.fault)
        if not is_streamed:
            pieces = self._whole(spoil)
        elif spoil is None:
            pieces = self._interrupted()
        else:
            pieces = self._called(spoil)
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    def _claim(self) -> bool:
        if not self._upstream.claim(self._plan, self._number):
            return False
        self.fault = self._plan.fault
        return True

    async def _interrupted(self) -> AsyncGenerator[bytes]:
        """A stall or a cut, after the first event that says something."""
        is_next = False
        async for event in events_of(self._answer.pieces()):
            if is_next and self._plan.fault == "cut_stream":
                yield event[: len(event) // 2]
                raise _cut()
            if is_next:
                await asyncio.sleep(self._plan.stall_s)
            yield event
            is_next = says_something(event) and self._claim()

    async def _called(self, spoil: Spoil) -> AsyncGenerator[bytes]:
        """From the first event with a call on, all is held until the answer is complete."""
        held: list[bytes] = []
        try:
            async for event in events_of(self._answer.pieces()):
                if held or has_call(event):
                    held.append(event)
                else:
                    yield event
        except UpstreamFailedError:
            for event in held:
                yield event
            raise
        spoilt = spoil_events(held, spoil)
        for event in spoilt if spoilt is not None and self._claim() else held:
            yield event

    async def _whole(self, spoil: Spoil | None) -> AsyncGenerator[bytes]:
        """The fault in an answer that is one piece of JSON."""
        body = await whole_of(self._answer.pieces())
        if spoil is not None:
            spoilt = spoil_whole(body, spoil)
            yield spoilt if spoilt is not None and self._claim() else body
            return
        if not self._claim():
            yield body
        elif self._plan.fault == "stall":
            await asyncio.sleep(self._plan.stall_s)
            yield body
        else:
            yield body[: len(body) // 2]
            raise _cut()


def _cut() -> UpstreamFailedError:
    return UpstreamFailedError("the answer was cut on purpose", "cut_stream")


def _made(fault: Fault, asked: Asked) -> _Made | None:
    """The answer for which no model is needed; None: this fault needs one."""
    if fault == "http_500":
        error = {"message": "The server had an error.", "type": "server_error", "code": 500}
        return _Made(fault, 500, "application/json", json.dumps({"error": error}).encode())
    if fault != "empty_answer":
        return None
    try:
        body = as_dict(parse_json(asked.body))
    except ValueError:
        body = {}
    if body.get("stream") is True:
        return _Made(fault, 200, "text/event-stream", _empty_stream(str(body.get("model"))))
    return _Made(fault, 200, "application/json", _empty_whole(str(body.get("model"))))


def _empty_stream(model: str) -> bytes:
    begun = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": "stop"}
    events = [json.dumps(_completion(model, "chat.completion.chunk", c)) for c in (begun, ended)]
    return "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()


def _empty_whole(model: str) -> bytes:
    message = {"role": "assistant", "content": ""}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps(_completion(model, "chat.completion", choice)).encode()


def _completion(model: str, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-empty",
        "object": kind,
        "created": 0,
        "model": model,
        "choices": [choice],
    }
