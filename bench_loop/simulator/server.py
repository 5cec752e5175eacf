"""The HTTP side: one thread for each connection, events sent at their moments, a log of it all."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from bench_loop.simulator import ollama, openai
from bench_loop.simulator.answer import Asked, Step, steps, take_prompt
from bench_loop.simulator.exchange import Exchange
from bench_loop.simulator.pace import now, wait_until
from bench_loop.simulator.script import reply_of
from bench_loop.simulator.settings import Program, Settings


class Writer(Protocol):
    """Encodes one answer. Every method gives the bytes of what is sent next."""

    def step(self, step: Step) -> bytes: ...
    def error(self) -> bytes: ...
    def end(self) -> bytes: ...
    def whole(self) -> bytes: ...


class Dialect(Protocol):
    """What `openai.py` and `ollama.py` have in common."""

    CHAT: str
    CONTENT_TYPE: str

    def facts(
        self, settings: Settings, path: str, body: Any, loaded: dict[str, int]
    ) -> dict[str, Any] | list[Any] | None: ...
    def asked(self, body: dict[str, Any]) -> Asked: ...
    def writer(self, settings: Settings, exchange: Exchange) -> Writer: ...


class Server(ThreadingHTTPServer):
    """One simulated server on a free port of the loopback address."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, settings: Settings) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.settings = settings
        self.dialect: Dialect = ollama if settings.dialect == "ollama" else openai
        self.loaded: dict[str, int] = {}
        self.remembered: dict[str, str] = {}
        self.began_s: float | None = None
        self.entries: list[dict[str, Any]] = []
        """The log, where no file is named: every request from its arrival on, until `ended`."""
        self._chats = 0
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def begin(self, program: Program, asked: Asked, received_s: float) -> Exchange:
        """Take a request in: load the model if need be, and remember its prompt."""
        with self._lock:
            if self.began_s is None:
                self.began_s = received_s
            window = program.window if program.cuts_prompt else asked.window or program.window
            is_loaded = self.loaded.get(asked.model) == window
            self.loaded[asked.model] = window
            prompt = take_prompt(program, asked, self.remembered.get(asked.model, ""))
            self.remembered[asked.model] = asked.prompt
            number, self._chats = self._chats, self._chats + 1
        load_s = 0.0 if is_loaded else program.load_s
        return Exchange(program, asked, prompt, received_s, load_s, number)

    @contextmanager
    def logged(self, entry: dict[str, Any]) -> Iterator[None]:
        """The log holds `entry`, which is filled in until the block ends."""
        log = self.settings.log
        if log is None:
            self.entries.append(entry)
        try:
            yield
        finally:
            if log is not None:
                with self._lock, Path(log).open("a", encoding="utf-8") as out:
                    out.write(json.dumps(entry) + "\n")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server
    _received_s = 0.0
    _piece_bytes = 0
    _entry: dict[str, Any]

    def parse_request(self) -> bool:
        """Called with the first line of a request, before the rest is read and understood."""
        self._received_s = now()
        return super().parse_request()

    def do_GET(self) -> None:
        self._serve(b"{}")

    def do_POST(self) -> None:
        self._serve(self._body())

    def log_message(self, *_: object) -> None:
        """The log holds what was measured, and nothing else."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _serve(self, data: bytes) -> None:
        """Answer any request, and log it."""
        self._entry = {
            "method": self.command,
            "path": self.path,
            "body_bytes": len(data) if self.command == "POST" else 0,
            "received_s": self._received_s,
            "status": None,
            "ended": None,
        }
        with self.server.logged(self._entry):
            try:
                self._route(data)
            except OSError:
                self._entry["ended"] = "client gone"

    def _route(self, data: bytes) -> None:
        path = urlsplit(self.path).path
        # An Ollama speaks both.
        self._dialect: Dialect = openai if path.startswith("/v1/") else self.server.dialect
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._answer(400, _error("the body is no JSON object"))
        elif self.command != "POST" or path != self._dialect.CHAT:
            self._tell(path, body)
        elif not isinstance(body.get("messages"), list):
            self._answer(400, _error("'messages' is missing"))
        else:
            self._chat(body, self._received_s)

    def _tell(self, path: str, body: Any) -> None:
        server = self.server
        value = self._dialect.facts(server.settings, path, body, server.loaded)
        if value is None:
            self._answer(404, {"error": "nothing here"})
        else:
            self._answer(200, value)

    def _answer(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self._head(status, "application/json", ("Content-Length", str(len(data))))
        self.wfile.write(data)
        self._entry["ended"] = "done"

    def _head(self, status: int, content_type: str, *more: tuple[str, str]) -> None:
        self.close_connection = True
        self._entry["status"] = status
        self.send_response(status)
        for name, value in (("Content-Type", content_type), ("Connection", "close"), *more):
            self.send_header(name, value)
        self.end_headers()

    def _chat(self, body: dict[str, Any], received_s: float) -> None:
        server = self.server
        tools = [tool for tool in body.get("tools") or () if isinstance(tool, dict)]
        self._entry |= {
            "model": str(body.get("model")),
            "messages": len(body["messages"]),
            "tools": [str((tool.get("function") or tool).get("name")) for tool in tools],
        }
        name = server.settings.model(str(body.get("model")))
        if name is None:
            self._answer(404, {"error": f"model '{body.get('model')}' not found"})
            return
        if not body["messages"]:
            server.loaded.pop(name, None)
            self._answer(200, {"model": body["model"], "done": True, "done_reason": "unload"})
            return
        program = server.settings.models[name]
        if program.http_error is not None:
            self._answer(program.http_error, _trouble(program.http_error))
            return
        asked = replace(self._dialect.asked(body), model=name)
        if program.script:
            asked = _scripted(asked, program, body["messages"], tools)
        self._piece_bytes = program.piece_bytes
        exchange = server.begin(program, asked, received_s)
        try:
            exchange.ended = (self._stream if asked.is_streamed else self._whole)(exchange)
        finally:
            self._entry |= exchange.entry()

    def _stream(self, exchange: Exchange) -> str:
        """Send the answer; how it ended."""
        program, server = exchange.program, self.server
        writer = self._dialect.writer(server.settings, exchange)
        self._read_prompt(exchange)
        self._head(200, self._dialect.CONTENT_TYPE, ("Transfer-Encoding", "chunked"))
        for step in self._steps(exchange):
            if program.break_after is not None and exchange.generated >= program.break_after:
                return "broken"
            if program.error_after is not None and exchange.generated >= program.error_after:
                self._send(writer.error(), is_last=True)
                return "error"
            data = writer.step(step)
            wait_until(exchange.done_s + step.due_s)
            exchange.add(self._send(data), step)
        self._send(writer.end(), is_last=True)
        return "done"

    def _whole(self, exchange: Exchange) -> str:
        """Send the answer in one piece, once all of it is there."""
        self._read_prompt(exchange)
        for step in self._steps(exchange):
            wait_until(exchange.done_s + step.due_s)
            exchange.add(now(), step)
        data = self._dialect.writer(self.server.settings, exchange).whole()
        self._head(200, "application/json", ("Content-Length", str(len(data))))
        self.wfile.write(data)
        return "done"

    def _read_prompt(self, exchange: Exchange) -> None:
        program = exchange.program
        began_s = exchange.received_s + program.queue_s + exchange.load_s
        wait_until(began_s + _seconds(exchange.prompt.new, program.prefill_tps))
        exchange.prompt_done(began_s, now())

    def _steps(self, exchange: Exchange) -> Iterator[Step]:
        age_s = exchange.done_s - (self.server.began_s or exchange.done_s)
        return steps(exchange.program, exchange.asked, age_s)

    def _send(self, data: bytes, *, is_last: bool = False) -> float:
        """Send an event; the moment at which the last piece of it is handed to the network."""
        size = self._piece_bytes or len(data)
        moment_s = now()
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            chunk = b"%x\r\n%s\r\n" % (len(piece), piece)
            moment_s = now()
            self.wfile.write(chunk)
        if is_last:
            self.wfile.write(b"0\r\n\r\n")
        return moment_s


def _scripted(
    asked: Asked, program: Program, messages: Sequence[Any], tools: Sequence[dict[str, Any]]
) -> Asked:
    """A request with the script's answer to it; its prompt is all that the model would see."""
    known = [message for message in messages if isinstance(message, dict)]
    prompt = json.dumps([messages, tools], ensure_ascii=False)
    return replace(asked, prompt=prompt, reply=reply_of(program.script, known, tools))


def _error(message: str, kind: str = "invalid_request_error", code: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}


def _trouble(status: int) -> dict[str, Any]:
    """The error object of a server that answers every chat with this status."""
    if status == 400:
        return _error("the prompt exceeds the context window", code="context_length_exceeded")
    return _error("simulated trouble", "server_error", status)


def _seconds(tokens: int, tps: float) -> float:
    return tokens / tps if tps else 0.0
