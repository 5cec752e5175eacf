"""The rim of detection: reads files and runs tools, and answers None where that fails."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

TOOL_LIMIT_S = 10.0
_MOST_BYTES = 4 * 2**20


def read_text(path: str | Path) -> str | None:
    """The text of a file, NULs of device trees left out; None when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return None
    return data.decode("utf-8", errors="replace").replace("\0", "").strip()


def run_tool(command: Sequence[str]) -> str | None:
    """What a tool prints; None when it is missing, fails, or takes longer than ten seconds."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TOOL_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode != 0:
        return None
    return done.stdout[:_MOST_BYTES].decode("utf-8", errors="replace")
