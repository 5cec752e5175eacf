"""What counts as installed: all of it, or nothing."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.harness import Installation
from bench_loop.programs.installed import (
    RECORD,
    InstallationRecord,
    disk_bytes,
    harnesses_folder,
    installation_folder,
    installed,
    records,
    version_of,
)

AIDER = Installation(
    registry="pypi",
    packages=("aider-chat==0.86.2",),
    program="bin/aider",
    licence="Apache-2.0",
    homepage="https://aider.example",
    size_mb=1,
)


def lay_down(folder: Path, **changed: Any) -> None:
    """An installation of AIDER as its installer leaves it, in `folder`."""
    program = folder / AIDER.program
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (folder / "bin" / "python").symlink_to(sys.executable)
    values = {
        "name": "aider",
        "version": "0.86.2",
        "registry": "pypi",
        "packages": {"aider-chat": "0.86.2"},
        "licence": "Apache-2.0",
        "size_bytes": 1000,
        "installed_at": datetime.now(UTC),
        "took_s": 1.5,
    }
    record = InstallationRecord.model_validate(values | changed)
    (folder / RECORD).write_text(record.model_dump_json())


@pytest.fixture
def folder() -> Path:
    folder = installation_folder("aider", AIDER)
    lay_down(folder)
    return folder


def test_a_whole_installation_is_found(folder: Path) -> None:
    found = installed("aider", AIDER)
    assert found is not None
    assert found.program == folder / "bin" / "aider"
    assert (found.beside, found.path) == ((), ())


@pytest.mark.parametrize(
    ("pin", "version"),
    [("aider-chat==0.86.2", "0.86.2"), ("@aaif/goose-acp@1.50.0", "1.50.0"), ("node@24", "24")],
)
def test_the_version_is_that_of_the_first_package(pin: str, version: str) -> None:
    assert version_of(Installation("npm", (pin, "other@9"), "x", "MIT", "", 1)) == version


@pytest.mark.parametrize("part", [RECORD, "bin/aider", "bin/python"])
def test_without_one_of_its_parts_it_is_not_installed(part: str, folder: Path) -> None:
    (folder / part).unlink()
    assert installed("aider", AIDER) is None


def test_a_damaged_record_is_none(folder: Path) -> None:
    (folder / RECORD).write_text('{"name": "aider"}')
    assert installed("aider", AIDER) is None


def test_another_version_is_not_the_pinned_one(folder: Path) -> None:
    folder.rename(folder.with_name("0.85.0"))
    assert installed("aider", AIDER) is None


def test_a_private_node_comes_first_in_the_path_and_must_be_there() -> None:
    lay_down(installation_folder("aider", AIDER), private_node="24.21.0", runtime_version="24.21.0")
    assert installed("aider", AIDER) is None
    node = harnesses_folder() / "_node" / "24.21.0"
    (node / "node_modules" / ".bin").mkdir(parents=True)
    found = installed("aider", AIDER)
    assert found is not None
    assert (found.beside, found.path) == ((node,), (node / "node_modules" / ".bin",))


def test_a_python_outside_the_system_must_be_shown_to_a_sandbox(tmp_path: Path) -> None:
    lay_down(installation_folder("aider", AIDER), runtime_folder=str(tmp_path))
    found = installed("aider", AIDER)
    assert found is not None
    assert (found.beside, found.path) == ((tmp_path,), ())


def test_older_versions_are_listed_and_links_are_not(folder: Path) -> None:
    older = folder.with_name("0.85.0")
    lay_down(older, version="0.85.0")
    folder.with_name("0.84.0").symlink_to(older)
    folder.with_name("notes").mkdir()
    assert [record.version for _, record in records("aider")] == ["0.85.0", "0.86.2"]


def test_a_file_with_two_names_takes_its_room_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(os.urandom(1_000_000))
    once = disk_bytes(tmp_path)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert disk_bytes(tmp_path) == once
    assert once >= 1_000_000
