"""A gateway before a server of a test's own, and a harness that asks through it."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx

from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.pinning import Pins
from bench_loop.gateway.server import Gateway
from bench_loop.gateway.trial import GatedTrial
from tests.fakes.server import FakeServer, Reply, Request

CHAT = "/v1/chat/completions"
PINS = Pins("tiny", answer_tokens=64)
NO_LIMITS = Limits()
WAIT_S = 30.0


class Scripted(FakeServer):
    """Answers one request after another with `replies`, the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__()
        self._replies = list(replies)

    def answer(self, request: Request) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


@dataclass(frozen=True, slots=True)
class Harness:
    """What a harness does: it asks through the gateway, with the key of its trial."""

    gateway: Gateway
    trial: GatedTrial

    def ask(self, path: str = CHAT, **fields: Any) -> httpx.Response:
        return httpx.post(
            self.url(path), json=question(**fields), headers=self.headers, verify=False
        )

    def send(self, body: bytes, path: str = CHAT) -> httpx.Response:
        return httpx.post(self.url(path), content=body, headers=self.headers, verify=False)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url(path), headers=self.headers, verify=False)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.gateway.port}{path}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.trial.key}"}


def question(text: str = "What is 2+2?", **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": "tiny", "messages": messages, "stream": True, "max_tokens": 64} | fields


@contextmanager
def gated(url: str, pins: Pins = PINS, limits: Limits = NO_LIMITS) -> Iterator[Harness]:
    """A harness, and a gateway before the server at `url`."""
    with Gateway(HttpUpstream(url)) as gateway:
        yield Harness(gateway, gateway.open(pins, limits))


class Unending:
    """A server that begins a stream, goes on with `more` or in silence, and sees its client go."""

    def __init__(self, beginning: bytes, more: bytes = b"") -> None:
        self.is_left = threading.Event()
        self._beginning = beginning
        self._more = more
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(WAIT_S)
        self._listener.close()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            connection.settimeout(WAIT_S)
            connection.recv(65536)
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            connection.sendall(head + self._beginning)
            with contextlib.suppress(ConnectionError):
                while self._more or connection.recv(65536):
                    connection.sendall(self._more)
                    time.sleep(0.001)
            self.is_left.set()


def until(is_so: Callable[[], object]) -> None:
    """Wait until `is_so`, as it must become."""
    give_up = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < give_up, "it did not become so in time"
        time.sleep(0.01)


def events(*deltas: dict[str, Any], end: str = "\n\n") -> Sequence[bytes]:
    """A stream of llama.cpp's kind, event by event."""
    chunks = [{"choices": [{"index": 0, "delta": delta}], "model": "tiny"} for delta in deltas]
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "model": "tiny"}
    usage = {"prompt_tokens": 12, "completion_tokens": len(deltas)}
    counts = {"choices": [], "usage": usage, "model": "tiny"}
    data = [json.dumps(chunk, ensure_ascii=False) for chunk in (*chunks, last, counts)]
    return [f"data: {text}{end}".encode() for text in (*data, "[DONE]")]
