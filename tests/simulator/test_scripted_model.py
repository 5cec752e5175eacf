"""The scripted model as a server: what it streams, counts and logs, and how it fails on demand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from bench_loop.contracts.chat import ChatReply
from bench_loop.providers._openai_chat import parse_line
from bench_loop.providers._stream import StreamReader
from bench_loop.selftest.simulated import simulator
from bench_loop.simulator.scripted import ScriptedModel, scripted_model
from bench_loop.simulator.settings import Call, Dialect, Program, Settings, run, say, write
from tests.simulator.tools import OFFERED

SCRIPT = (write("calc.py", "x = 'naïve 🙂'\n"), run("make"), say("Fixed: all is well."))
ASKED = {
    "model": "scripted",
    "messages": [{"role": "user", "content": "Fix it."}],
    "tools": OFFERED["hermes"],
}


def post(server: ScriptedModel, **fields: Any) -> httpx.Response:
    url = f"{server.address}/v1/chat/completions"
    return httpx.post(url, json=ASKED | fields)


def streamed(server: ScriptedModel, **fields: Any) -> ChatReply:
    """The reply as BenchLoop's own reader has it."""
    answer = post(server, stream=True, stream_options={"include_usage": True}, **fields)
    reader = StreamReader(parse_line, max_tokens=1000)
    reader.feed(answer.content, 0.1)
    return reader.reply(0.2, 0.1, is_cut=False)


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with scripted_model(SCRIPT) as running:
        yield running


def test_a_call_is_streamed(server: ScriptedModel) -> None:
    reply = streamed(server)
    assert reply.finish_reason == "tool_calls"
    assert [one.name for one in reply.tool_calls] == ["write_file"]
    assert json.loads(reply.tool_calls[0].arguments) == {
        "path": "calc.py",
        "content": "x = 'naïve 🙂'\n",
    }


def test_an_answer_is_streamed(server: ScriptedModel) -> None:
    reply = streamed(server, messages=ASKED["messages"], tools=[])
    assert (reply.text, reply.finish_reason) == ("A scripted conversation", "stop")


@pytest.mark.parametrize("dialect", ["openai", "ollama"])
def test_a_call_can_be_had_in_one_piece(dialect: Dialect) -> None:
    with scripted_model(SCRIPT, dialect=dialect) as server:
        path = "/api/chat" if dialect == "ollama" else "/v1/chat/completions"
        answer = httpx.post(server.address + path, json=ASKED | {"stream": False}).json()
    message = answer["message"] if dialect == "ollama" else answer["choices"][0]["message"]
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["write_file"]


def test_calls_of_one_server_have_different_ids(server: ScriptedModel) -> None:
    ids = {call.id for _ in range(2) for call in streamed(server).tool_calls}
    assert len(ids) == 2


def test_the_log_counts_the_tokens_that_it_told(server: ScriptedModel) -> None:
    reply = streamed(server)
    (logged,) = server.chats()
    assert (logged.prompt_tokens, logged.completion_tokens) == (
        reply.tokens.prompt,
        reply.tokens.completion,
    )
    characters = len(json.dumps([ASKED["messages"], ASKED["tools"]], ensure_ascii=False))
    assert logged.prompt_tokens == -(-characters // 4)


def test_the_log_holds_every_request_in_its_order(server: ScriptedModel) -> None:
    httpx.get(f"{server.address}/v1/models")
    httpx.get(f"{server.address}/api/tags?x=1")
    answer = post(server)
    models, tags, chat = server.requests()
    assert (models.method, models.path, models.status, models.body_bytes) == (
        "GET",
        "/v1/models",
        200,
        0,
    )
    assert (tags.path, tags.status) == ("/api/tags?x=1", 404)
    assert (chat.body_bytes, chat.status) == (len(answer.request.content), 200)


def test_the_log_tells_what_was_offered_and_answered(server: ScriptedModel) -> None:
    streamed(server)
    (logged,) = server.chats()
    assert logged.tools == ("patch", "read_file", "terminal", "write_file")
    arguments = '{"path": "calc.py", "content": "x = \'naïve 🙂\'\\n"}'
    assert logged.calls == (Call("write_file", arguments),)
    assert (logged.turn, logged.messages, logged.ended) == (0, 1, "done")


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_an_answer_is_cut_at_the_limit_of_the_request(name: str) -> None:
    with scripted_model([say("a" * 100)]) as server:
        reply = streamed(server, **{name: 3})
    assert (reply.text, reply.finish_reason) == ("a" * 12, "length")


def test_a_body_in_chunks_is_read(server: ScriptedModel) -> None:
    pieces = iter([json.dumps(ASKED).encode()[:50], json.dumps(ASKED).encode()[50:]])
    url = f"{server.address}/v1/chat/completions"
    answer = httpx.post(url, content=pieces)
    assert answer.json()["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model": "scripted"}'])
def test_a_body_that_is_no_chat_is_refused(server: ScriptedModel, body: bytes) -> None:
    answer = httpx.post(f"{server.address}/v1/chat/completions", content=body)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("status", "kind"), [(500, "server_error"), (400, "invalid_request_error")]
)
def test_it_can_refuse_every_chat(status: int, kind: str) -> None:
    with scripted_model(SCRIPT, Program(http_error=status)) as server:
        answers = [post(server) for _ in range(2)]
        assert [logged.status for logged in server.chats()] == [status, status]
    assert {answer.status_code for answer in answers} == {status}
    assert answers[0].json()["error"]["type"] == kind


def test_it_can_stall() -> None:
    with scripted_model(SCRIPT, Program(stall_after=1, stall_s=60.0)) as server:
        url = f"{server.address}/v1/chat/completions"
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url, json=ASKED | {"stream": True}, timeout=0.2)
        (logged,) = server.chats()
    assert (logged.status, logged.ended) == (200, None)


def test_it_can_cut_its_stream() -> None:
    with scripted_model(SCRIPT, Program(break_after=2)) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            post(server, stream=True)
        (logged,) = server.chats()
    assert logged.ended == "broken"


def test_it_is_a_process_too() -> None:
    settings = Settings("openai", {"scripted": Program(script=SCRIPT)})
    with simulator(settings) as server:
        answer = httpx.post(f"{server.url}/v1/chat/completions", json=ASKED).json()
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "write_file"


def test_a_script_goes_through_json() -> None:
    settings = Settings("openai", {"scripted": Program(script=SCRIPT)})
    assert Settings.from_json(settings.to_json()) == settings
