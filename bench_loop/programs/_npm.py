"""Packages of npm: exact versions into a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_loop.contracts.harness import Installation
from bench_loop.errors import SetupError
from bench_loop.programs import _registry


def install(name: str, installation: Installation, folder: Path, path: Sequence[Path]) -> None:
    """Install into `folder`, with the folders `path` before PATH. Raises SetupError."""
    npm = shutil.which("npm")
    if npm is None:
        raise SetupError(
            f"{name} is installed by npm, which is not found on this machine.",
            remedy="Install Node with npm (Debian and Ubuntu: apt install npm; else "
            "https://nodejs.org).",
        )
    wanted = dict(package.rsplit("@", 1) for package in installation.packages)
    manifest = {
        "private": True,
        "dependencies": wanted,
        # npm 12 runs the install scripts of these alone.
        "allowScripts": dict.fromkeys(wanted, True),
    }
    (folder / "package.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    options = ("--no-global", "--no-package-lock", "--no-audit", "--no-fund", "--no-progress")
    _registry.run(
        name,
        [npm, "install", "--prefix", folder, *options, "--loglevel=error"],
        {
            "PATH": os.pathsep.join([*map(str, path), os.environ.get("PATH", os.defpath)]),
            "npm_config_update_notifier": "false",
            "NODE_OPTIONS": None,
        },
    )


def packages(folder: Path) -> dict[str, str]:
    """Every package in `folder` with its version; of several versions of one, the outermost."""
    tree = _json(folder / "node_modules" / ".package-lock.json").get("packages", {})
    found: dict[str, str] = {}
    for place in sorted(tree, key=lambda place: place.count("node_modules/")):
        version = tree[place].get("version")
        if isinstance(version, str):
            found.setdefault(place.rpartition("node_modules/")[2], version)
    return dict(sorted(found.items()))


def licence(folder: Path, installation: Installation) -> str | None:
    """What the harness's own package names."""
    package = installation.packages[0].rsplit("@", 1)[0]
    named = _json(folder / "node_modules" / package / "package.json").get("license")
    return named if isinstance(named, str) else None


def is_script(program: Path) -> bool:
    """Whether it is run by Node, and no program of its own."""
    try:
        with program.open("rb") as file:
            begin = file.read(128)
    except OSError:
        return False
    return begin.startswith(b"#!") and b"node" in begin.partition(b"\n")[0]


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
