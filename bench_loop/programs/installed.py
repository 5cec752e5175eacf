"""What is installed of the harness programs: told by the record that is written last."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from bench_loop.config import home
from bench_loop.contracts.harness import Installation
from bench_loop.contracts.record import Record
from bench_loop.programs.runtime import is_system

RECORD = "installed.json"
PRIVATE_NODE = "_node"
"""In place of a harness's name: Node, for the harnesses that need another than the machine's."""


class InstallationRecord(Record):
    """The file `installed.json` of an installation: it is there only where all the rest is."""

    name: str
    version: str
    registry: Literal["npm", "pypi"]
    packages: dict[str, str]
    """All that came with it, by their own records: name to version."""
    licence: str | None
    """As the harness's package says itself; None: it does not."""
    private_node: str | None = None
    """Version of the Node of BenchLoop's own that it runs on."""
    runtime_version: str | None = None
    """Of the Node or Python that it runs on; None: it needs none."""
    runtime_folder: str | None = None
    """Where that lies (its prefix), if it is the machine's; None: BenchLoop's own, or none."""
    size_bytes: int
    installed_at: datetime
    took_s: float


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation that is whole, and what it takes to start its program."""

    folder: Path
    program: Path
    """The executable, inside `folder`."""
    record: InstallationRecord
    beside: tuple[Path, ...] = ()
    """Folders outside `folder` that the program reads, each at its own path."""
    path: tuple[Path, ...] = ()
    """Folders that come first in its PATH."""


def harnesses_folder() -> Path:
    """Where all installations lie: `<name>/<version>/` each."""
    return (home() / "harnesses").resolve()


def version_of(installation: Installation) -> str:
    """The version of the harness: that of the first package."""
    return re.split("==|@", installation.packages[0])[-1]


def installation_folder(name: str, installation: Installation) -> Path:
    return harnesses_folder() / name / version_of(installation)


def installed(name: str, installation: Installation) -> Installed | None:
    """The installation of the pinned version; None: there is none, or it is not whole.

    Not whole is also one whose Python or Node has gone since.
    """
    folder = installation_folder(name, installation)
    record = read_record(folder)
    program = folder / installation.program
    if record is None or record.name != name or not os.access(program, os.X_OK):
        return None
    beside, path = _runtime(record)
    is_whole = all(place.is_dir() for place in (*beside, *path)) and _has_python(folder)
    return Installed(folder, program, record, beside, path) if is_whole else None


def read_record(folder: Path) -> InstallationRecord | None:
    """The record in `folder`; None: none, or none that can be read."""
    try:
        return InstallationRecord.model_validate_json((folder / RECORD).read_bytes())
    except (OSError, ValidationError):
        return None


def records(name: str) -> Iterator[tuple[Path, InstallationRecord]]:
    """What is installed of one harness, older versions too."""
    parent = harnesses_folder() / name
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        record = None if folder.is_symlink() else read_record(folder)
        if record is not None and record.name == name:
            yield folder, record


def disk_bytes(folder: Path) -> int:
    """Room that a folder takes on the disk; what has several names in it counts once."""
    seen: dict[tuple[int, int], int] = {}
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            facts = (Path(path) / name).lstat()
            blocks = getattr(facts, "st_blocks", None)
            size = facts.st_size if blocks is None else blocks * 512
            seen[facts.st_dev, facts.st_ino] = size
    return sum(seen.values())


def _runtime(record: InstallationRecord) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Folders beside the installation, and those of PATH."""
    if record.private_node is not None:
        folder = harnesses_folder() / PRIVATE_NODE / record.private_node
        return (folder,), (folder / "node_modules" / ".bin",)
    if record.runtime_folder is None:
        return (), ()
    prefix = Path(record.runtime_folder)
    beside = () if is_system(prefix) else (prefix,)
    return beside, (prefix / "bin",) if record.registry == "npm" else ()


def _has_python(folder: Path) -> bool:
    """Whether the Python of a virtual environment still is where it was."""
    return not (folder / "pyvenv.cfg").is_file() or (folder / "bin" / "python").exists()
