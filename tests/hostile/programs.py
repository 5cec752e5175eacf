"""The hostile programs: `python programs.py NAME WORLD`, run inside a sandbox.

Each function is one program; its docstring is its title. All are bounded, so that one that is not
contained costs little. `world` is JSON: what lies outside, and where.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

World = dict[str, Any]
MB = 1024 * 1024
SECRET = re.compile(rb"BENCHLOOP-SECRET-[0-9a-f]{16}")
CLONE_NEWUSER, PTRACE_ATTACH, PTRACE_DETACH = 0x10000000, 16, 17


def fork_bomb(world: World) -> None:
    """fork bomb (400)"""
    count = 0
    with contextlib.suppress(OSError):
        while count < 400:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            count += 1
    print(json.dumps({"processes": count + 1}))


def memory_bomb(world: World) -> None:
    """memory bomb, one process"""
    take_memory(1200)
    print("survived")


def memory_bombs(world: World) -> None:
    """memory bomb, six processes"""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    for _ in range(6):
        if os.fork() == 0:
            held = take_memory(200)
            os.write(writer, b".")
            time.sleep(30)
            os._exit(len(held) == 0)
    holding = b""
    while len(holding) < 6 and os.waitpid(-1, os.WNOHANG)[0] == 0:
        time.sleep(0.05)
        with contextlib.suppress(BlockingIOError):
            holding += os.read(reader, 6)
    if len(holding) == 6:
        print("survived")


def many_files(world: World) -> None:
    """fill the disk with many files"""
    for folder in (".", "/tmp", "/var/tmp", "/dev/shm", "/dev", os.environ["HOME"]):
        written = 0
        with contextlib.suppress(OSError):
            while written < 128:
                Path(folder, f"{world['marker']}-{written}").write_bytes(bytes(MB))
                written += 1
        print(json.dumps({"folder": folder, "mb": written}), flush=True)


def huge_file(world: World) -> None:
    """huge sparse file as result"""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Path("result.json").open("wb") as file:
        file.truncate(1 << 40)


def endless_output(world: World) -> None:
    """endless output"""
    while True:
        os.write(1, b"x" * 65536)


def read_secrets(world: World) -> None:
    """read a private key and the shadow file"""
    for path in (world["key"], "/etc/shadow", "/etc/gshadow"):
        with contextlib.suppress(OSError):
            print(path, Path(path).read_text())


def connect(world: World) -> None:
    """connect to loopback, the host's address, UDP, an abstract socket"""
    for host, port in world["tcp"]:
        with contextlib.suppress(OSError):
            socket.create_connection((host, port), timeout=1).sendall(b"hit")
    with contextlib.suppress(OSError):
        socket.socket(type=socket.SOCK_DGRAM).sendto(b"hit", tuple(world["udp"]))
    with contextlib.suppress(OSError):
        socket.socket(socket.AF_UNIX).connect("\0" + world["abstract"])


def kill_harness(world: World) -> None:
    """kill the parent and the harness"""
    for pid in (world["harness"], os.getppid()):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            with contextlib.suppress(OSError):
                if pid > 1:
                    os.kill(pid, number)


def link_as_result(world: World) -> None:
    """result file is a link to the key"""
    Path("result.json").symlink_to(world["key"])
    with contextlib.suppress(OSError):
        Path("hard.json").hardlink_to(world["key"])
    Path("folder").symlink_to(Path(world["key"]).parent)


def write_outside(world: World) -> None:
    """write outside, into a shell's start-up file"""
    for path in (world["startup"], *(f"{folder}/{world['marker']}" for folder in world["folders"])):
        with contextlib.suppress(OSError), Path(path).open("a") as file:
            file.write("echo owned\n")


def read_memory(world: World) -> None:
    """ptrace, and read the harness's memory"""
    libc = ctypes.CDLL(None)
    for pid in (world["harness"], os.getppid()):
        print(pid, libc.ptrace(PTRACE_ATTACH, pid, 0, 0))
        with contextlib.suppress(OSError):
            for found in secrets_in(pid):
                print(found.decode())
        libc.ptrace(PTRACE_DETACH, pid, 0, 0)


def read_environments(world: World) -> None:
    """environment of the parent and of every process"""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            print(*SECRET.findall(file.read_bytes()))


def daemon(world: World) -> None:
    """daemon by double fork and setsid"""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    os.wait()


def ignore_sigterm(world: World) -> None:
    """ignore SIGTERM, sleep for ever"""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)


def busy_loop(world: World) -> None:
    """busy loop"""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass


def inherited_descriptors(world: World) -> None:
    """inherited descriptors"""
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            os.lseek(descriptor, 0, os.SEEK_SET)
            print(descriptor, os.read(descriptor, 4096))


class Bomb:
    """What unpickles into writing a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return open, (self.path, "w")


def pickle_bomb(world: World) -> None:
    """pickle bomb as result file"""
    Path("result.json").write_bytes(pickle.dumps(Bomb(world["owned"])))


def fifo_as_result(world: World) -> None:
    """FIFO as result file"""
    os.mkfifo("result.json")


def gain_root(world: World) -> None:
    """gain root: setuid, su, mount, a nested user namespace"""
    libc = ctypes.CDLL(None)
    for name, attempt in {
        "setuid": lambda: os.setuid(0),
        "su": lambda: subprocess.run(["su", "-c", "true"], check=True, timeout=1, stdin=-3),
        "mount": lambda: succeed(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
        "user namespace": lambda: succeed(libc.unshare(CLONE_NEWUSER)),
    }.items():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            attempt()
            print(json.dumps({"gained": name}), flush=True)


def unix_socket(world: World) -> None:
    """connect to a world-open Unix socket file"""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with contextlib.suppress(OSError):
            socket.socket(socket.AF_UNIX, kind).connect(world["unix"])


# --- Parts ----------------------------------------------------------------------------------------


def take_memory(megabytes: int) -> mmap.mmap:
    """That much memory, every page of it written to."""
    held = mmap.mmap(-1, megabytes * MB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, len(held), 4096):
        held[at] = 1
    return held


def secrets_in(pid: int) -> Iterator[bytes]:
    """Secrets in the writable memory of a process."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights = line.split()[:2]
            low, high = (int(part, 16) for part in span.split("-"))
            if rights.startswith("rw") and high - low < 256 * MB:
                with contextlib.suppress(OSError):
                    memory.seek(low)
                    yield from SECRET.findall(memory.read(high - low))


def succeed(result: int) -> None:
    if result != 0:
        raise OSError(result)


PROGRAMS = {
    program.__name__: program
    for program in (
        *(fork_bomb, memory_bomb, memory_bombs, many_files, huge_file, endless_output),
        *(read_secrets, connect, kill_harness, link_as_result, write_outside, read_memory),
        *(read_environments, daemon, ignore_sigterm, busy_loop, inherited_descriptors),
        *(pickle_bomb, fifo_as_result, gain_root, unix_socket),
    )
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](json.loads(sys.argv[2]))
