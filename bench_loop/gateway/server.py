"""The gateway's HTTP side: one background thread with an event loop, for any number of trials."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bench_loop.contracts.provider import Watch
from bench_loop.errors import SetupError
from bench_loop.gateway.http import OF_ONE_CONNECTION
from bench_loop.gateway.limits import Limits, sentence
from bench_loop.gateway.passage import NO_JSON, Passage
from bench_loop.gateway.pinning import Api, Pins
from bench_loop.gateway.trial import GatedTrial
from bench_loop.gateway.upstream import Asked, Upstream, UpstreamFailedError

if TYPE_CHECKING:  # aiohttp is loaded when a gateway is started, and not before
    from aiohttp import web

HOST = "127.0.0.1"
_ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS
MOST_BODY_BYTES = 32 * 2**20
MOST_BODIES_BYTES = 2 * MOST_BODY_BYTES
"""Of all requests under way together."""
MOST_CONNECTIONS = 256
"""At a time; one more is closed again."""

START_LIMIT_S = 10.0
CLOSE_LIMIT_S = 10.0
HANG_UP_LIMIT_S = 3.0
"""Time for open requests to notice that they are over."""

MODEL_ROUTES: dict[str, Api] = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}
LISTING = "/v1/models"
OLLAMA_ROUTES = {("GET", "/api/tags"), ("POST", "/api/show"), ("GET", "/api/version")}

_DROPPED = OF_ONE_CONNECTION | {
    "authorization",
    "api-key",
    "x-api-key",
    "cookie",
    "accept-encoding",
    "content-encoding",
}
"""Headers of a harness that stop here: of one connection, or a secret, or undone by now."""


class Gateway:
    """Started by entering its context; every trial has a key of its own."""

    def __init__(
        self, upstream: Upstream, socket: Path | None = None, *, is_ollama: bool = False
    ) -> None:
        """`socket` is a unix socket to be made, beside the port; `is_ollama` opens its routes."""
        self.port = 0
        """On 127.0.0.1; known once it is started."""
        self.stranger_count = 0
        """Requests that came without the key of an open trial."""
        self._upstream = upstream
        self._socket = socket
        self._passed = OLLAMA_ROUTES if is_ollama else set()
        self._trials: dict[str, GatedTrial] = {}
        self._tasks: dict[GatedTrial, set[asyncio.Task[Any]]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="gateway")
        self._runner: web.ServerRunner | None = None
        self._room = _Room()

    def __enter__(self) -> Self:
        """Raises SetupError when it cannot listen."""
        self._thread.start()
        try:
            self._in_loop(self._start(), START_LIMIT_S)
        except OSError as error:
            self._in_loop(self._stop(), CLOSE_LIMIT_S)
            self._end_thread()
            where = f"{HOST} and {self._socket}" if self._socket is not None else HOST
            raise SetupError(
                f"The gateway cannot listen on {where}: {error}.",
                remedy="Give it a folder that can be written to, with a short path.",
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        for trial in list(self._trials.values()):
            trial.close()
        self._in_loop(self._stop(), CLOSE_LIMIT_S)
        self._end_thread()

    @property
    def base_url(self) -> str:
        """What a harness is configured with."""
        return f"http://{HOST}:{self.port}/v1"

    def open(self, pins: Pins, limits: Limits, watch: Watch | None = None) -> GatedTrial:
        """Begin a trial, with a fresh key. `watch` sees the replies as they come, in a thread."""
        trial = GatedTrial(secrets.token_hex(24), pins, limits, self._close, watch)
        self._tasks[trial] = set()
        self._trials[trial.key] = trial
        return trial

    def _close(self, trial: GatedTrial) -> None:
        if self._trials.pop(trial.key, None) is not None:
            self._in_loop(self._hang_up(trial), CLOSE_LIMIT_S)

    async def _hang_up(self, trial: GatedTrial) -> None:
        tasks = self._tasks.pop(trial, set())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=HANG_UP_LIMIT_S)

    def _in_loop(self, work: Coroutine[Any, Any, None], limit_s: float) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(limit_s)

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_LIMIT_S)
        self._loop.close()

    async def _start(self) -> None:
        from aiohttp import web

        server = _server(self._handle)
        self._runner = web.ServerRunner(server, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        self.port = self._runner.addresses[0][1]
        if self._socket is not None:
            await web.UnixSite(self._runner, str(self._socket)).start()

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request of a harness, or of whoever finds the port."""
        trial = self._trials.get(_key(request.headers))
        method, path = request.method, request.path
        api = MODEL_ROUTES.get(path) if method == "POST" else None
        is_passed = (method, path) in self._passed or (method, path) == ("GET", LISTING)
        if trial is None:
            self.stranger_count += 1
            return _unknown_key() if api or is_passed else _nothing_here()
        task = asyncio.current_task()
        assert task is not None
        self._tasks[trial].add(task)
        try:
            if api is not None:
                return await self._model_request(request, trial, api)
            response = await self._probe(request) if is_passed else _nothing_here()
            trial.probed(method, path, response.status)
            return response
        finally:
            self._tasks.get(trial, set()).discard(task)

    async def _model_request(
        self, request: web.BaseRequest, trial: GatedTrial, api: Api
    ) -> web.StreamResponse:
        with self._room.taken() as room:
            raw = await _body(request, room)
            if raw is None:
                trial.refuse_body(api)
                return _error(413, "The request is too large.", "request_too_large")
            passage, refusal = await trial.begin(api, raw)
            if refusal == "body":
                return _error(400, NO_JSON, "invalid_json")
            if refusal is not None:
                return _error(400, sentence(refusal, trial.limits), "benchmark_limit_reached")
            return await self._pass(request, trial, passage)

    async def _pass(
        self, request: web.BaseRequest, trial: GatedTrial, passage: Passage
    ) -> web.StreamResponse:
        """Answer a request by the model, and record it, however it ends."""
        try:
            response = await self._carry(request, passage)
        except UpstreamFailedError as error:
            trial.finish(passage, passage.fail(str(error), trial.next_turn, error.fault))
            return _failed(request, str(error), is_begun=passage.is_begun)
        except (asyncio.CancelledError, ConnectionError):
            trial.finish(passage, passage.hang_up(trial.next_turn))
            raise
        except Exception as error:
            why = f"the gateway itself failed ({type(error).__name__})"
            trial.finish(passage, passage.fail(why, trial.next_turn))
            raise
        trial.finish(passage, passage.end(trial.next_turn))
        return response

    async def _carry(self, request: web.BaseRequest, passage: Passage) -> web.StreamResponse:
        """Send a request on, and its answer back, piece by piece; `passage` reads along."""
        from aiohttp import web

        headers = _forwarded(request.headers)
        asked = Asked(request.method, _target(request), headers, passage.body)
        async with self._upstream.send(asked) as answer:
            passage.begin(answer.status, answer.headers)
            response = web.StreamResponse(status=answer.status, headers=answer.headers)
            response.enable_chunked_encoding()
            await response.prepare(request)
            try:
                async for piece in answer.pieces():
                    at = time.perf_counter()
                    try:
                        await response.write(piece)
                    finally:  # the harness may hang up on it
                        passage.take(piece, at)
            finally:
                passage.put_in(answer.fault)
            return response

    async def _probe(self, request: web.BaseRequest) -> web.StreamResponse:
        """The model server's own answer to a question about itself."""
        with self._room.taken() as room:
            passage = Passage("chat", await _body(request, room) or b"", 0.0)
        try:
            return await self._carry(request, passage)
        except UpstreamFailedError as error:
            return _failed(request, str(error), is_begun=passage.is_begun)


