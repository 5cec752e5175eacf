"""Tests of programs that serve HTTP inside a place of either kind."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench_loop.contracts.place import Command, Place, Service
from bench_loop.errors import HarnessError, SandboxError
from bench_loop.programs.place import free_port
from tests.programs.places import KINDS, a_place, is_running, shell

pytestmark = [pytest.mark.real, pytest.mark.parametrize("kind", KINDS)]

WORD = f"741.{os.getpid()}"

SOURCE = """
import os, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.do_GET(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self, body=b"hello"):
        if self.path == "/exit":
            print("fatal: told to exit", file=sys.stderr, flush=True)
            os._exit(4)
        if self.path == "/gone":
            open("gone", "w").write("" if os.path.exists("hung-up") else "not yet")
        self.send_response(404 if self.path == "/missing" else 200)
        if self.path in ("/lines", "/silent", "/flood"):
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                for number in range(3):
                    self.say(b"line %d\\r\\n" % number)
                    time.sleep(0.2)
                if self.path == "/silent":
                    time.sleep(60)
                while self.path == "/flood":
                    self.say(b"line\\n" * 10000)
            except OSError:
                open("hung-up", "w").close()
            self.close_connection = True
            return
        body += (self.headers.get("Authorization") or "").encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say(self, line):
        self.wfile.write(line)
        self.wfile.flush()

    def log_message(self, *_):
        pass

time.sleep(float(sys.argv[2]))
subprocess.Popen(["setsid", "sleep", sys.argv[3]])
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""


@contextmanager
def a_service(
    kind: str, tmp_path: Path, *, start_s: float = 0, wall_s: float = 60
) -> Iterator[tuple[Service, Place]]:
    port = free_port()
    command = Command(("python", "-c", SOURCE, str(port), str(start_s), WORD), wall_s)
    with a_place(kind, tmp_path / "program") as place, place.serve(command, port) as service:
        yield service, place


def test_a_request_waits_until_the_service_listens(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path, start_s=0.7) as (service, _):
        assert service.request("GET", "/") == (200, b"hello")


def test_body_and_headers_arrive(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path) as (service, _):
        answer = service.request("POST", "/", body={"a": 1}, headers={"Authorization": "key"})
    assert answer == (200, b'{"a": 1}key')


def test_a_status_that_tells_of_an_error_is_an_answer(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path) as (service, _):
        assert service.request("GET", "/missing")[0] == 404


def test_lines_come_as_they_are_written(kind: str, tmp_path: Path) -> None:
    with (
        a_service(kind, tmp_path) as (service, _),
        service.lines("POST", "/lines", body={}, headers={}, wall_s=10) as lines,
    ):
        came = [(line, time.monotonic()) for line in lines]
    assert [line for line, _ in came] == [b"line 0", b"line 1", b"line 2"]
    assert came[2][1] - came[0][1] > 0.3


def test_leaving_the_lines_hangs_up(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path) as (service, place):
        with service.lines("POST", "/flood", body={}, headers={}, wall_s=10) as lines:
            assert next(lines) == b"line 0"
        assert _is_soon_there(place.workspace.here / "hung-up")


def test_lines_that_stop_coming_are_given_up_in_time(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path) as (service, _):
        began = time.monotonic()
        with (
            pytest.raises(HarnessError, match="in time"),
            service.lines("POST", "/silent", body={}, headers={}, wall_s=1.5) as lines,
        ):
            list(lines)
        assert 1.4 < time.monotonic() - began < 2.5


def test_lines_of_a_refused_request_are_an_error(kind: str, tmp_path: Path) -> None:
    with (
        a_service(kind, tmp_path) as (service, _),
        pytest.raises(HarnessError, match='404 "nothing"'),
        service.lines("POST", "/missing", body="nothing", headers={}, wall_s=10),
    ):
        pass


def test_a_service_that_never_listens_is_given_up_in_time(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path, start_s=60) as (service, _):
        began = time.monotonic()
        with pytest.raises(HarnessError, match="did not answer /health"):
            service.request("GET", "/health", wall_s=1)
        assert 0.9 < time.monotonic() - began < 2


def test_a_service_that_has_ended_is_told_with_its_last_words(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path) as (service, _):
        with pytest.raises(HarnessError, match="fatal: told to exit"):
            service.request("GET", "/exit")
        ended = service.stop()
    assert (ended.exit_status, ended.leftovers) == (4, 1)


def test_nothing_is_left_of_a_service(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path) as (service, _):
        service.request("GET", "/")
        assert is_running(WORD)
        ended = service.stop()
        assert service.stop() == ended
    assert not is_running(WORD)
    assert (ended.exit_status, ended.is_timed_out, ended.leftovers) == (None, False, 1)


def test_the_deadline_of_a_service_holds(kind: str, tmp_path: Path) -> None:
    with a_service(kind, tmp_path, wall_s=1.5) as (service, _):
        service.request("GET", "/")
        time.sleep(2)
        assert not is_running(WORD)
        with pytest.raises(HarnessError, match="ended before it answered"):
            service.request("GET", "/")
        ended = service.stop()
    assert (ended.exit_status, ended.is_timed_out) == (None, True)


def test_a_service_can_be_followed_by_another(kind: str, tmp_path: Path) -> None:
    port = free_port()
    command = Command(("python", "-c", SOURCE, str(port), "0", WORD), 60)
    with a_place(kind, tmp_path / "program") as place:
        for _ in range(2):
            with place.serve(command, port) as service:
                assert service.request("GET", "/")[0] == 200
            assert shell(place, "echo between").stdout == b"between\n"


def _is_soon_there(file: Path, within_s: float = 5) -> bool:
    end = time.monotonic() + within_s
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return file.exists()


def test_a_port_of_this_machine_that_is_taken_is_no_service(kind: str, tmp_path: Path) -> None:
    """In a cage it is another port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        command = Command(("python", "-c", SOURCE, str(port), "0", WORD), 60)
        with a_place(kind, tmp_path / "program") as place:
            if kind == "bubblewrap":
                with place.serve(command, port) as service:
                    assert service.request("GET", "/") == (200, b"hello")
            else:
                with pytest.raises(SandboxError, match=str(port)), place.serve(command, port):
                    pass
