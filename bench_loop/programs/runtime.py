"""The Node or the Python that a program needs: which versions fit, and where one is found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_loop.errors import SetupError

PROBE_S = 20.0
NEWEST_PYTHON_TRIED = 20
OLDEST_PYTHON_TRIED = 8
SYSTEM = Path("/usr")
"""What lies below is seen in every sandbox."""

_ASK_NODE = "console.log(process.versions.node); console.log(process.execPath)"
_ASK_PYTHON = (
    "import sys, ensurepip, venv; print('%d.%d.%d' % sys.version_info[:3]); "
    "print(sys.executable); print(sys.base_prefix)"
)
_PART = re.compile(r"(>=|<|)\s*(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Node or a Python of this machine."""

    version: str
    executable: Path
    prefix: Path
    """The folder that holds all of it."""


def is_system(folder: Path) -> bool:
    """Whether it lies among the system's own files, which every sandbox shows."""
    return folder == SYSTEM or SYSTEM in folder.parents


def fits(version: str, wanted: str) -> bool:
    """Whether `version` is one of `wanted`: `>=3.10,<3.13`, exactly `24.21.0`, or "" for any.

    Raises ValueError for a `wanted` of another form.
    """
    return all(_fits_part(_numbers(version), part) for part in wanted.split(",") if part.strip())


def find_node(wanted: str) -> Interpreter | None:
    """The Node on PATH, if its version is wanted; None: there is none, or another."""
    said = _ask("node", "-e", _ASK_NODE)
    if said is None or len(said) != 2 or not fits(said[0], wanted):
        return None
    executable = Path(said[1]).resolve()
    return Interpreter(said[0], executable, executable.parent.parent)


def find_python(wanted: str) -> Interpreter | None:
    """A Python of a wanted version that can make virtual environments, the system's first."""
    found = [python for python in _pythons() if fits(python.version, wanted)]
    return next(
        (python for python in found if is_system(python.prefix)), found[0] if found else None
    )


def need_python(wanted: str, for_whom: str) -> Interpreter:
    """Like `find_python`. Raises SetupError that names a version to install."""
    if found := find_python(wanted):
        return found
    named = _version_to_name(wanted)
    raise SetupError(
        f"{for_whom} needs Python {wanted or 'with the module venv'}, and none is found here.",
        remedy=f"Install Python {named} with its module venv (Debian and Ubuntu: apt install "
        f"python{named} python{named}-venv), so that `python{named}` is on PATH.",
    )


def _fits_part(version: tuple[int, ...], part: str) -> bool:
    match = _PART.fullmatch(part.strip())
    if match is None:
        raise ValueError(f"{part!r} is no range of versions.")
    bound = _numbers(match[2])
    if match[1] == ">=":
        return version >= bound
    if match[1] == "<":
        return version < bound
    return version == bound


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))


def _version_to_name(wanted: str) -> str:
    """The newest Python of `wanted` that somebody is likely to have: `3.12` for `>=3.10,<3.13`."""
    minors = range(13, OLDEST_PYTHON_TRIED - 1, -1)
    return next((f"3.{minor}" for minor in minors if fits(f"3.{minor}.99", wanted)), "3")


def _pythons() -> Iterator[Interpreter]:
    minors = range(NEWEST_PYTHON_TRIED, OLDEST_PYTHON_TRIED - 1, -1)
    names = ["python3", "/usr/bin/python3", "python", *(f"python3.{minor}" for minor in minors)]
    for name in names:
        said = _ask(name, "-I", "-c", _ASK_PYTHON)
        if said is not None and len(said) == 3:
            yield Interpreter(said[0], Path(said[1]), Path(said[2]))


def _ask(name: str, *arguments: str) -> list[str] | None:
    """The lines that a program prints; None where it is missing, fails, or says nothing."""
    program = shutil.which(name)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_S,
            env={**os.environ, "NODE_OPTIONS": ""},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode(errors="replace").splitlines()
    return lines if done.returncode == 0 else None