def _server(handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> web.Server:
    """A web server with a bound to its connections.

    A program can open as many as it likes, and each costs this process a file descriptor.
    """
    from aiohttp import web

    class Bounded(web.Server):
        def connection_made(
            self, handler: web.RequestHandler, transport: asyncio.Transport
        ) -> None:
            super().connection_made(handler, transport)
            if len(self.connections) > MOST_CONNECTIONS:
                transport.abort()

    # It would unpack a body without end, also one that is refused already.
    return Bounded(handle, handler_cancellation=True, access_log=None, auto_decompress=False)


def _key(headers: Mapping[str, str]) -> str:
    """The key that a request names; empty where it names none."""
    scheme, _, key = headers.get("Authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else headers.get("X-Api-Key", "")


def _target(request: web.BaseRequest) -> str:
    """Path and query as they go upstream: the path that was looked at, however it was spelt."""
    query = request.rel_url.raw_query_string
    return f"{request.path}?{query}" if query else request.path


def _forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that go upstream, of those that are plain text."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _DROPPED and value.isascii()
    }


async def _body(request: web.BaseRequest, room: _Taken) -> bytes | None:
    """The body of a request; None when it is larger than there is room for."""
    body = bytearray()
    async for piece in request.content.iter_any():
        if not room.has_for(len(piece)):
            return None
        body += piece
    if request.headers.get("Content-Encoding", "").lower() in ("gzip", "deflate"):
        return _unpacked(bytes(body), room)
    return bytes(body)


def _unpacked(packed: bytes, room: _Taken) -> bytes | None:
    """A packed body as it was; None when that is larger than there is room for.

    What is not packed right stays as it is: it will be no JSON.
    """
    try:
        body = zlib.decompressobj(_ZLIB_OR_GZIP).decompress(packed, MOST_BODY_BYTES)
    except zlib.error:
        return packed
    return body if room.has_for(len(body)) else None


class _Room:
    """Memory for bodies: that of all requests under way together has a bound too."""

    def __init__(self) -> None:
        self.used = 0

    @contextmanager
    def taken(self) -> Iterator[_Taken]:
        """Room for one body, until the context is left."""
        taken = _Taken(self)
        try:
            yield taken
        finally:
            self.used -= taken.size


class _Taken:
    """What one body takes."""

    def __init__(self, room: _Room) -> None:
        self.size = 0
        self._room = room

    def has_for(self, size: int) -> bool:
        """Whether there is room for so many bytes more, which are taken then."""
        self.size += size
        self._room.used += size
        return self.size <= MOST_BODY_BYTES and self._room.used <= MOST_BODIES_BYTES


def _error(status: int, message: str, code: str) -> web.Response:
    """An error in the words of the OpenAI API, which a harness shows and does not try again."""
    from aiohttp import web

    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return web.Response(
        status=status,
        body=json.dumps({"error": error}).encode(),
        content_type="application/json",
        headers={"x-should-retry": "false"},
    )


def _unknown_key() -> web.Response:
    return _error(401, "The key belongs to no open trial.", "invalid_api_key")


def _nothing_here() -> web.Response:
    return _error(404, "There is nothing here.", "not_found")


def _failed(request: web.BaseRequest, why: str, *, is_begun: bool) -> web.Response:
    """What a proxy says where there is no answer, and what is worth a retry.

    An answer that has begun ends with its connection, as that of the model server did.
    """
    from aiohttp import web

    if is_begun and request.transport is not None:
        request.transport.close()
    error = {"message": f"No answer: {why}.", "type": "server_error", "code": "bad_gateway"}
    return web.Response(
        status=502, body=json.dumps({"error": error}).encode(), content_type="application/json"
    )
