"""Recorded answers of real engines, played again as bytes with times or over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench_loop.contracts.chat import ChatReply, ChatRequest, Message
from bench_loop.providers._stream import ParseLine, StreamReader
from tests.fakes.server import FakeServer, Reply, Request, json_reply, stream_reply

FIXTURES = Path(__file__).parents[1] / "fixtures"


def recorded(engine: str, name: str) -> dict[str, Any]:
    text = (FIXTURES / "engines" / engine / f"{name}.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def case(case_id: str) -> Any:
    """The input of one public bug report."""
    lines = (FIXTURES / "provider_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return next(c["input"] for c in map(json.loads, lines) if c["id"] == case_id)


def read(
    parse_line: ParseLine, timed: Iterable[tuple[float, bytes]], max_tokens: int = 64
) -> ChatReply:
    """The reply that network chunks with their arrival times in seconds amount to."""
    reader = StreamReader(parse_line, max_tokens)
    at_s = 0.0
    for at_s, data in timed:
        if reader.feed(data, at_s):
            break
    return reader.reply(at_s, 0.0, is_cut=False)


def read_recorded(parse_line: ParseLine, engine: str, name: str, max_tokens: int = 64) -> ChatReply:
    lines = recorded(engine, name)["lines_ms"]
    return read(
        parse_line, [(round(ms / 1000, 6), f"{line}\n".encode()) for ms, line in lines], max_tokens
    )


def reply_of(engine: str, name: str) -> Reply:
    """A recorded answer for a fake server."""
    record = recorded(engine, name)
    if "lines_ms" in record:
        lines = [line for _, line in record["lines_ms"]]
        return stream_reply(record["headers"]["content-type"], lines)
    return json_reply(record["json"], status=record["status"])


def question(text: str = "What is 2+2?", **settings: Any) -> ChatRequest:
    messages = (Message(role="user", content=text),)
    plain: dict[str, Any] = {"model_id": "tiny:1b", "messages": messages, "max_tokens": 64}
    return ChatRequest(**plain | settings)


class Replay(FakeServer):
    """Answers each path with its recorded replies in turn, the last one again and again."""

    def __init__(self, replies: dict[str, Sequence[Reply]]) -> None:
        super().__init__()
        self._replies = {path: list(queue) for path, queue in replies.items()}

    def answer(self, request: Request) -> Reply:
        queue = self._replies.get(request.path)
        if not queue:
            return super().answer(request)
        return queue.pop(0) if len(queue) > 1 else queue[0]
