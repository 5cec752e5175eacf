"""A real HTTP server on loopback whose answers a test writes down, down to bytes and pauses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

FOREVER = 3600.0
"""A pause that outlasts every test; closing the server ends it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a body, sent after a pause."""

    data: bytes
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. A body of pieces is sent in chunks; with `is_cut` the end never comes."""

    body: bytes | Iterable[Piece] = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked; `json` is None where the body is no JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(json.dumps(value).encode(), status=status, headers=names)


def stream_reply(content_type: str, lines: Iterable[str], pause_s: float = 0.0) -> Reply:
    """A stream of lines, one network chunk each, every one after a pause."""
    return Reply(_pieces(lines, pause_s), content_type=content_type)


def endless(data: bytes, pause_s: float = 0.001) -> Iterator[Piece]:
    while True:
        yield Piece(data, pause_s)


def _pieces(lines: Iterable[str], pause_s: float) -> Iterator[Piece]:
    for line in lines:
        yield Piece(line.encode() + b"\n", pause_s)


class FakeServer:
    """Serves `answer` on a free loopback port while used as a context manager.

    All requests are kept in `requests`, in the order in which they came.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self._http = _HTTPServer(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, request: Request) -> Reply:
        """What to answer; a subclass decides."""
        return json_reply({"error": f"nothing at {request.path}"}, status=404)

    def asked(self, path: str) -> list[Any]:
        """The JSON bodies of all requests to `path`."""
        return [request.json for request in self.requests if request.path == path]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._thread.join()
        self.close()

    def close(self) -> None:
        """Give the port back; of a server that was never started, all that there is to do."""
        self._http.server_close()


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    fake: FakeServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HTTPServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, *_: object) -> None:
        """Tests read `requests` instead."""

    def _serve(self) -> None:
        fake = self.server.fake
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, dict(self.headers), body)
        fake.requests.append(request)
        reply = fake.answer(request)
        self.close_connection = True
        try:
            if not fake.stopped.wait(reply.pause_s):
                self._send(reply)
        except OSError:
            pass  # the client went away

    def _send(self, reply: Reply) -> None:
        if reply.status == 0:
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if isinstance(reply.body, bytes):
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        else:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self._send_pieces(reply.body, reply.is_cut)

    def _send_pieces(self, pieces: Iterable[Piece], is_cut: bool) -> None:
        for piece in pieces:
            if self.server.fake.stopped.wait(piece.pause_s):
                return
            if piece.data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece.data), piece.data))
        if not is_cut:
            self.wfile.write(b"0\r\n\r\n")
