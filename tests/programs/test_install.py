"""Programs installed by the real npm and pip from a registry of the tests' own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.config import home
from bench_loop.contracts.harness import Installation
from bench_loop.errors import SetupError
from bench_loop.programs._pypi import make_movable
from bench_loop.programs.install import install, missing_mb, remove
from bench_loop.programs.installed import (
    PRIVATE_NODE,
    Installed,
    harnesses_folder,
    installation_folder,
    installed,
    records,
)
from tests.components import need_npm
from tests.fakes.registry import FakeRegistry
from tests.processes import environment

pytestmark = pytest.mark.real

PARROT = Installation(
    registry="pypi",
    packages=("parrot==1.2.3",),
    program="bin/parrot",
    licence="MIT",
    homepage="https://parrot.example",
    size_mb=20,
)
CODE = "def main():\n    import sys\n    print('parrot', *sys.argv[1:])\n"
MAGPIE = Installation(
    registry="npm",
    packages=("magpie@2.0.1",),
    program="node_modules/.bin/magpie",
    licence="MIT",
    homepage="https://magpie.example",
    size_mb=1,
)
SCRIPT = "#!/usr/bin/env node\nconsole.log('magpie on', process.env.WHICH_NODE ?? 'node')\n"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeRegistry]:
    with small_registry() as registry:
        for name, value in registry.settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
        yield registry


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installation of PARROT, made once: a virtual environment takes seconds."""
    with small_registry() as registry, pytest.MonkeyPatch.context() as patch:
        for name, value in registry.settings.items():
            patch.setenv(name, value)
        patch.setenv("BENCHLOOP_HOME", str(tmp_path_factory.mktemp("first")))
        said: list[str] = []
        found = install("parrot", PARROT, said.append)
        version = found.record.runtime_version
        assert said == [f"Installing parrot 1.2.3 from PyPI, on Python {version}."]
    return found.folder


@pytest.fixture
def parrot(first: Path) -> Installed:
    """The same, moved to the data folder of this test."""
    shutil.copytree(first, installation_folder("parrot", PARROT), symlinks=True)
    found = installed("parrot", PARROT)
    assert found is not None
    return found


def small_registry() -> FakeRegistry:
    registry = FakeRegistry()
    registry.add_wheel("parrot", "1.2.3", "License-Expression: MIT", CODE)
    registry.add_npm("magpie", "2.0.1", "magpie", SCRIPT)
    return registry


def quiet(text: str) -> None:
    """Says nothing."""


def says(program: Path, *arguments: str, path: tuple[Path, ...] = ()) -> str:
    search = os.pathsep.join([*map(str, path), os.environ["PATH"]])
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, env={**os.environ, "PATH": search}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def left_over(name: str) -> list[str]:
    """What lies beside the installations of a harness."""
    folder = harnesses_folder() / name
    return sorted(place.name for place in folder.iterdir()) if folder.is_dir() else []


# --- PyPI ---


def test_a_python_program_runs_also_from_another_place(parrot: Installed) -> None:
    assert says(parrot.program, "a", "b c") == "parrot a b c"
    scripts = [file.name for file in (parrot.folder / "bin").iterdir()]
    assert not [name for name in scripts if name.lower().startswith("activate")]


def test_the_record_says_what_came(parrot: Installed) -> None:
    record = parrot.record
    assert (record.name, record.version, record.licence) == ("parrot", "1.2.3", "MIT")
    assert record.packages["parrot"] == "1.2.3"
    assert "pip" in record.packages
    assert record.size_bytes > 1_000_000
    assert record.took_s > 0


def test_what_is_installed_is_not_fetched_again(registry: FakeRegistry, parrot: Installed) -> None:
    said: list[str] = []
    assert install("parrot", PARROT, said.append) == parrot
    assert (said, registry.downloads) == ([], [])
    assert missing_mb("parrot", PARROT) == 0


def test_a_failed_installation_leaves_nothing(registry: FakeRegistry) -> None:
    missing = replace(PARROT, packages=("parrot==9.9.9",))
    with pytest.raises(SetupError, match=r"parrot could not be installed.*9\.9\.9") as caught:
        install("parrot", missing, quiet)
    assert caught.value.remedy == (
        "Ask your registry or mirror for that version: the one that you use lacks it."
    )
    assert left_over("parrot") == []
    assert installed("parrot", missing) is None


def test_an_interrupted_installation_leaves_nothing(registry: FakeRegistry) -> None:
    def stop(text: str) -> None:
        assert left_over("parrot")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install("parrot", PARROT, stop)
    assert not (harnesses_folder() / "parrot").exists()


def test_a_full_disk_is_told_before_anything_is_fetched(registry: FakeRegistry) -> None:
    with pytest.raises(SetupError, match="needs about 1,500,000,000 MB") as caught:
        install("parrot", replace(PARROT, size_mb=1_000_000_000), quiet)
    assert (caught.value.remedy or "").startswith("Make room")
    assert registry.downloads == []


def test_an_installation_whose_python_has_gone_is_made_again(
    registry: FakeRegistry, parrot: Installed
) -> None:
    (parrot.folder / "bin" / "python").unlink()
    assert says(install("parrot", PARROT, quiet).program) == "parrot"
    assert left_over("parrot") == ["1.2.3"]


def test_a_missing_python_is_told_before_anything_is_fetched(registry: FakeRegistry) -> None:
    with pytest.raises(SetupError, match=r"parrot needs Python >=3\.1,<3\.2"):
        install("parrot", replace(PARROT, runtime=">=3.1,<3.2"), quiet)
    assert registry.downloads == []


