"""The self-test of a sandbox: settings can be accepted and ignored, so what counts is seen."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_loop.config import home
from bench_loop.contracts.sandbox import LimitsVerified, Program, Sandbox, SandboxRun
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import _probe
from bench_loop.sandboxes._marker import marker

WALL_S = 30.0
FOLDERS = ("/", "/etc", "/usr", "/var")
"""Where nothing may be written, beside the folders of the two secrets."""

SHARED_VARIABLES = {"HOME", "LANG", "LC_CTYPE", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "TMPDIR"}
"""Variables that may have the same value inside by chance."""

Answers = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What held, and a sentence for each thing that did not.

    `faults` are about the limits of `verified` and about what must hold besides.
    """

    verified: LimitsVerified
    faults: tuple[str, ...]


def examine(sandbox: Sandbox) -> SelfTest:
    """Try from inside what must fail, with the sandbox's real settings.

    Raises SandboxError where it can't even be started, or the probe gives no answer.
    """
    limits = sandbox.limits
    name = marker(WALL_S)
    with _secrets(name) as secrets, _listeners() as listeners:
        asked = {
            "about": "limits",
            "addresses": [listener.getsockname()[:2] for listener in listeners],
            "secrets": [str(file) for file in secrets],
            "folders": [*FOLDERS, *(str(file.parent) for file in secrets)],
            "marker": name,
            "pids": limits.pids,
            "disk_mb": limits.disk_mb,
        }
        run = _probe_run(sandbox, asked)
        seen = _answers(run)
        is_visited = any(map(_has_visitor, listeners))
        is_haunted = _is_running(name)
    memory_run = _probe_run(sandbox, {"about": "memory", "memory_mb": limits.memory_mb})
    held_mb = _answers(memory_run).get("memory_mb", 0)
    if "environment" not in seen:
        raise SandboxError(f"The self-test gave no answer: {_last_words(run)}")
    verified = LimitsVerified(
        memory_total=held_mb <= limits.memory_mb and memory_run.limit != "wall",
        pids=seen.get("processes", limits.pids + 1) <= limits.pids,
        disk=seen["disk_mb"] <= limits.disk_mb if "disk_mb" in seen else run.is_out_of_memory,
        network=not (seen["connected"] or is_visited or set(seen["interfaces"]) - {"lo"}),
        fs_read=not seen["read"],
        fs_write=not seen["wrote"],
    )
    faults = [fault for name, fault in LIMIT_FAULTS.items() if not getattr(verified, name)]
    faults += _other_faults(seen)
    if is_haunted:
        faults.append("a process that left its parent lived on after the program")
    return SelfTest(verified, tuple(faults))


LIMIT_FAULTS = {
    "memory_total": "several processes together took more memory than allowed",
    "pids": "more processes could be started than allowed",
    "disk": "the work folder took more than its size",
    "network": "the host's network could be reached",
    "fs_read": "a file of the user could be read",
    "fs_write": "something outside the work folder could be written",
}


def _other_faults(seen: Answers) -> Iterator[str]:
    rights = seen["rights"]
    if seen["uid"] == 0:
        yield "the program ran as root"
    if rights.get("capabilities", True):
        yield "the program had capabilities or could gain some"
    if rights.get("no_new_privs") != 1:
        yield "the program could gain privileges"
    if rights.get("seccomp") != 2:
        yield "no filter of system calls was on"
    ours = {f"{k}={v}" for k, v in os.environ.items() if v and k not in SHARED_VARIABLES}
    if ours & set(seen["environment"]):
        yield "variables of BenchLoop's own environment could be read"


def _probe_run(sandbox: Sandbox, asked: Mapping[str, object]) -> SandboxRun:
    source = Path(_probe.__file__).read_bytes()
    argv = ("python", "-I", "probe.py", json.dumps(asked))
    return sandbox.run(Program(argv, files={"probe.py": source}), wall_s=WALL_S)


def _answers(run: SandboxRun) -> dict[str, Any]:
    answers = {}
    for line in run.stdout.splitlines():
        with contextlib.suppress(ValueError):
            name, value = json.loads(line)
            answers[name] = value
    return answers


def _last_words(run: SandboxRun) -> str:
    lines = run.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else f"exit status {run.exit_status}, limit {run.limit}."


@contextlib.contextmanager
def _secrets(name: str) -> Iterator[list[Path]]:
    """A private file of the user, and one that only a file system of one's own keeps away."""
    with contextlib.ExitStack() as stack:
        files = []
        for parent, mode in ((home(), 0o700), (None, 0o755)):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=name, dir=parent)))
            folder.chmod(mode)
            file = folder / "secret"
            file.write_text(name)
            files.append(file)
        yield files


@contextlib.contextmanager
def _listeners() -> Iterator[list[socket.socket]]:
    """One on the loopback address, and one on an address that other machines would use."""
    with contextlib.ExitStack() as stack:
        found = []
        for address in ("127.0.0.1", *_own_addresses()[:1]):
            with contextlib.suppress(OSError):
                listener = stack.enter_context(socket.create_server((address, 0)))
                listener.setblocking(False)
                found.append(listener)
        yield found


def _own_addresses() -> list[str]:
    import psutil

    addresses = [one for every in psutil.net_if_addrs().values() for one in every]
    return [
        address.address
        for address in addresses
        if address.family == socket.AF_INET and not address.address.startswith("127.")
    ]


def _has_visitor(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _is_running(name: str) -> bool:
    """Whether a process of this machine has `name` among its arguments (where /proc tells)."""
    if sys.platform != "linux":
        return False
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if name.encode() in file.read_bytes().split(b"\0"):
                return True
    return False
