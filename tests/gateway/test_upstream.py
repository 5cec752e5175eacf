"""Whatever stands behind the gateway, what it says of itself is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from bench_loop.gateway.server import Gateway
from bench_loop.gateway.upstream import Answer, Asked, UpstreamFailedError
from tests.gateway.gated import NO_LIMITS, PINS, Harness, events

YES = events({"content": "yes"})


@dataclass
class Told:
    """An upstream that answers what it was told to."""

    pieces_: Sequence[bytes | Exception] = ()
    fault: str | None = None
    error: Exception | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    asked: list[Asked] = field(default_factory=list)

    @asynccontextmanager
    async def send(self, asked: Asked) -> AsyncIterator[Answer]:
        self.asked.append(asked)
        if self.error is not None:
            raise self.error
        yield self

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self.pieces_:
            if isinstance(piece, Exception):
                raise piece
            yield piece
            await asyncio.sleep(0)


def harness_of(gateway: Gateway) -> Harness:
    return Harness(gateway, gateway.open(PINS, NO_LIMITS))


def test_it_sees_the_request_as_it_is_sent_and_no_key() -> None:
    upstream = Told(YES)
    with Gateway(upstream) as gateway:
        harness = harness_of(gateway)
        harness.ask("/v1/chat/completions?x=1", temperature=None)
    (asked,) = upstream.asked
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions?x=1")
    assert b'"include_usage": true' in asked.body
    names = {name.lower() for name in asked.headers}
    assert not names & {"host", "connection", "content-length", "authorization"}


def test_a_fault_of_an_answer_is_recorded() -> None:
    upstream = Told(YES, fault="empty_answer")
    with Gateway(upstream) as gateway:
        harness = harness_of(gateway)
        harness.ask()
        assert [record.fault for record in harness.trial.requests()] == ["empty_answer"]


def test_a_fault_instead_of_an_answer_is_recorded() -> None:
    upstream = Told(error=UpstreamFailedError("it was to fail", "stall"))
    with Gateway(upstream) as gateway:
        harness = harness_of(gateway)
        assert harness.ask().status_code == 502
        (record,) = harness.trial.requests()
    assert (record.fault, record.error) == ("stall", "No answer: it was to fail.")


def test_a_fault_in_the_middle_of_an_answer_is_recorded() -> None:
    upstream = Told([YES[0], UpstreamFailedError("it was to end here", "cut_stream")])
    with Gateway(upstream) as gateway:
        harness = harness_of(gateway)
        with pytest.raises(httpx.RemoteProtocolError):
            harness.ask()
        (record,) = harness.trial.requests()
    assert (record.fault, record.status) == ("cut_stream", 200)


def test_an_error_of_our_own_is_no_failure_of_the_model() -> None:
    upstream = Told(error=RuntimeError("a mistake"))
    with Gateway(upstream) as gateway:
        harness = harness_of(gateway)
        assert harness.ask().status_code == 500
        (exchange,) = harness.trial.exchanges()
    assert exchange.record.error == "No answer: the gateway itself failed (RuntimeError)."
    assert exchange.failure is not None
    assert not harness.trial.is_waiting
