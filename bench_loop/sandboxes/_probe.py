"""The program with which a sandbox is tested: it tries what must fail and says what came of it.

It runs inside, so it needs the standard library only. Argument: JSON, as `selftest.py` makes it.
Every answer is a line of JSON `[name, value]`, since the next attempt may be the last.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MB = 1024 * 1024
CHILDREN = 6
PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS = 21, 23, 39
CAPABILITY_VERSION_3 = 0x20080522


def main() -> None:
    """Answer the questions that the argument asks."""
    asked = json.loads(sys.argv[1])
    if asked["about"] == "memory":
        answer("memory_mb", memory_held_together(asked["memory_mb"]))
        return
    answer("uid", os.getuid())
    answer("rights", rights())
    answer("interfaces", interfaces())
    answer("connected", [address for address in asked["addresses"] if can_connect(*address)])
    answer("read", [path for path in asked["secrets"] if can_read(path)])
    answer("wrote", [folder for folder in asked["folders"] if can_write(folder)])
    answer("environment", sorted(set(environment())))
    leave_daemon(asked["marker"])
    answer("processes", processes(asked["pids"]))
    answer("disk_mb", disk_taken(asked["disk_mb"]))


def answer(name: str, value: Any) -> None:
    print(json.dumps([name, value]), flush=True)


def rights() -> dict[str, int]:
    """What the kernel says of this process; empty where there is no Linux."""
    if sys.platform != "linux":
        return {}
    libc = ctypes.CDLL(None)
    bounding = [n for n in range(64) if libc.prctl(PR_CAPBSET_READ, n, 0, 0, 0) == 1]
    header, held = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, held)
    return {
        "capabilities": len(bounding) + sum(map(bool, held)),
        "no_new_privs": libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
        "seccomp": libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0),
    }


def interfaces() -> list[str]:
    """Network interfaces, as far as they can be seen."""
    try:
        return [name for _, name in socket.if_nameindex()]
    except OSError:
        return []


def can_connect(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def can_read(path: str) -> bool:
    try:
        Path(path).read_bytes()
    except OSError:
        return False
    return True


def can_write(folder: str) -> bool:
    file = Path(folder, "bench-loop-was-here")
    try:
        file.write_bytes(b"")
        file.unlink()
    except OSError:
        return False
    return True


def environment() -> Iterator[str]:
    """`NAME=value` of this process and of every other one that lets itself be read."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            yield from filter(None, file.read_bytes().decode(errors="replace").split("\0"))
    yield from (f"{name}={value}" for name, value in os.environ.items())


def leave_daemon(marker: str) -> None:
    """A process that has left its parent and its session."""
    if os.fork() == 0:
        with contextlib.suppress(OSError):
            sleeper = "import time; time.sleep(60)"
            subprocess.Popen([sys.executable, "-I", "-c", sleeper, marker], start_new_session=True)
        os._exit(0)
    os.wait()


def processes(limit: int) -> int:
    """Processes, this one included, that can live at a time; a few over `limit` at most."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        while len(children) < limit + 16:
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return 1 + len(children)


def disk_taken(limit_mb: int) -> int:
    """Megabytes that the work folder takes, in files of a megabyte; a few over it at most."""
    written = 0
    with contextlib.suppress(OSError):
        while written < limit_mb + 8:
            Path(f"fill-{written}").write_bytes(bytes(MB))
            written += 1
    return written


def memory_held_together(limit_mb: int) -> int:
    """Megabytes that several processes hold at a time; twice `limit_mb` at most."""
    each = limit_mb // 3
    reader, writer = os.pipe()
    children = []
    for _ in range(CHILDREN):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(MemoryError):
                held = bytearray(each * MB)
                for at in range(0, len(held), 4096):
                    held[at] = 1
                os.write(writer, b".")
                time.sleep(60)
            os._exit(0)
        children.append(child)
    os.close(writer)
    holding = 0
    ended = 0
    os.set_blocking(reader, False)
    while holding + ended < CHILDREN:
        with contextlib.suppress(BlockingIOError):
            holding += len(os.read(reader, CHILDREN))
        if os.waitpid(-1, os.WNOHANG)[0]:
            ended += 1
        time.sleep(0.01)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return (holding - ended) * each


if __name__ == "__main__":
    main()
