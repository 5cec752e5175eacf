"""Places of both kinds with a small gateway, and what is needed to look at them from outside."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench_loop.contracts.place import Command, Ended, Place
from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.programs.place import open_place
from bench_loop.programs.workspace import renew
from tests.components import need_bubblewrap

KINDS = ("bubblewrap", "direct")
PAUSE_S = 0.4


class _Answers(BaseHTTPRequestHandler):
    """`/` says hello; `/slow` says two words with a pause between; `/cut` stops in the middle.

    `/endless` goes on until it is hung up on.
    """

    def do_GET(self) -> None:
        self.send_response(200)
        if self.path == "/cut":
            self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"hello\n")
        if self.path == "/slow":
            self.wfile.flush()
            time.sleep(PAUSE_S)
            self.wfile.write(b"again\n")
        if self.path == "/endless":
            self._say_until_nobody_listens()

    def _say_until_nobody_listens(self) -> None:
        assert isinstance(self.server, (_Server, _UnixServer))
        try:
            while True:
                self.wfile.write(b"again\n")
                time.sleep(0.01)
        except OSError:
            self.server.hung_up.set()

    def log_message(self, *_: object) -> None:
        pass

    def address_string(self) -> str:
        return "test"


class _Server(ThreadingHTTPServer):
    hung_up: threading.Event


class _UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    hung_up: threading.Event


@dataclass(frozen=True, slots=True)
class SmallGateway:
    """Listens on a port and on a Unix socket, as the gateway does."""

    port: int
    socket: Path
    hung_up: threading.Event


@contextmanager
def small_gateway() -> Iterator[SmallGateway]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "gateway.sock")
        network, hung_up = _Server(("127.0.0.1", 0), _Answers), threading.Event()
        servers = (network, _UnixServer(str(file), _Answers))
        for server in servers:
            server.hung_up = hung_up
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield SmallGateway(network.server_address[1], file, hung_up)
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


@contextmanager
def a_place(
    kind: str,
    program: Path,
    *,
    executable: Path | None = None,
    limits: SandboxLimits | None = None,
    files: dict[str, str] | None = None,
    gateway: SmallGateway | None = None,
) -> Iterator[Place]:
    """A renewed place for the installation `program`, with a small gateway of its own or given."""
    if kind == "bubblewrap":
        need_bubblewrap()
    program.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        gateway = gateway or stack.enter_context(small_gateway())
        opened = open_place(
            kind,
            program=program,
            executable=executable,
            gateway_port=gateway.port,
            gateway_socket=gateway.socket,
            limits=limits,
        )
        place = stack.enter_context(opened)
        renew(place, files or {})
        yield place


def shell(place: Place, script: str, wall_s: float = 20) -> Ended:
    return place.run(Command(("sh", "-c", script), wall_s))


def python(place: Place, source: str, wall_s: float = 20) -> Ended:
    return place.run(Command(("python", "-c", source), wall_s))


def is_running(word: str) -> bool:
    """Whether a process of this machine has `word` among its arguments."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in file.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def is_soon_gone(word: str, within_s: float = 5) -> bool:
    end = time.monotonic() + within_s
    while is_running(word) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_running(word)


def can_connect(address: tuple[str, int]) -> bool:
    """Whether this process can: a test of a refusal must know that there was something."""
    with socket.create_connection(address, timeout=2):
        return True
