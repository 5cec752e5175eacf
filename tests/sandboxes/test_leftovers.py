"""Tests that what a killed harness left behind is found by its name and removed when overdue."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from bench_loop.contracts.sandbox import Program, SandboxLimits
from bench_loop.sandboxes import _control_group
from bench_loop.sandboxes._marker import is_overdue, marker
from bench_loop.sandboxes.docker import LABEL, Docker, connect
from tests.components import need_docker, need_root
from tests.sandboxes.kinds import real

LONG_AGO = -1000.0


def test_a_name_is_overdue_when_its_time_and_a_margin_have_passed() -> None:
    assert not is_overdue(marker(0))
    assert is_overdue(marker(LONG_AGO))
    assert not is_overdue("somebody-elses-folder")


@pytest.mark.real
def test_an_overdue_container_is_removed_and_another_kept() -> None:
    need_docker()
    client = connect()
    sandbox = Docker(client, SandboxLimits())
    names = (marker(LONG_AGO), marker(60))
    for name in names:
        container = client.containers.create(**sandbox._settings(name))
        container.start()
    sandbox.close()
    client = connect()
    left = {one.name for one in client.containers.list(all=True, filters={"label": LABEL})}
    assert left & set(names) == {names[1]}
    client.containers.get(names[1]).remove(force=True)
    client.close()


@pytest.mark.real
def test_an_overdue_control_group_is_removed_with_its_processes() -> None:
    need_root()
    group = _control_group.make(marker(LONG_AGO), SandboxLimits(), our_processes=1)
    assert group is not None
    sleeper = subprocess.Popen(["sleep", "60"])
    for file in group.files_to_join():
        Path(file).write_text(str(sleeper.pid))
    _control_group.sweep()
    assert sleeper.wait(5) == -9
    assert not any(folder.exists() for folder in group.folders)


@pytest.mark.real
def test_an_overdue_folder_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = [tmp_path / marker(LONG_AGO), tmp_path / marker(60)]
    for folder in folders:
        (folder / "work").mkdir(parents=True)
    real("subprocess")
    assert list(tmp_path.iterdir()) == [folders[1]]


@pytest.mark.real
def test_nothing_is_left_of_a_program_in_a_folder() -> None:
    sandbox = real("subprocess")
    before = set(Path(tempfile.gettempdir()).glob("bench-loop-sandbox-*"))
    sandbox.run(Program(("python", "-c", "import os; os.mkdir('d'); os.chmod('d', 0)")))
    assert set(Path(tempfile.gettempdir()).glob("bench-loop-sandbox-*")) == before
