"""Answers pass through the gateway as they are and as they come, whatever they are."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.passage import HUNG_UP
from bench_loop.gateway.server import Gateway
from tests.fakes.server import FOREVER, Piece, Reply, Request, json_reply
from tests.gateway.gated import (
    CHAT,
    PINS,
    WAIT_S,
    Harness,
    Scripted,
    Unending,
    events,
    gated,
    question,
    until,
)
from tests.providers.replay import FIXTURES, recorded, reply_of

STREAM = "text/event-stream"
OF_THE_CONNECTION = ("transfer-encoding", "content-length", "connection", "date")

RECORDED = [
    f"{engine}/{file.stem}"
    for engine in ("llamacpp", "ollama")
    for file in sorted((FIXTURES / "engines" / engine).glob("*.json"))
    if {"status", "headers"} <= recorded(engine, file.stem).keys()
]


def stream(*pieces: bytes, is_cut: bool = False) -> Reply:
    return Reply([Piece(piece) for piece in pieces], content_type=STREAM, is_cut=is_cut)


def hang_up_after_the_first_piece(harness: Harness) -> None:
    with stream_of(harness) as answer:
        next(answer.iter_raw())


def take(harness: Harness, got: list[bytes]) -> None:
    """Add the pieces of an answer to `got`, as long as some come."""
    with stream_of(harness) as answer:
        for piece in answer.iter_raw():
            got.append(piece)


def stream_of(harness: Harness) -> AbstractContextManager[httpx.Response]:
    return httpx.stream("POST", harness.url(CHAT), json=question(), headers=harness.headers)


def seen(answer: httpx.Response) -> tuple[int, dict[str, str], bytes]:
    """All that a harness sees of an answer."""
    headers = {k: v for k, v in answer.headers.items() if k not in OF_THE_CONNECTION}
    return answer.status_code, headers, answer.content


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_answer_of_an_engine_is_the_same_to_the_byte(name: str) -> None:
    engine, _, case = name.partition("/")
    twice = reply_of(engine, case), reply_of(engine, case)
    with Scripted(*twice) as server, gated(server.url) as harness:
        direct = httpx.post(server.url + CHAT, json=question())
        assert seen(harness.ask()) == seen(direct)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("comment", [b"", b": keep-alive\n\n"], ids=["plain", "comments"])
def test_a_stream_in_odd_pieces_is_the_same_and_is_understood(
    size: int, end: str, comment: bytes
) -> None:
    said = ({"content": "naïve 🙂"}, {"content": " yes"})
    body = b"".join(comment + event for event in events(*said, end=end))
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    with Scripted(stream(*pieces)) as server, gated(server.url) as harness:
        assert harness.ask().content == body
        (reply,) = harness.trial.replies()
    assert (reply.text, reply.tokens.completion) == ("naïve 🙂 yes", 2)


def test_a_stream_without_a_mark_of_its_end_is_whole() -> None:
    pieces = events({"content": "yes"})[:-1]
    with Scripted(stream(*pieces)) as server, gated(server.url) as harness:
        assert harness.ask().content == b"".join(pieces)
        assert [reply.text for reply in harness.trial.replies()] == ["yes"]


def test_an_event_passes_before_the_next_one_is_there() -> None:
    first, *others = events({"content": "yes"}, {"content": " no"})
    is_seen = threading.Event()

    def pieces() -> Iterator[Piece]:
        yield Piece(first)
        assert is_seen.wait(WAIT_S)
        yield from map(Piece, others)

    reply = Reply(pieces(), content_type=STREAM)
    with Scripted(reply) as server, gated(server.url) as harness, stream_of(harness) as answer:
        arrived = answer.iter_raw()
        assert next(arrived) == first
        is_seen.set()
        assert b"".join(arrived) == b"".join(others)


def test_the_head_of_an_answer_passes_before_its_body_is_there() -> None:
    is_seen = threading.Event()

    def pieces() -> Iterator[Piece]:
        assert is_seen.wait(WAIT_S)
        yield Piece(b"late")

    reply = Reply(pieces(), content_type=STREAM)
    with Scripted(reply) as server, gated(server.url) as harness, stream_of(harness) as answer:
        assert answer.status_code == 200
        is_seen.set()
        assert answer.read() == b"late"


def test_trials_at_the_same_time_are_not_mixed() -> None:
    class Echo(Scripted):
        def answer(self, request: Request) -> Reply:
            text = request.json["messages"][0]["content"]
            return stream(*events(*({"content": letter} for letter in text)))

    with Echo() as server, Gateway(HttpUpstream(server.url)) as gateway:
        harnesses = [Harness(gateway, gateway.open(PINS, Limits())) for _ in range(8)]
        asked = [
            (one, f"trial {at} says {n}") for n in range(4) for at, one in enumerate(harnesses)
        ]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda pair: pair[0].send(_body(pair[1])), asked))
        heard = [sorted(reply.text for reply in one.trial.replies()) for one in harnesses]
    assert heard == [[f"trial {at} says {n}" for n in range(4)] for at in range(8)]


def _body(text: str) -> bytes:
    return json.dumps(question(text)).encode()


@pytest.mark.parametrize("more", [b": on\n\n", b""], ids=["speaks", "is silent"])
def test_a_harness_that_hangs_up_stops_a_model_that(more: bytes) -> None:
    first = events({"content": "and"})[0]
    with Unending(first, more) as server, gated(server.url) as harness:
        hang_up_after_the_first_piece(harness)
        assert server.is_left.wait(WAIT_S)
        until(harness.trial.exchanges)
        (exchange,) = harness.trial.exchanges()
    assert exchange.record.error == HUNG_UP
    assert (exchange.reply, exchange.failure, exchange.record.finish_reason) == (None, None, None)


def test_closing_a_trial_hangs_up_on_the_model_before_its_first_byte() -> None:
    slow = Reply(pause_s=FOREVER)
    with Scripted(slow) as server, gated(server.url) as harness, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(harness.ask)
        until(lambda: server.requests)
        assert harness.trial.is_waiting
        harness.trial.close()
        assert not harness.trial.is_waiting
        with pytest.raises(httpx.RemoteProtocolError):
            asked.result()
        (record,) = harness.trial.requests()
    assert (record.status, record.error) == (None, HUNG_UP)


def test_a_harness_that_hangs_up_after_the_last_event_has_its_answer() -> None:
    def pieces() -> Iterator[Piece]:
        yield Piece(b"".join(events({"content": "yes"})))
        yield Piece(b"", FOREVER)

    reply = Reply(pieces(), content_type=STREAM)
    with Scripted(reply) as server, gated(server.url) as harness:
        hang_up_after_the_first_piece(harness)
        until(harness.trial.exchanges)
        (exchange,) = harness.trial.exchanges()
    assert exchange.reply is not None
    assert (exchange.reply.text, exchange.record.error) == ("yes", None)


def test_a_server_that_is_down_is_a_bad_gateway_and_a_failure() -> None:
    server = Scripted()
    server.close()
    with gated(server.url) as harness:
        answer = harness.ask()
        (exchange,) = harness.trial.exchanges()
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "bad_gateway")
    assert exchange.record.status is None
    assert exchange.record.error == "No answer: the model server could not be reached."
    assert exchange.failure is not None
    assert exchange.failure.is_transient


def test_a_server_that_closes_without_an_answer_is_a_bad_gateway() -> None:
    with Scripted(Reply(status=0)) as server, gated(server.url) as harness:
        assert harness.ask().status_code == 502
        (record,) = harness.trial.requests()
    assert record.error == "No answer: the model server closed the connection too early."


def test_a_server_that_falls_silent_is_a_failure() -> None:
    upstream_limit_s = 0.2
    with (
        Scripted(Reply(pause_s=FOREVER)) as server,
        Gateway(HttpUpstream(server.url, silence_limit_s=upstream_limit_s)) as gateway,
    ):
        harness = Harness(gateway, gateway.open(PINS, Limits()))
        assert harness.ask().status_code == 502
        (record,) = harness.trial.requests()
    assert record.error == "No answer: the model server fell silent."


def test_an_error_of_the_server_passes_and_is_a_failure() -> None:
    error = json_reply({"error": {"message": "out of memory"}}, status=500)
    with Scripted(error) as server, gated(server.url) as harness:
        answer = harness.ask()
        (exchange,) = harness.trial.exchanges()
    assert (answer.status_code, answer.content) == (500, error.body)
    assert exchange.record.status == 500
    assert exchange.record.error == "The model server answered 500: out of memory"
    assert exchange.failure is not None


def test_a_busy_server_passes_with_its_retry_after() -> None:
    busy = json_reply({"error": "loading"}, status=503, Retry_After="7")
    with Scripted(busy) as server, gated(server.url) as harness:
        answer = harness.ask()
        (failure,) = harness.trial.failures()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert (failure.is_transient, failure.retry_after_s) == (True, 7.0)


def test_a_stream_that_is_cut_is_cut_for_the_harness_too() -> None:
    first, second, *_ = events({"content": "yes"}, {"content": " no"})
    with Scripted(stream(first, second, is_cut=True)) as server, gated(server.url) as harness:
        got: list[bytes] = []
        with pytest.raises(httpx.RemoteProtocolError):
            take(harness, got)
        until(harness.trial.exchanges)
        (exchange,) = harness.trial.exchanges()
    assert b"".join(got) == first + second
    assert exchange.record.status == 200
    assert exchange.record.error == (
        "The answer was cut: the model server closed the connection too early."
    )
    assert exchange.reply is None
    assert exchange.cut is not None
    assert exchange.cut.text == "yes no"


def test_an_error_inside_a_stream_passes_and_is_a_failure() -> None:
    first, *_ = events({"content": "yes"})
    error = b'data: {"error": {"message": "the runner was killed"}}\n\n'
    with Scripted(stream(first, error)) as server, gated(server.url) as harness:
        assert harness.ask().content == first + error
        (record,) = harness.trial.requests()
    assert record.error == "The engine stopped in the middle of the answer: the runner was killed"


def test_a_harness_that_hangs_up_on_an_error_of_the_server_has_met_it() -> None:
    error = b'data: {"error": {"message": "the runner was killed"}}\n\n'

    def pieces() -> Iterator[Piece]:
        yield Piece(events({"content": "yes"})[0] + error)
        yield Piece(b"", FOREVER)

    reply = Reply(pieces(), content_type=STREAM)
    with Scripted(reply) as server, gated(server.url) as harness:
        hang_up_after_the_first_piece(harness)
        until(harness.trial.exchanges)
        (exchange,) = harness.trial.exchanges()
    assert exchange.failure is not None
    assert exchange.record.error == exchange.failure.message
    assert "the runner was killed" in exchange.failure.message


def test_a_page_that_is_no_answer_passes_and_is_a_failure() -> None:
    page = Reply(b"<html>Welcome</html>", content_type="text/html")
    with Scripted(page) as server, gated(server.url) as harness:
        assert harness.ask().content == page.body
        assert len(harness.trial.failures()) == 1


def test_a_whole_answer_in_many_lines_is_understood() -> None:
    body = b"""{
      "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "yes"}}],
      "usage": {"prompt_tokens": 12, "completion_tokens": 2}\r
    }"""
    with Scripted(Reply(body)) as server, gated(server.url) as harness:
        assert harness.ask(stream=False).content == body
        (exchange,) = harness.trial.exchanges()
    assert exchange.reply is not None
    assert (exchange.reply.text, exchange.reply.tokens.completion) == ("yes", 2)
    assert exchange.record.t_first_answer_s is None


def test_the_same_gateway_is_behind_its_unix_socket(tmp_path: Path) -> None:
    socket = tmp_path / "gateway.sock"
    with (
        Scripted(stream(*events({"content": "yes"}))) as server,
        Gateway(HttpUpstream(server.url), socket) as gateway,
        httpx.Client(transport=httpx.HTTPTransport(uds=str(socket))) as client,
    ):
        trial = gateway.open(PINS, Limits())
        headers = {"Authorization": f"Bearer {trial.key}"}
        client.post(f"http://gateway{CHAT}", json=question(), headers=headers)
        assert [reply.text for reply in trial.replies()] == ["yes"]
    assert not socket.exists()
