"""Installs the harness programs into the data folder, each version in a folder of its own.

An installation is made in a scratch folder beside its place and renamed when it is whole, so that
no reader ever meets half of one. What a virtual environment holds of its own path (the first lines
of its scripts) is written relative for that; it is how a sandbox can show it at another path, too.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench_loop.config import not_writable, replace_file
from bench_loop.contracts.harness import Installation
from bench_loop.errors import SetupError
from bench_loop.file_lock import hold
from bench_loop.programs import _npm, _pypi
from bench_loop.programs.installed import (
    PRIVATE_NODE,
    RECORD,
    InstallationRecord,
    Installed,
    disk_bytes,
    harnesses_folder,
    installation_folder,
    installed,
    records,
    version_of,
)
from bench_loop.programs.runtime import find_node, fits, need_python

Progress = Callable[[str], None]

NODE_VERSION = "24.21.0"
"""Of the private Node, where a harness does not name a version itself."""
NODE_SIZE_MB = 189
MB = 2**20
ROOM_FACTOR = 1.5
"""Room asked for before an installation begins: what it unpacks it had to fetch first."""
LOCK_POLL_S = 0.5
HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""What a lock says that another process holds; anything else is a disk that knows no locks."""
WAITING = "Waiting: another process is installing or removing {name}."
SCRATCH = "."
"""How the names of scratch folders begin."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The Node or Python that a program runs on; without a version: it needs none."""

    version: str | None = None
    prefix: Path | None = None
    """Of the machine's."""
    is_private: bool = False


def install(name: str, installation: Installation, say: Progress) -> Installed:
    """The pinned version of a harness, installed now if it is not yet.

    Raises SetupError with the remedy: no npm, no fitting Python, no room, no network.
    """
    if found := installed(name, installation):
        return found
    with _lock(name, say):
        _remove_scratch(name)
        # Another process may have done it meanwhile.
        return installed(name, installation) or _install(name, installation, say)


def missing_mb(name: str, installation: Installation) -> int:
    """Room that `install` will take, the private Node included; 0 when all is there."""
    if installed(name, installation):
        return 0
    node = _private_node(installation)
    is_node_missing = node is not None and installed(PRIVATE_NODE, node) is None
    return installation.size_mb + (NODE_SIZE_MB if is_node_missing else 0)


def remove(name: str, say: Progress) -> int:
    """Delete what BenchLoop installed of a harness, every version; how many bytes that were.

    The private Node goes with the last harness that runs on it. Nothing else in the folder is
    touched. Raises SetupError when something cannot be deleted.
    """
    return _remove(name, say, lambda record: True) + _remove(PRIVATE_NODE, say, _is_unused)


def _is_unused(node: InstallationRecord) -> bool:
    """Whether no harness runs on a private Node, and none is being installed."""
    names = _names()
    used = {record.private_node for name in names for _, record in records(name)}
    busy = any(_scratch_folders(name) for name in names)
    return not busy and node.version not in used


def _names() -> list[str]:
    """The harnesses that have a folder, installed or not."""
    folder = harnesses_folder()
    places = folder.iterdir() if folder.is_dir() else ()
    return [place.name for place in places if place.is_dir() and place.name != PRIVATE_NODE]


def _install(name: str, installation: Installation, say: Progress) -> Installed:
    folder = installation_folder(name, installation)
    _need_room(name, installation)
    with _scratch(folder) as scratch:
        started = time.monotonic()
        if installation.registry == "npm":
            runtime = _build_npm(name, installation, scratch, say)
        else:
            runtime = _build_pypi(name, installation, scratch, say)
        record = _record(name, installation, scratch, runtime, time.monotonic() - started)
        replace_file(scratch / RECORD, record.model_dump_json(indent=1).encode())
        _set_aside(folder)
        scratch.rename(folder)
    found = installed(name, installation)
    if found is None:
        raise SetupError(
            f"{name} was installed, but its program {installation.program} is not there.",
            remedy=f"Remove it (bench-loop harness remove {name}) and report this: the packages "
            "may have changed, or your npm is set to run no install scripts (ignore-scripts).",
        )
    return found


def _build_npm(name: str, installation: Installation, folder: Path, say: Progress) -> Runtime:
    private = _private_node(installation)
    node = install(PRIVATE_NODE, private, say) if private else None
    shown = "Node" if name == PRIVATE_NODE else name
    say(f"Installing {shown} {version_of(installation)} from npm.")
    _npm.install(name, installation, folder, [node.program.parent] if node else [])
    if node is not None:
        return Runtime(node.record.version, is_private=True)
    if not _npm.is_script(folder / installation.program):
        return Runtime()
    found = find_node(installation.runtime)
    return Runtime(found.version, found.prefix) if found else Runtime()


def _build_pypi(name: str, installation: Installation, folder: Path, say: Progress) -> Runtime:
    python = need_python(installation.runtime, name)
    say(f"Installing {name} {version_of(installation)} from PyPI, on Python {python.version}.")
    _pypi.install(name, installation, folder, python)
    return Runtime(python.version, python.prefix)


