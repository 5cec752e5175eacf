"""The folders of a trial: emptied and filled before it, read back after it.

Everything in them was written by a model's commands: no link is followed, nothing that blocks is
opened, and no program (git least of all, which obeys the settings in a `.git`) is run on them.
"""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import math
import os
import secrets
import shutil
import stat
import subprocess
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_loop.contracts.place import Place
from bench_loop.contracts.sandbox import FILES_MAX
from bench_loop.errors import SandboxError, SetupError
from bench_loop.sandboxes import _inside
from bench_loop.sandboxes._session import is_plain_path

HOME, SCRATCH = "home", "tmp"
"""Folders in a place's state."""

MOST_BYTES = 1_000_000
"""Of all files together; the same as a workspace of BenchLoop's own tools."""

MOST_ENTRIES = 20_000
"""Entries that are looked at, read back or not."""

BLOCK_BYTES = 512
LEAST_BLOCKS = 2
LONGEST_PATH = 3500
"""Bytes of a path that is still looked at; the system takes up to 4,095."""

DIFF_CHARS = 200_000
LEFT_OUT = (".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules")
AUTHOR = {
    "GIT_AUTHOR_NAME": "BenchLoop",
    "GIT_AUTHOR_EMAIL": "bench@localhost",
    "GIT_COMMITTER_NAME": "BenchLoop",
    "GIT_COMMITTER_EMAIL": "bench@localhost",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Git's names and settings for every program in a place: none of the user's own."""

DATE = "2026-01-01T00:00:00+00:00"
GIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Changes:
    """A workspace at the end of a trial, and what is different from its beginning."""

    files: Mapping[str, bytes]
    """Regular files with a plain name, without caches; at most FILES_MAX and MOST_BYTES."""
    files_changed: tuple[str, ...]
    """Paths that are new, gone or different, in order."""
    diff: str
    """Unified; a file that is no text is only named. At most DIFF_CHARS characters."""
    skipped: tuple[str, ...] = ()
    """What is no regular file or has no plain name."""
    is_cut: bool = False
    """There were more, or larger, files than are read back: `files` lacks some."""


def renew(place: Place, files: Mapping[str, str | bytes]) -> None:
    """Empty state and workspace, write `files`, and make them a git repository with one commit.

    Raises SetupError without git, SandboxError for a path that leaves the folder.
    """
    for folder in (place.state.here, place.workspace.here):
        _make_empty(folder)
    for name in (HOME, SCRATCH):
        (place.state.here / name).mkdir(mode=0o700)
    for path, content in files.items():
        if not is_plain_path(path) or ".git" in path.split("/"):
            raise SandboxError(f"A file can't be put into the workspace as {path!r}.")
        file = place.workspace.here / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    _commit(place.workspace.here)


def _commit(folder: Path) -> None:
    """A repository of what is in `folder`: the same files give the same commit everywhere."""
    for arguments in (
        ("init", "--quiet", "--template=", "--initial-branch=main"),
        ("add", "--all", "--force"),
        ("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "The task's files"),
    ):
        _git(folder, *arguments)


def _git(folder: Path, *arguments: str) -> None:
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        **AUTHOR,
        **dates,
    }
    settings = ("core.autocrlf=false", "core.fileMode=true", "gc.auto=0", "commit.gpgSign=false")
    words = ["git", *(word for one in settings for word in ("-c", one)), *arguments]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_S,
        )
    except FileNotFoundError:
        raise SetupError(
            "git is not installed; a harness works in a git repository.",
            remedy="Install git: apt install git, brew install git.",
        ) from None
    except subprocess.TimeoutExpired:
        raise SandboxError(f"git {arguments[0]} did not end in {GIT_S:.0f} s.") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()[:500]
        raise SandboxError(f"git {arguments[0]} failed in the workspace: {reason}")


# --- Reading back ---------------------------------------------------------------------------------


def changes(
    place: Place, before: Mapping[str, str | bytes], *, left_out: Sequence[str] = ()
) -> Changes:
    """The workspace now, against the files that it was renewed with.

    `left_out` are patterns of names, of files or folders, beside LEFT_OUT: a harness's own caches.
    """
    old = {path: text.encode() if isinstance(text, str) else text for path, text in before.items()}
    found = _read(place.workspace.here, (*LEFT_OUT, *left_out), first=old.keys())
    changed = tuple(
        path
        for path in sorted({*old, *found.files, *found.unread})
        if path in found.unread or old.get(path) != found.files.get(path)
    )
    return Changes(
        files=found.files,
        files_changed=changed,
        diff=diff(old, found.files, changed, unread=found.unread),
        skipped=tuple(found.skipped),
        is_cut=found.is_cut,
    )


class _Found:
    """What lies in a workspace, as far as it is read back."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.unread: set[str] = set()
        """Regular files that are too large, or too many."""
        self.skipped: list[str] = []
        self.is_cut = False


def _read(folder: Path, patterns: Sequence[str], first: Container[str]) -> _Found:
    """As much as there is room for; of `first`, the paths that are there come first."""
    found = _Found()
    if not _is_real_folder(folder):
        return found
    folder.chmod(0o700)
    left = MOST_BYTES
    for path in sorted(_paths(folder, patterns, found), key=lambda path: path not in first):
        size = _regular_size(folder / path) if is_plain_path(path) else None
        is_room = size is not None and size <= left and len(found.files) < FILES_MAX
        if size is not None and not is_room:
            found.unread.add(path)
            found.is_cut = True
            continue
        content = None if size is None else _inside.regular_content(str(folder / path), size)
        if content is None:
            _skip(found, path)
        else:
            found.files[path] = content
            left -= len(content)
    return found


def _skip(found: _Found, path: str) -> None:
    if len(found.skipped) < FILES_MAX:
        found.skipped.append(os.fsencode(path)[:1000].decode(errors="backslashreplace"))


def _paths(folder: Path, patterns: Sequence[str], found: _Found) -> list[str]:
    """What lies below `folder` and is no folder, sorted; no link is followed."""
    paths: list[str] = []
    folders, looked_at = [""], 0
    while folders:
        above = folders.pop()
        for entry in _entries(folder / above):
            looked_at += 1
            if looked_at > MOST_ENTRIES:
                found.is_cut = True
                return sorted(paths)
            if any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in patterns):
                continue
            path = f"{above}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{path}/")
            else:
                paths.append(path)
    return sorted(paths)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Nothing for a folder that can't be listed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def _regular_size(path: Path) -> int | None:
    """In bytes; None: it is no regular file."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def size_mb(folder: Path) -> float:
    """What `folder` takes on the disk, as far as it can be seen; it may change meanwhile.

    Infinite where there is something so deep that it can't be seen: nobody puts files there but
    to hide them. Small files count for a little more than they hold, since their number costs too.
    """
    blocks = 0
    folders = [str(folder)]
    while folders:
        above = folders.pop()
        if len(os.fsencode(above)) > LONGEST_PATH:
            return math.inf
        for entry in _entries(Path(above)):
            with contextlib.suppress(OSError):
                blocks += max(LEAST_BLOCKS, entry.stat(follow_symlinks=False).st_blocks)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return blocks * BLOCK_BYTES / 2**20


def free_mb(folder: Path) -> float:
    """What is free on the disk that holds `folder`."""
    return shutil.disk_usage(folder).free / 2**20


# --- Differences ----------------------------------------------------------------------------------

NO_TEXT = b"\0"
MOST_LINE_PAIRS = 4_000_000
"""Beyond that a comparison line by line takes too long; the file is only named."""


def diff(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    paths: Sequence[str],
    *,
    unread: Container[str] = (),
) -> str:
    """The unified difference of `paths`; a file that is there but `unread` is only named."""
    pieces: list[str] = []
    size = 0
    for path in paths:
        new = NO_TEXT if path in unread else after.get(path)
        piece = _diff_of(path, before.get(path), new)
        pieces.append(piece)
        size += len(piece)
        if size > DIFF_CHARS:
            return "".join(pieces)[:DIFF_CHARS] + "\n... cut\n"
    return "".join(pieces)


def _diff_of(path: str, old: bytes | None, new: bytes | None) -> str:
    names = (
        (f"a/{path}" if old is not None else "/dev/null"),
        (f"b/{path}" if new is not None else "/dev/null"),
    )
    left, right = _lines(old), _lines(new)
    if left is None or right is None or len(left) * len(right) > MOST_LINE_PAIRS:
        return f"Files {names[0]} and {names[1]} differ\n"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(left, right, *names)
    )


def _lines(content: bytes | None) -> list[str] | None:
    """With their ends; None: it is no text."""
    try:
        text = (content or b"").decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    parts = text.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


# --- Emptying -------------------------------------------------------------------------------------


def _make_empty(folder: Path) -> None:
    """Also where the program has put something else in its place."""
    if _is_real_folder(folder):
        empty(folder)
        return
    folder.unlink(missing_ok=True)
    folder.mkdir(mode=0o700)


def _is_real_folder(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink()


def empty(folder: Path) -> None:
    """Remove all that lies in `folder`, however deep, of any name and with any rights.

    What lies in a folder below is moved up before it goes, so no depth is too much.
    """
    folder.chmod(0o700)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        while names := _names(top):
            for name in names:
                if _is_folder(name, top):
                    _flatten(name, top)
                    os.rmdir(name, dir_fd=top)
                else:
                    os.unlink(name, dir_fd=top)
    finally:
        os.close(top)


def _flatten(name: str, top: int) -> None:
    """Unlink the files in the folder `name` of `top`, and move its folders up into `top`."""
    os.chmod(name, 0o700, dir_fd=top)
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for below in _names(folder):
            if _is_folder(below, folder):
                os.chmod(below, 0o700, dir_fd=folder)
                os.rename(below, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(below, dir_fd=folder)
    finally:
        os.close(folder)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def remove(folder: Path) -> None:
    """Remove `folder` with all that lies in it; one that is not there is no harm."""
    if _is_real_folder(folder):
        empty(folder)
        folder.rmdir()
