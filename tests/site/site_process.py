"""Drives a real `serve`: starts it, talks to it, and looks for what it leaves behind."""

from __future__ import annotations

import base64
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

ROOT = Path(__file__).resolve().parent.parent.parent
START_S = 60.0


class Site:
    """A running site: its address, its log-in link (None in the public role), its process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.url = self._line(r"Serving on (http://127\.0\.0\.1:\d+)$")
        self.enter: str | None = None

    def read_enter_link(self) -> str:
        self.enter = self._line(r".*(http://\S+/enter/\S+)$")
        return self.enter

    def descendants(self) -> list[psutil.Process]:
        """Every process that this one started, directly or not."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def socket(self, path: str, *, origin: str | None = None) -> EventSocket:
        return EventSocket(self.url, path, origin or self.url)

    def _line(self, pattern: str) -> str:
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            assert ready.select(START_S), "serve said nothing"
        line = self.process.stdout.readline().decode().strip()
        found = re.match(pattern, line)
        assert found, f"serve said {line!r}"
        return found[1]


@contextmanager
def running_site(home: Path, *arguments: str, **environment: str) -> Iterator[Site]:
    """`bench-loop serve` with this data folder; whatever it started is ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench_loop", "serve", "--no-open", *arguments],
        cwd=ROOT,
        env={**os.environ, "BENCHLOOP_HOME": str(home), **environment},
        stdout=subprocess.PIPE,
        bufsize=0,  # a line that waits in a buffer of ours would not be seen by the selector
    )
    children: list[psutil.Process] = []
    try:
        site = Site(process)
        children = site.descendants()
        yield site
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        for child in still_running(children, wait_s=5):
            child.kill()


def still_running(processes: list[psutil.Process], *, wait_s: float) -> list[psutil.Process]:
    """Those of `processes` that live on after `wait_s` seconds."""
    return psutil.wait_procs(processes, timeout=wait_s)[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class EventSocket:
    """A websocket client that only reads text frames of less than 64 KiB."""

    def __init__(self, url: str, path: str, origin: str) -> None:
        host = urlsplit(url).netloc
        name, port = host.split(":")
        self.connection = socket.create_connection((name, int(port)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Version: 13\r\nOrigin: {origin}\r\n\r\n".encode()
        )
        self.stream = self.connection.makefile("rb")
        self.status = int(self.stream.readline().split()[1])
        while self.stream.readline().strip():
            pass

    def message(self) -> dict[str, Any]:
        """The next event; pings are passed over."""
        while True:
            first, second = self.stream.read(2)
            length = second & 0x7F
            if length == 126:
                length = int.from_bytes(self.stream.read(2))
            payload = self.stream.read(length)
            if first & 0x0F == 1:
                event: dict[str, Any] = json.loads(payload)
                return event

    def is_closed(self) -> bool:
        """Whether the site ends the connection; waits for it, events passed over."""
        try:
            while self.stream.read(1):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            return False
        finally:
            self.close()
        return True

    def close(self) -> None:
        self.stream.close()
        self.connection.close()


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    """Until `condition()` is true; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
