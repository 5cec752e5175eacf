"""A program that serves HTTP in its place, asked from outside."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bench_loop.contracts.place import Ended
from bench_loop.errors import HarnessError
from bench_loop.programs._running import Running

if TYPE_CHECKING:
    import httpx

ANSWER_BYTES = 32 * 2**20
"""Most that is read of one answer, and of all the lines of a streamed one."""

LINE_BYTES = 8 * 2**20
TRY_AGAIN_S = 0.05
NEWS_S = 0.3
"""Its connections may be known to have ended a moment before it is known to have ended itself."""


class HttpService:
    """A service behind a loopback port, or a socket that leads to one. Follows Service.

    Until it listens, a request waits for it.
    """

    def __init__(self, running: Running, port: int, unix_socket: str | None = None) -> None:
        """`unix_socket` is the path of a socket that leads to the port; None: none is needed."""
        import httpx

        self._running = running
        transport = httpx.HTTPTransport(uds=unix_socket, trust_env=False)
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", transport=transport, trust_env=False
        )

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        wall_s: float = 10.0,
    ) -> tuple[int, bytes]:
        """Status and body. Raises HarnessError when the service does not answer in time."""
        end = time.monotonic() + wall_s
        with self._answer(method, path, body, headers or {}, end) as answer:
            return answer.status_code, b"".join(_pieces(answer, end))

    @contextlib.contextmanager
    def lines(
        self, method: str, path: str, *, body: Any, headers: Mapping[str, str], wall_s: float
    ) -> Iterator[Iterator[bytes]]:
        """The lines of a streamed answer, as they come; leaving the context hangs up."""
        end = time.monotonic() + wall_s
        with self._answer(method, path, body, headers, end) as answer:
            if answer.status_code >= 400:
                said = b"".join(_pieces(answer, end))[:500].decode(errors="replace")
                raise HarnessError(f"The service refused {path}: {answer.status_code} {said}")
            yield _lines(_pieces(answer, end))

    def stop(self) -> Ended:
        """End it, and all that it started. Twice is no harm."""
        self._client.close()
        return self._running.stop()

    @contextlib.contextmanager
    def _answer(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], end: float
    ) -> Iterator[httpx.Response]:
        """The answer with its body yet to be read; every failure is told as HarnessError."""
        import httpx

        try:
            answer = self._send(method, path, body, headers, end)
            alarm = threading.Timer(max(0.0, end - time.monotonic()), _hang_up, [answer])
            alarm.daemon = True
            alarm.start()
            try:
                yield answer
            finally:
                alarm.cancel()
                answer.close()
        except httpx.HTTPError as error:
            raise self._failure(path, error) from error

    def _send(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], end: float
    ) -> httpx.Response:
        import httpx

        while not self._running.is_over():
            left_s = max(0.01, end - time.monotonic())
            request = self._client.build_request(
                method,
                path,
                content=None if body is None else json.dumps(body).encode(),
                headers={
                    "Content-Type": "application/json",
                    "Accept-Encoding": "identity",
                    **headers,
                },
                timeout=left_s,
            )
            try:
                return self._client.send(request, stream=True)
            except httpx.ConnectError:
                if time.monotonic() > end:
                    raise
            time.sleep(TRY_AGAIN_S)
        raise self._has_ended(path)

    def _has_ended(self, path: str) -> HarnessError:
        words = self._running.last_words()
        return HarnessError(f"The service ended before it answered {path}: {words}")

    def _failure(self, path: str, error: Exception) -> HarnessError:
        if self._running.is_over(within_s=NEWS_S):
            return self._has_ended(path)
        reason = str(error) or type(error).__name__
        return HarnessError(f"The service did not answer {path}: {reason}")


def _pieces(answer: httpx.Response, end: float) -> Iterator[bytes]:
    """The body as it comes. Raises HarnessError when the time is up, or there is too much."""
    size = 0
    for piece in answer.iter_raw():
        size += len(piece)
        if size > ANSWER_BYTES:
            raise HarnessError(f"The service answered more than {ANSWER_BYTES} bytes.")
        yield piece
    if time.monotonic() >= end:
        raise HarnessError("The service did not end its answer in time.")


def _hang_up(answer: httpx.Response) -> None:
    """End the connection under whoever reads from it."""
    stream = answer.extensions.get("network_stream")
    with contextlib.suppress(OSError, AttributeError):
        stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Without their ends; the last one may lack it."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")
        if len(rest) > LINE_BYTES:
            raise HarnessError(f"The service wrote a line of more than {LINE_BYTES} bytes.")
    if rest:
        yield rest
