"""Runs the client of a package registry, and says in words what went wrong with it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from bench_loop.errors import SetupError

LONGEST_S = 3600.0
"""Of one installation: the largest is some hundred megabytes, lines may be slow."""
READ_BYTES = 65536
"""Of the end of what a client said."""
QUOTED = 400
"""Characters of it that stand in an error."""

_NO_ROOM = re.compile(r"ENOSPC|No space left on device|EDQUOT|Disk quota exceeded")
_NO_NETWORK = re.compile(
    r"ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|"
    r"ERR_SOCKET_TIMEOUT|NewConnectionError|ConnectTimeoutError|ReadTimeoutError|"
    r"Temporary failure in name resolution|ProxyError|SSLError|SELF_SIGNED_CERT|"
    # pip gives no other reason when it knows no version at all of a package.
    r"\(from versions: none\)"
)
_NOT_THERE = re.compile(r"\bE404\b|\bETARGET\b|No matching distribution found")
_ERROR_LINE = re.compile(r"^\s*(?:npm error|ERROR:)\s*(.*)$", re.MULTILINE)


def run(name: str, argv: Sequence[str | Path], env: Mapping[str, str | None]) -> None:
    """Run a registry's client to its end. `env` is put on this process's own; None: taken out.

    The user's own settings of the client (mirror, proxy) hold. Raises SetupError when it fails.
    """
    merged = {**os.environ, **env}
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env={key: value for key, value in merged.items() if value is not None},
            )
        except OSError as error:
            raise SetupError(f"{argv[0]} cannot be started: {error.strerror}.") from error
        try:
            status = process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            raise SetupError(
                f"{name} was not installed within {LONGEST_S / 60:.0f} minutes.",
                remedy="Try again when the network is faster: what was fetched is kept.",
            ) from None
        finally:
            _end(process)
        if status != 0:
            said.seek(max(0, said.seek(0, os.SEEK_END) - READ_BYTES))
            raise failure(name, said.read().decode(errors="replace"))


def failure(name: str, said: str) -> SetupError:
    """The error for what a client said at its end."""
    found = _ERROR_LINE.findall(said) or said.strip().splitlines()[-1:] or ["it gave no reason"]
    quoted = " ".join(line.strip() for line in found if line.strip())[:QUOTED]
    return SetupError(f"{name} could not be installed: {quoted}", remedy=_remedy(said))


def _remedy(said: str) -> str:
    """What to do; a package that is not found may be a network that is not there."""
    if _NO_ROOM.search(said):
        return "Make room on the disk, or set BENCHLOOP_HOME to a folder on a larger one."
    if _NO_NETWORK.search(said):
        return "Look at the network, and at the proxy or mirror in your npm or pip settings."
    if _NOT_THERE.search(said):
        return "Ask your registry or mirror for that version: the one that you use lacks it."
    return "Do it again; if it fails again, report what stands above."


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what still runs, when this one was stopped: the client and what it started."""
    if process.poll() is not None:
        return
    try:
        family = [*psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    for member in family:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            continue
    process.kill()
    process.wait()
