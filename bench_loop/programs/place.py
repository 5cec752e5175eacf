"""Opens a place for the program of a harness: its folders, its network, its end."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench_loop.contracts.place import Place, PlaceKind
from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.errors import SandboxError
from bench_loop.programs import leftovers
from bench_loop.programs._staged import Host
from bench_loop.programs.caged import Caged
from bench_loop.programs.direct import Direct
from bench_loop.programs.workspace import remove
from bench_loop.registry import pick
from bench_loop.sandboxes import _control_group
from bench_loop.sandboxes._marker import is_overdue, marker

KINDS: tuple[PlaceKind, ...] = ("bubblewrap", "direct")

PORTS = range(20_000, 32_000)
PORT_TRIES = 100
LIFE_S = 7 * 86400.0
"""The folders of a place that was never closed are removed after that time."""


def usual_limits() -> SandboxLimits:
    """What a harness with its model's commands may use: the largest was measured at 1.5 GB."""
    return SandboxLimits(
        memory_mb=4096,
        pids=512,
        cpus=os.cpu_count() or 1,
        wall_s=3600,
        disk_mb=1024,
        output_kb=8192,
    )


@contextmanager
def open_place(
    kind: str,
    *,
    program: Path,
    gateway_port: int,
    gateway_socket: Path,
    executable: Path | None = None,
    extra_readable: Sequence[Path] = (),
    path: Sequence[Path] = (),
    limits: SandboxLimits | None = None,
) -> Iterator[Place]:
    """A place for the installation in the folder `program`; its folders go with the context.

    `executable`, in that folder, is what the word `program` of a command stands for.
    `extra_readable` are folders that it needs beside it, each at its own path, and `path` such as
    come first in PATH. Give it new files (`workspace.renew`) before each trial.

    Raises UsageError for an unknown kind, SandboxError where this machine has no such place.
    """
    pick("place", kind, KINDS)
    if sys.platform == "win32":
        raise SandboxError("Harness programs are not run on Windows.", remedy="Use WSL 2.")
    _control_group.sweep()
    leftovers.sweep_overdue()
    _sweep_folders()
    root = Path(tempfile.gettempdir()).resolve() / marker(LIFE_S)
    host = Host(
        root=root,
        program=program.absolute(),
        executable=executable and executable.absolute(),
        readable=tuple(extra_readable),
        path=tuple(path),
        gateway_port=gateway_port,
        gateway_socket=gateway_socket.absolute(),
        limits=limits or usual_limits(),
    )
    root.mkdir(mode=0o700)
    place: Caged | Direct | None = None
    try:
        place = Caged(host) if kind == "bubblewrap" else Direct(host)
        yield place
    finally:
        if place:
            place.close()
        remove(root)


def free_port() -> int:
    """A loopback port for a service, free a moment ago.

    It is below those that systems give out by themselves, so that nobody gets it meanwhile by
    chance. Raises SandboxError when none is found.
    """
    for _ in range(PORT_TRIES):
        port = PORTS.start + secrets.randbelow(len(PORTS))
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise SandboxError(
        "No port of this machine is free.", remedy="End servers that you can do without."
    )


def _sweep_folders() -> None:
    for folder in Path(tempfile.gettempdir()).iterdir():
        if is_overdue(folder.name):
            remove(folder)
