"""What holds for every test: no other machine, no data folder of the user's, stable examples."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.sandboxes.ladder import open_sandbox
from tests.components import need_bubblewrap, need_chromium
from tests.groups import GROUPS, group_of
from tests.llama_cpp import LlamaCpp, llama_cpp
from tests.network import stay_on_this_machine

stay_on_this_machine()


def _hear_signals() -> None:
    """Undo that a shell ignores signals for what it starts in the background (or under nohup).

    A program inherits that, and tests that stop programs by them would wait for ever.
    """
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        if signal.getsignal(number) is signal.SIG_IGN:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


_hear_signals()

settings.register_profile("local", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(autouse=True)
def benchloop_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of this test alone, also for the processes that it starts."""
    home = tmp_path / "benchloop-home"
    monkeypatch.setenv("BENCHLOOP_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def real_server() -> Iterator[LlamaCpp]:
    """One real llama.cpp server for all tests that need it."""
    with llama_cpp() as server:
        yield server


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """One real sandbox for all tests that run code."""
    need_bubblewrap()
    opened = open_sandbox("bubblewrap")
    yield opened
    opened.close()


@pytest.fixture
def without_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with neither a container engine nor bubblewrap."""
    empty = tmp_path / "no-programs"
    empty.mkdir()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{empty}/none.sock")
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(empty))


@pytest.fixture(autouse=True)
def emptied_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lets tests that commit be cleaned up after: SQLite would refuse to delete the audit trail."""
    mark = request.node.get_closest_marker("django_db")
    commits = "transactional_db" in request.fixturenames or (
        mark and mark.kwargs.get("transaction")
    )
    if not commits:
        yield
        return
    # First here, so that the clean-up comes after what follows.
    request.getfixturevalue("transactional_db")
    yield
    from django.db import connection

    from submissions.append_only import unprotect

    unprotect(connection)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, object]:
    """How pytest-playwright starts the system's Chromium, which must call nobody by itself."""
    return {
        "executable_path": need_chromium(),
        "args": [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ],
    }


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--group", choices=GROUPS, help="run one group of tests (tests/groups.py)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the wanted group, or all groups in their order."""
    wanted = config.getoption("--group")
    groups = {item: _group_of_item(item) for item in items}
    if wanted:
        config.hook.pytest_deselected(items=[item for item in items if groups[item] != wanted])
        items[:] = [item for item in items if groups[item] == wanted]
    items.sort(key=lambda item: GROUPS.index(groups[item]))


def _group_of_item(item: pytest.Item) -> str:
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return group_of(folder, {mark.name for mark in item.iter_markers()})
