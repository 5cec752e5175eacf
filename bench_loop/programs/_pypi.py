"""Packages of PyPI: exact versions into a virtual environment that may be moved."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from bench_loop.contracts.harness import Installation
from bench_loop.programs import _registry
from bench_loop.programs.runtime import Interpreter

FIRST_LINES = b"""#!/bin/sh
'''exec' "$(dirname "$0")/python" "$0" "$@"
' '''
"""
"""Of a script that runs on the Python beside it: to Python the last two are a string."""
WHERE_PATHS_ARE_LONG = b"#!/bin/sh\n'''exec' "
"""How pip begins a script whose Python has a path that is too long for a first line."""

LICENCES = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: MIT License": "MIT",
}
"""What old packages say in place of an SPDX expression."""

_OWN_PYTHON = {
    "PYTHONPATH": None,
    "PYTHONHOME": None,
    "VIRTUAL_ENV": None,
    "__PYVENV_LAUNCHER__": None,
}
_PIP = {"PIP_USER": "0", "PIP_TARGET": None, "PIP_PREFIX": None, "PIP_REQUIRE_VIRTUALENV": None}


def install(name: str, installation: Installation, folder: Path, python: Interpreter) -> None:
    """Make a virtual environment in `folder` and install into it. Raises SetupError."""
    env = {**_OWN_PYTHON, **_PIP}
    _registry.run(name, [python.executable, "-I", "-m", "venv", folder], env)
    pip = (str(folder / "bin" / "python"), "-I", "-m", "pip", "--disable-pip-version-check")
    _registry.run(name, [*pip, "install", "--no-input", "--quiet", *installation.packages], env)
    make_movable(folder / "bin")


def make_movable(scripts: Path) -> None:
    """Let the scripts in `scripts` find their Python beside them, wherever that is.

    The scripts that activate the environment in a shell hold its path throughout: they go.
    """
    own = f"#!{scripts / 'python'}".encode()
    for script in scripts.iterdir():
        if script.name.lower().startswith("activate"):
            script.unlink()
        elif not script.is_symlink():
            text = script.read_bytes()
            if text.startswith((own, WHERE_PATHS_ARE_LONG)):
                script.write_bytes(FIRST_LINES + _after_first_lines(text))


def packages(folder: Path) -> dict[str, str]:
    """Every distribution in `folder` with its version."""
    found = {part.metadata["Name"]: part.version for part in _distributions(folder)}
    return dict(sorted(found.items()))


def licence(folder: Path, installation: Installation) -> str | None:
    """What the harness's own package names, as SPDX where it can be told."""
    package = installation.packages[0].partition("==")[0]
    for part in _distributions(folder):
        if part.metadata["Name"] == package:
            named = part.metadata.get_all("License-Expression") or part.metadata.get_all("License")
            old = part.metadata.get_all("Classifier") or []
            return named[0] if named else next((LICENCES[c] for c in old if c in LICENCES), None)
    return None


def _distributions(folder: Path) -> Iterable[Distribution]:
    places = [str(place) for place in folder.glob("lib/python*/site-packages")]
    return distributions(path=places)


def _after_first_lines(script: bytes) -> bytes:
    """The script without what names its Python: one line, or three where the path is long."""
    lines = script.splitlines(keepends=True)
    return b"".join(lines[3:] if lines[0] == b"#!/bin/sh\n" else lines[1:])
