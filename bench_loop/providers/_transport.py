"""HTTP to one model server: one client, one connection for each request, and a hard time limit.

The client is built once, before any clock starts. Connections are not reused: llama.cpp sometimes
closes one after a streamed answer while the client is about to send on it. While a stream is timed,
Python's collector of cycles waits: a full collection stops all threads for tens of milliseconds.
"""

from __future__ import annotations

import contextlib
import gc
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from bench_loop.errors import ProviderError
from bench_loop.providers import _faults
from bench_loop.providers._endpoint import Endpoint
from bench_loop.providers._text import parse_json

CONNECT_LIMIT_S = 10.0
ANSWER_LIMIT_S = 30.0
MAX_ANSWER_BYTES = 64 * 2**20
MAX_STREAM_BYTES = 256 * 2**20

TakeBytes = Callable[[bytes, float], bool]
"""Given the next bytes and their time in seconds after sending; True when it needs no more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of a server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The JSON value of the body, or None when it is none."""
        try:
            return parse_json(self.body)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """When a stream began and ended, in seconds after sending, and whether the limit ended it."""

    first_byte_s: float | None
    end_s: float
    is_cut: bool


class Transport:
    """Sends requests to one server and maps what goes wrong to our errors.

    A whole answer may take `answer_limit_s`, and all of them together `total_limit_s` from now on:
    so a server that nobody named cannot hold anyone up, however many questions it is asked.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        api_key: str | None,
        title: str,
        remedy: str,
        answer_limit_s: float = ANSWER_LIMIT_S,
        total_limit_s: float = math.inf,
    ) -> None:
        self.endpoint = endpoint
        self._answer_limit_s = answer_limit_s
        self._patience_s = min(answer_limit_s, total_limit_s)
        self._give_up = time.monotonic() + total_limit_s
        self.server = _faults.Server(title, endpoint.url, remedy)
        headers = {"Connection": "close", "Accept-Encoding": "identity"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(None, connect=min(CONNECT_LIMIT_S, answer_limit_s)),
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=not endpoint.is_local,
            verify=endpoint.is_encrypted,
        )

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """The whole answer, whatever its status. Raises ProviderError when there is none."""
        limit_s = min(self._answer_limit_s, max(0.0, self._give_up - time.monotonic()))
        with self._exchange(method, path, body, limit_s) as exchange:
            data = exchange.read_all()
            if exchange.is_cut:
                raise _faults.too_slow(self.server, self._patience_s)
            return Answer(exchange.status, exchange.headers, data)

    def get_json(self, path: str) -> dict[str, Any]:
        """The JSON object at `path`. Raises ProviderError for another status or content."""
        return self._json(path, self.ask("GET", path))

    def post_json(self, path: str, body: Any) -> dict[str, Any]:
        """The JSON object that answers `body`. Raises ProviderError like `get_json`."""
        return self._json(path, self.ask("POST", path, body))

    def stream(self, path: str, body: Any, limit_s: float, take: TakeBytes) -> StreamEnd:
        """Hand the bytes of a 200 answer to `take` as they arrive, for at most `limit_s`.

        The limit holds against a server that is silent and against one that never ends. Raises
        ProviderError when the server cannot be reached, refuses, or loses the answer.
        """
        with _PAUSE.held(), self._exchange("POST", path, body, limit_s) as exchange:
            if exchange.status not in (0, 200):
                data = exchange.read_all()
                raise _faults.refused(self.server, exchange.status, exchange.headers, data)
            return exchange.feed(take)

    def close(self) -> None:
        self._client.close()

    def _exchange(self, method: str, path: str, body: Any, limit_s: float) -> _Exchange:
        request = self._client.build_request(method, self.endpoint.url + path, json=body)
        return _Exchange(self._client, request, self.server, limit_s)

    def _json(self, path: str, answer: Answer) -> dict[str, Any]:
        if answer.status != 200:
            raise _faults.refused(self.server, answer.status, answer.headers, answer.body)
        value = answer.json()
        if not isinstance(value, dict):
            raise _faults.not_a_model_server(self.server, f"{path} is no JSON object")
        return value


class _Exchange:
    """One request and its answer, with a clock that starts when the request is sent."""

    def __init__(
        self, client: httpx.Client, request: httpx.Request, server: _faults.Server, limit_s: float
    ) -> None:
        self._client = client
        self._request = request
        self._server = server
        self._deadline = _Deadline(limit_s)
        self._response: httpx.Response | None = None
        self._sent = time.perf_counter()
        self.first_byte_s: float | None = None
        request.extensions["trace"] = self._trace

    def __enter__(self) -> _Exchange:
        self._deadline.start()
        try:
            self._response = self._client.send(self._request, stream=True)
            self.first_byte_s = self._now()
        except BaseException as error:
            self._deadline.stop()
            if not isinstance(error, httpx.HTTPError):
                raise
            if not self.is_cut:
                raise self._fault(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._deadline.stop()
        if self._response is not None:
            self._response.close()

    @property
    def is_cut(self) -> bool:
        return self._deadline.has_passed

    @property
    def status(self) -> int:
        """The status; 0 when the limit passed before there was one."""
        return self._response.status_code if self._response is not None else 0

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers if self._response is not None else {}

    def read_all(self) -> bytes:
        """The rest of the body, up to MAX_ANSWER_BYTES."""
        parts: list[bytes] = []
        size = 0

        def keep(data: bytes, _: float) -> bool:
            nonlocal size
            parts.append(data)
            size += len(data)
            return size > MAX_ANSWER_BYTES

        self.feed(keep)
        return b"".join(parts)

    def feed(self, take: TakeBytes) -> StreamEnd:
        """Read to the end, to the limit, or until `take` has enough."""
        size = 0
        try:
            # As they came: nothing encoded was asked for, and unpacking may have no end.
            for data in self._response.iter_raw() if self._response is not None else ():
                now = self._now()
                size += len(data)
                if take(data, now) or self.is_cut:
                    break
                if size > MAX_STREAM_BYTES:
                    raise _faults.broken_stream("it has no end")
        except (httpx.HTTPError, httpx.StreamError) as error:
            if not self.is_cut:
                raise self._fault(error) from error
        return StreamEnd(self.first_byte_s, self._now(), self.is_cut)

    def _now(self) -> float:
        return time.perf_counter() - self._sent

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Learn from the HTTP library which socket is used, and when sending begins."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._deadline.guard(info["return_value"].get_extra_info("socket"))
        elif event.endswith(".send_request_headers.started"):
            self._sent = time.perf_counter()

    def _fault(self, error: Exception) -> ProviderError:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            return _faults.unreachable(self._server)
        return _faults.connection_lost(self._server)


class _CollectorPause:
    """Keeps the collector of cyclic garbage off while any stream is timed, on whatever thread.

    Reading a stream makes no cycles, so nothing piles up meanwhile. A collector that somebody else
    has turned off stays off.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._was_on = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if not self._holders:
                self._was_on = gc.isenabled()
                gc.disable()
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders and self._was_on:
                    gc.enable()


_PAUSE = _CollectorPause()


class _Deadline:
    """Shuts the socket of one request when its time has passed, even while the server is silent.

    A read timeout alone would begin again with every byte that arrives.
    """

    def __init__(self, limit_s: float) -> None:
        self.has_passed = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(min(limit_s, threading.TIMEOUT_MAX), self._pass)
        self._timer.daemon = True

    def start(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        self._timer.cancel()

    def guard(self, connection: socket.socket) -> None:
        with self._lock:
            self._socket = connection
            if self.has_passed:
                _shut(connection)

    def _pass(self) -> None:
        with self._lock:
            self.has_passed = True
            if self._socket is not None:
                _shut(self._socket)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it may be closed already
        connection.shutdown(socket.SHUT_RDWR)
