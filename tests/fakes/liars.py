"""Servers that lie: what a hostile owner of a usual port may answer in place of a model server."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Self

from tests.fakes import engines
from tests.fakes.engines import FakeEngine, listing
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.server import FOREVER, FakeServer, Reply, Request, endless

NAMES = (
    "x; touch /tmp/pwned",
    "line\nbreak",
    "bi\u202edi",
    "--help",
    "[bold red]markup[/]",
    "[/]",
    "title\x1b]0;pwned\x07\x1b[31m",
    "`id`$(id)",
    "lone\ud800",
    "n" * 100_000,
)
VERSION = "0.33.0\x1b[31m[red]v[/]\u202e\nsecond line"
NUMBERS = (
    b'{"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 1e308, "meta": {"size": 1e999,'
    b' "n_params": -5, "n_ctx_train": 99999999999999999999}}, {"id": 1e308}, {"id": null},'
    b' {"id": "k", "owned_by": {"a": 1}, "max_model_len": NaN}]}'
)


class RawServer:
    """Sends bytes of its own to whoever connects, then `more` again and again."""

    def __init__(self, begin: bytes, more: bytes = b"", pause_s: float = 0.1) -> None:
        self._begin, self._more, self._pause_s = begin, more, pause_s
        self._stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._start(lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(20)
            connection.recv(65536)
            connection.sendall(self._begin)
            while self._more and not self._stopped.wait(self._pause_s):
                connection.sendall(self._more)


class Turncoat(FakeServer):
    """As `first` for so many requests, and then as `then`."""

    def __init__(self, first: FakeServer, count: int, then: FakeServer | Reply) -> None:
        super().__init__()
        self._first, self._count, self._then = first, count, then

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        for server in (self._first, self._then):
            if isinstance(server, FakeServer):
                server.close()

    def answer(self, request: Request) -> Reply:
        if len(self.requests) <= self._count:
            return self._first.answer(request)
        return self._then if isinstance(self._then, Reply) else self._then.answer(request)


class StalledChat(FakeOllama):
    """Has a model loaded and never answers a chat."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = {"tiny:1b": 8192}

    def answer(self, request: Request) -> Reply:
        return Reply(pause_s=FOREVER) if request.path == "/api/chat" else super().answer(request)


def _deep(count: int) -> bytes:
    return b'{"default_generation_settings": ' + b'{"a":' * count + b"1" + b"}" * count + b"}"


def _llama(props: Any) -> FakeEngine:
    return FakeEngine({"/v1/models": listing("m", owner="llamacpp"), "/props": props})


def _answer(body: bytes, *headers: bytes) -> bytes:
    head = (b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers)
    return b"\r\n".join((*head, b"", body))


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * (200 * 2**20), 9)


@cache
def _fat() -> bytes:
    return json.dumps(listing(*(f"m{number}" for number in range(60_000)), owner="vllm")).encode()


_HEAD = b"HTTP/1.1 200 OK\r\n"
LIARS: dict[str, Callable[[], Any]] = {
    "a version with codes": lambda: FakeOllama(version=VERSION),
    "a version of 3 MB": lambda: FakeOllama(version="9" * (3 * 2**20)),
    "a version of 10 MB": lambda: FakeOllama(version="9" * (10 * 2**20)),
    "names of models": lambda: FakeOllama([FakeModel(name) for name in NAMES]),
    "names with an owner": lambda: FakeEngine(
        {"/v1/models": listing(*NAMES, owner="vllm"), "/version": {"version": VERSION}}
    ),
    "60,000 models": lambda: FakeEngine({"/v1/models": Reply(_fat())}),
    "deep properties": lambda: _llama(Reply(_deep(100_000))),
    "numbers": lambda: FakeEngine({"/v1/models": Reply(NUMBERS)}),
    "a number of 6,000 digits": lambda: FakeEngine(
        {"/v1/models": Reply(b'{"data": [{"id": "m", "max_model_len": ' + b"9" * 6000 + b"}]}")}
    ),
    "slow headers": lambda: RawServer(_HEAD, b"X: y\r\n"),
    "a slow body": lambda: RawServer(_HEAD + b"Content-Length: 1000000\r\n\r\n{", b" "),
    "silence after it was identified": lambda: Turncoat(FakeOllama(), 3, Reply(pause_s=FOREVER)),
    "a body without end after that": lambda: Turncoat(
        engines.vllm(), 2, Reply(endless(b" ", 0.05))
    ),
    "silence in a chat": StalledChat,
    "a redirect elsewhere": lambda: FakeEngine(
        {}, other=Reply(status=302, headers={"Location": "http://198.51.100.7/v1/models"})
    ),
    "a redirect after that": lambda: Turncoat(
        FakeOllama(), 3, Reply(status=307, headers={"Location": "http://198.51.100.7/"})
    ),
    "HTTP/0.9": lambda: RawServer(b'{"data": []}'),
    "a chunk without end": lambda: RawServer(
        _HEAD + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", b"a" * 65536, 0
    ),
    "headers without end": lambda: RawServer(_HEAD, b"X-A: " + b"a" * 65536 + b"\r\n", 0),
    "a gzip bomb": lambda: RawServer(_answer(_bomb(), b"Content-Encoding: gzip")),
    "a gzip bomb after that": lambda: Turncoat(
        FakeOllama(), 3, Reply(_bomb(), headers={"Content-Encoding": "gzip"})
    ),
    "another identity after that": lambda: Turncoat(FakeOllama(), 3, engines.vllm()),
    "nobody after that": lambda: Turncoat(engines.vllm(), 2, Reply(status=0)),
}
"""Made anew for each test; `url`, `requests`, and a context manager."""
