"""Tests of finding ripgrep in the installation of a harness."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench_loop.contracts.place import Command, Ended, Folder, PlaceKind, Service
from bench_loop.errors import SetupError
from bench_loop.programs.ripgrep import ripgrep_folder


@dataclass
class Nowhere:
    """A place with folders in which nothing can be started."""

    program: Folder
    state: Folder
    workspace: Folder
    kind: PlaceKind = "direct"

    def run(self, command: Command) -> Ended:
        raise NotImplementedError

    def serve(self, command: Command, port: int) -> AbstractContextManager[Service]:
        raise NotImplementedError


def place(installation: Path) -> Nowhere:
    folder = Folder(installation, "/bench/program")
    return Nowhere(program=folder, state=folder, workspace=folder)


def test_the_program_of_this_platform_is_found_as_it_is_seen_inside(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "@vscode" / "ripgrep" / "lib").mkdir(parents=True)
    (tmp_path / "node_modules" / "@vscode" / "ripgrep-linux-x64" / "bin").mkdir(parents=True)
    inside = "/bench/program/node_modules/@vscode/ripgrep-linux-x64/bin"
    assert ripgrep_folder(place(tmp_path)) == inside


def test_an_installation_without_it_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="ripgrep is missing") as refused:
        ripgrep_folder(place(tmp_path))
    assert "harness install" in (refused.value.remedy or "")
