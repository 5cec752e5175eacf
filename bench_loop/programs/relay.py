"""What starts the program of a harness inside its place, and bridges the place's two ways out.

It is run by the place's interpreter from its source, so it needs the standard library only, and it
is not trusted: the deadline and the end of every process are kept from outside. Standard input is
its lifeline: a request in JSON on the first line, then `stop` (SIGTERM to the program) or `kill`;
when it ends, everything below ends. It reports on the descriptor `report` of the request, a JSON
object a line: `{"started": true}` or `{"error": why}`, and then `{"status": n}`, negative for a
signal.

    gateway   {port, socket}    what is said to this loopback port goes to the gateway's socket
    service   {port, listener}  what comes to this listening socket goes to this loopback port
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing would cost every program milliseconds
    from collections.abc import Callable
    from typing import Any

    Request = dict[str, Any]

PIECE = 65536
LOOPBACK = "127.0.0.1"
TRY_AGAIN_S = 0.02
SERVICE_S = 600.0
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


def main() -> None:
    """Serve one request and die with the lifeline."""
    request = json.loads(_first_line())
    report = os.fdopen(request["report"], "w", buffering=1)
    os.set_inheritable(report.fileno(), False)
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        _prctl(PR_SET_DUMPABLE, 0)  # the program can't look into this process
    wake, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    try:
        _limit(request["rlimits"])
        bridges = _listen(request)
        program = _start(request)
    except (OSError, ValueError) as error:
        report.write(json.dumps({"error": str(error)}) + "\n")
        return
    for bridge in bridges:
        threading.Thread(target=bridge, daemon=True).start()
    report.write('{"started": true}\n')
    _watch(program, wake, lambda status: report.write(json.dumps({"status": status}) + "\n"))
    _end_all()


def _start(request: Request) -> subprocess.Popen[bytes]:
    """The program, which leads a session of its own. Kept, or Popen would collect its status."""
    return subprocess.Popen(
        request["argv"],
        stdin=subprocess.DEVNULL,
        env=request["env"],
        cwd=request["folder"],
        start_new_session=True,
    )


def _watch(program: subprocess.Popen[bytes], wake: int, tell: Callable[[int], object]) -> None:
    """Pass signals on and tell the program's end; returns when the lifeline has ended."""
    is_over = False
    with selectors.DefaultSelector() as ready:
        ready.register(0, selectors.EVENT_READ)
        ready.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                heard = os.read(key.fd, PIECE)
                if key.fd == 0 and not heard:
                    return
                if not is_over:
                    for number in _wanted_signals(key.fd, heard):
                        os.kill(program.pid, number)
            status = _reap(program.pid)
            if status is not None:
                is_over = True
                program.returncode = status
                tell(status)


def _wanted_signals(descriptor: int, heard: bytes) -> list[int]:
    """What the program is to be sent: as the lifeline says, or as this process got it."""
    if descriptor == 0:
        words = {b"stop": signal.SIGTERM, b"kill": signal.SIGKILL}
        return [words[word] for word in heard.split() if word in words]
    return [number for number in heard if number != signal.SIGCHLD]


def _reap(program: int) -> int | None:
    """Collect the dead, also adopted ones; the exit status of `program` if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, code = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                status = os.waitstatus_to_exitcode(code)
    return status


def _end_all() -> None:
    """SIGKILL to all children; what they leave becomes children of this process (on Linux)."""
    with contextlib.suppress(ChildProcessError):
        while os.getpid() != 1:  # with process 1 a namespace ends by itself
            for file in Path("/proc/self/task").glob("*/children"):
                for pid in file.read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            os.waitpid(-1, 0)


# --- The two ways out -----------------------------------------------------------------------------


def _listen(request: Request) -> list[Callable[[], None]]:
    """The bridges, listening already; each accepts when it is called."""
    bridges: list[Callable[[], None]] = []
    if gateway := request.get("gateway"):
        inside = socket.create_server((LOOPBACK, gateway["port"]), backlog=64)
        path = gateway["socket"]
        bridges.append(lambda: _bridge(inside, lambda near: _connect_unix(path)))
    if service := request.get("service"):
        outside = socket.socket(fileno=service["listener"])
        outside.set_inheritable(False)
        port = service["port"]
        bridges.append(lambda: _bridge(outside, lambda near: _connect_service(port, near)))
    return bridges


def _bridge(listener: socket.socket, connect: Callable[[socket.socket], socket.socket]) -> None:
    while True:
        near, _ = listener.accept()
        try:
            threading.Thread(target=_join, args=(near, connect), daemon=True).start()
        except RuntimeError:  # no more threads are to be had
            near.close()


def _join(near: socket.socket, connect: Callable[[socket.socket], socket.socket]) -> None:
    """Carry bytes both ways until both sides have ended."""
    with near:
        try:
            far = connect(near)
        except OSError:
            return
        with far:
            for end in (near, far):
                if end.family == socket.AF_INET:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=_carry, args=(far, near), daemon=True)
            try:
                back.start()
            except RuntimeError:  # no more threads are to be had
                return
            _carry(near, far)
            back.join()


def _carry(source: socket.socket, target: socket.socket) -> None:
    """Until `source` has said all; what `target` does not take any more ends both."""
    try:
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _connect_unix(path: str) -> socket.socket:
    far = socket.socket(socket.AF_UNIX)
    far.connect(path)
    return far


def _connect_service(port: int, near: socket.socket) -> socket.socket:
    """Try until the service listens, or nobody waits for it any more."""
    end = time.monotonic() + SERVICE_S
    while True:
        try:
            return socket.create_connection((LOOPBACK, port))
        except ConnectionRefusedError:
            if time.monotonic() > end or _has_hung_up(near):
                raise
        time.sleep(TRY_AGAIN_S)


def _has_hung_up(near: socket.socket) -> bool:
    poll = select.poll()
    poll.register(near, getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))


# --- The process itself ---------------------------------------------------------------------------


def _first_line() -> bytes:
    """The first line of standard input; nothing follows it before the program has been started."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, PIECE)
        if not piece:
            raise EOFError("there was no request")
        line += piece
    return bytes(line)


def _limit(limits: dict[str, int]) -> None:
    """Set resource limits, by their names without RLIMIT_; the program inherits them."""
    import resource

    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


if __name__ == "__main__":
    main()