def _private_node(installation: Installation) -> Installation | None:
    """The Node to be installed for a harness; None: it needs none, or the machine's will do."""
    wanted = installation.runtime
    if installation.registry != "npm" or not wanted or find_node(wanted):
        return None
    version = NODE_VERSION if fits(NODE_VERSION, wanted) else wanted
    assert fits(version, wanted), f"{wanted} leaves out the private Node {NODE_VERSION}"
    return Installation(
        registry="npm",
        packages=(f"node@{version}",),
        program="node_modules/.bin/node",
        licence="MIT",
        homepage="https://nodejs.org",
        size_mb=NODE_SIZE_MB,
    )


def _record(
    name: str, installation: Installation, folder: Path, runtime: Runtime, took_s: float
) -> InstallationRecord:
    registry = _npm if installation.registry == "npm" else _pypi
    return InstallationRecord(
        name=name,
        version=version_of(installation),
        registry=installation.registry,
        packages=registry.packages(folder),
        licence=registry.licence(folder, installation),
        private_node=runtime.version if runtime.is_private else None,
        runtime_version=runtime.version,
        runtime_folder=str(runtime.prefix) if runtime.prefix else None,
        size_bytes=disk_bytes(folder),
        installed_at=datetime.now(UTC),
        took_s=round(took_s, 1),
    )


def _need_room(name: str, installation: Installation) -> None:
    free_mb = shutil.disk_usage(harnesses_folder()).free // MB
    wanted_mb = round(installation.size_mb * ROOM_FACTOR)
    if free_mb < wanted_mb:
        raise SetupError(
            f"{name} needs about {wanted_mb:,} MB while it is installed, and {free_mb:,} MB are "
            f"free in {harnesses_folder()}.",
            remedy="Make room, or set BENCHLOOP_HOME to a folder on a larger disk.",
        )


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`, gone at the end unless it was renamed.

    Raises SetupError for what the disk refuses inside.
    """
    scratch = folder.with_name(f"{SCRATCH}{folder.name}.{secrets.token_hex(4)}")
    try:
        scratch.mkdir(parents=True)
        yield scratch
    except OSError as error:
        raise not_writable(folder, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        with suppress(OSError):  # Something else lies there.
            folder.parent.rmdir()


def _set_aside(folder: Path) -> None:
    """Take away what lies where an installation goes: one that is not whole any more."""
    if not folder.exists() and not folder.is_symlink():
        return
    aside = folder.with_name(f"{SCRATCH}{folder.name}.{secrets.token_hex(4)}")
    folder.rename(aside)
    if aside.is_symlink():
        aside.unlink()
    else:
        shutil.rmtree(aside, ignore_errors=True)


def _remove_scratch(name: str) -> None:
    """Delete what installations that were cut off have left; nobody else is at work here."""
    for left in _scratch_folders(name):
        shutil.rmtree(left, ignore_errors=True)


def _scratch_folders(name: str) -> list[Path]:
    found = (harnesses_folder() / name).glob(f"{SCRATCH}*")
    return [folder for folder in found if folder.is_dir() and not folder.is_symlink()]


def _remove(name: str, say: Progress, is_wanted: Callable[[InstallationRecord], bool]) -> int:
    parent = harnesses_folder() / name
    if not parent.is_dir():
        return 0
    freed = 0
    with _lock(name, say):
        _remove_scratch(name)
        for folder, record in records(name):
            if is_wanted(record):
                freed += disk_bytes(folder)
                _delete(folder)
        with suppress(OSError):  # Something that is not ours lies in it.
            parent.rmdir()
    return freed


def _delete(folder: Path) -> None:
    """Delete an installation; it is none any more from the first moment on."""
    try:
        gone = folder.rename(folder.with_name(f"{SCRATCH}{folder.name}.{secrets.token_hex(4)}"))
        shutil.rmtree(gone)
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be deleted: {error.strerror}.",
            remedy="Give yourself the right to write there, and remove it again.",
        ) from error


@contextmanager
def _lock(name: str, say: Progress) -> Iterator[None]:
    """Held by the one process that changes the installations of a harness; others wait."""
    file = harnesses_folder() / f".{name}.lock"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise not_writable(file, error) from error
    try:
        _wait_to_hold(descriptor, file, lambda: say(WAITING.format(name=name)))
        yield
    finally:
        os.close(descriptor)


def _wait_to_hold(descriptor: int, file: Path, say_so: Callable[[], None]) -> None:
    """Hold the lock, and `say_so` once when another process does. Raises SetupError."""
    has_waited = False
    while True:
        try:
            return hold(descriptor)
        except OSError as error:
            if error.errno not in HELD:
                raise not_writable(file, error) from error
        if not has_waited:
            say_so()
        has_waited = True
        time.sleep(LOCK_POLL_S)
