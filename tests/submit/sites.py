"""A BenchLoop site in miniature: a real HTTP server on loopback that answers what it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def reply(status: int, document: Any, **headers: str) -> Reply:
    """A JSON answer; underscores in header names stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(document).encode(), named)


ACCEPTED = reply(
    201,
    {"id": "abcdefgh2345", "status": "pending", "level": "reported", "url": "/runs/abcdefgh2345/"},
)


@dataclass
class Request:
    """One upload as the site saw it."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Site:
    """Answers uploads with `replies` in turn, the last one again and again, and remembers them."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies) or [ACCEPTED]
        self.requests: list[Request] = []
        self.url = ""

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def running(site: Site) -> Iterator[Site]:
    """The site on a free port of 127.0.0.1, with its address in `site.url`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = site.answer(Request(self.path, dict(self.headers.items()), body))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            with suppress(OSError):  # the client may stop reading an endless answer
                self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@dataclass
class BrokenSite:
    """A server whose line breaks: `cuts` in turn, then it answers like a site."""

    cuts: list[str]
    """`reading`: gone after a part of the body. `silent`: after all of it. `answer`: amid that."""
    url: str = ""
    keys: list[str] = field(default_factory=list)
    """The idempotency key of every try whose head came through."""


@contextmanager
def breaking(*cuts: str) -> Iterator[BrokenSite]:
    """A BrokenSite on a free port of 127.0.0.1."""
    site = BrokenSite(list(cuts))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            site.keys.append(self.headers["Idempotency-Key"])
            cut = site.cuts.pop(0) if site.cuts else ""
            length = int(self.headers["Content-Length"])
            self.rfile.read(min(100, length) if cut == "reading" else length)
            if cut == "answer":
                self.wfile.write(b'HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{"id"')
            if not cut:
                self.send_response(ACCEPTED.status)
                self.send_header("Content-Length", str(len(ACCEPTED.body)))
                self.end_headers()
                self.wfile.write(ACCEPTED.body)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def dripping(begin: bytes, drop: bytes) -> Iterator[str]:
    """The address of a server that answers `begin` and then `drop` again and again, for ever."""
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with suppress(OSError):
                self.wfile.write(begin)
                while not is_over.wait(0.05):
                    self.wfile.write(drop)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            is_over.set()
            server.shutdown()
            thread.join()