@pytest.mark.parametrize("path", ["short", "long " * 40])
def test_scripts_find_their_python_beside_them(path: str, tmp_path: Path) -> None:
    folder = tmp_path / path.strip()
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    first = f"#!{folder}/python\n"
    if " " in path:
        first = f"#!/bin/sh\n'''exec' \"{folder}/python\" \"$0\" \"$@\"\n' '''\n"
    script = folder / "hello"
    script.write_text(f"{first}import sys\nprint('hello', sys.argv[1])\n")
    script.chmod(0o755)
    make_movable(folder)
    assert str(folder) not in script.read_text()
    assert says(script, "x y") == "hello x y"


# --- npm ---


@pytest.fixture
def npm(registry: FakeRegistry) -> FakeRegistry:
    need_npm()
    return registry


def test_a_node_program_is_installed_and_runs(npm: FakeRegistry) -> None:
    found = install("magpie", MAGPIE, quiet)
    assert says(found.program, path=found.path) == "magpie on node"
    record = found.record
    assert (record.packages, record.licence) == ({"magpie": "2.0.1"}, "MIT")
    assert record.private_node is None
    assert record.runtime_version is not None


def test_a_private_node_is_installed_where_the_machine_s_does_not_fit(npm: FakeRegistry) -> None:
    node = shutil.which("node")
    npm.add_npm("node", "99.1.0", "node", f'#!/bin/sh\nWHICH_NODE=private exec {node} "$@"\n')
    wants_node = replace(MAGPIE, runtime="99.1.0")
    assert missing_mb("magpie", wants_node) == 190
    found = install("magpie", wants_node, quiet)
    assert says(found.program, path=found.path) == "magpie on private"
    assert found.beside == (harnesses_folder() / PRIVATE_NODE / "99.1.0",)
    assert found.record.private_node == "99.1.0"


def test_the_machine_s_own_node_is_used_where_it_fits(npm: FakeRegistry) -> None:
    found = install("magpie", replace(MAGPIE, runtime=">=10"), quiet)
    assert found.record.private_node is None
    assert not (harnesses_folder() / PRIVATE_NODE).exists()


def test_without_npm_its_installation_is_told(
    registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="by npm, which is not found") as caught:
        install("magpie", MAGPIE, quiet)
    assert "apt install npm" in (caught.value.remedy or "")


def test_a_program_that_did_not_come_is_an_error(npm: FakeRegistry) -> None:
    other = replace(MAGPIE, program="node_modules/.bin/jay")
    with pytest.raises(SetupError, match=r"its program node_modules/\.bin/jay is not there"):
        install("magpie", other, quiet)
    assert installed("magpie", other) is None


def test_two_at_once_install_it_once(npm: FakeRegistry) -> None:
    said: list[str] = []
    found: list[Installed] = []
    both = [
        threading.Thread(target=lambda: found.append(install("magpie", MAGPIE, said.append)))
        for _ in range(2)
    ]
    for one in both:
        one.start()
    for one in both:
        one.join(120)
    assert len(npm.downloads) == 1
    assert "Waiting: another process is installing or removing magpie." in said
    assert found[0] == found[1]


def test_no_network_is_told_as_that(npm: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    with pytest.raises(SetupError) as caught:
        install("magpie", MAGPIE, quiet)
    assert (caught.value.remedy or "").startswith("Look at the network")


def test_what_a_killed_installation_left_is_cleared_by_the_next(npm: FakeRegistry) -> None:
    script = (
        "from tests.programs.test_install import MAGPIE, quiet\n"
        "from bench_loop.programs.install import install\n"
        "install('magpie', MAGPIE, quiet)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment(home()),
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not left_over("magpie") and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert left_over("magpie")[0].startswith(".2.0.1.")
    assert installed("magpie", MAGPIE) is None
    install("magpie", MAGPIE, quiet)
    assert left_over("magpie") == ["2.0.1"]


# --- Removing ---


def test_removing_takes_all_versions_and_nothing_else(npm: FakeRegistry) -> None:
    npm.add_npm("magpie", "2.0.0", "magpie", SCRIPT)
    install("magpie", replace(MAGPIE, packages=("magpie@2.0.0",)), quiet)
    npm.add_npm("magpie", "2.0.1", "magpie", SCRIPT)
    install("magpie", MAGPIE, quiet)
    mine = harnesses_folder() / "magpie" / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("keep")
    assert remove("magpie", quiet) > 0
    assert left_over("magpie") == ["mine"]
    assert (mine / "notes.txt").read_text() == "keep"


def test_the_private_node_goes_with_the_last_that_runs_on_it(npm: FakeRegistry) -> None:
    node = shutil.which("node")
    npm.add_npm("node", "99.1.0", "node", f'#!/bin/sh\nexec {node} "$@"\n')
    npm.add_npm("jay", "1.0.0", "jay", SCRIPT)
    jay = replace(
        MAGPIE, packages=("jay@1.0.0",), program="node_modules/.bin/jay", runtime="99.1.0"
    )
    install("magpie", replace(MAGPIE, runtime="99.1.0"), quiet)
    install("jay", jay, quiet)
    remove("magpie", quiet)
    assert [record.version for _, record in records(PRIVATE_NODE)] == ["99.1.0"]
    remove("jay", quiet)
    assert not (harnesses_folder() / PRIVATE_NODE).exists()
    assert not installation_folder("jay", jay).exists()


def test_removing_what_is_not_installed_is_no_harm() -> None:
    assert remove("magpie", quiet) == 0
