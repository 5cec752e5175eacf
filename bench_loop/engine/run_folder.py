"""The folders of runs: one for each, with its journal and its lock."""

from __future__ import annotations

import shutil
import stat
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from bench_loop.config import runs_folder
from bench_loop.engine.journal import JOURNAL, Entry, Journal
from bench_loop.engine.recorded import Recorded, read_journal
from bench_loop.engine.run_lock import RunLock, is_live
from bench_loop.errors import UsageError
from bench_loop.result.store import new_run_id

LIST_RUNS = "bench-loop runs list shows them."
STILLBORN_S = 3600.0
"""So long after its last write, a folder without a begun run is one of a process that was killed:
between the plan and the first part no more than moments pass."""
_BEGINNING_BYTES = 1024 * 1024
"""Plan and conditions are some thousand bytes."""


class OpenRun:
    """A run that this process writes: its folder, locked, and its journal. A context manager."""

    def __init__(self, folder: Path, journal: Journal, held: ExitStack) -> None:
        self.folder = folder
        self._journal = journal
        self._held = held

    @classmethod
    def new(cls, runs: Path, run_id: str | None = None) -> Self:
        """A new run in the folder `runs`, of this id or any.

        Raises SetupError when nothing can be written there.
        """
        _sweep(runs)
        folder = runs / (run_id or new_run_id())
        journal = Journal.create(folder)
        with ExitStack() as held:
            held.enter_context(journal)
            held.enter_context(RunLock(folder))
            return cls(folder, journal, held.pop_all())

    @classmethod
    def resumed(cls, folder: Path) -> Self:
        """The run in `folder`, to go on with.

        Raises UsageError when another process writes it, JournalError when it cannot be read.
        """
        with ExitStack() as held:
            held.enter_context(RunLock(folder))
            _, size = read_journal(folder / JOURNAL)
            journal = held.enter_context(Journal.reopened(folder / JOURNAL, size))
            return cls(folder, journal, held.pop_all())

    @property
    def run_id(self) -> str:
        return self.folder.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._held.close()

    def start_clock(self, began: float) -> None:
        """A part of the run began at `began`, by time.monotonic()."""
        self._journal.start_clock(began)

    def append(self, entry: Entry) -> None:
        """Have `entry` on disk. Raises JournalError when it cannot be."""
        self._journal.append(entry)

    def read(self) -> Recorded:
        """The run as its journal on disk tells it."""
        return read_journal(self.folder / JOURNAL)[0]

    def discard(self) -> None:
        """Forget the run: nothing was measured that is worth keeping."""
        self._held.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _sweep(runs: Path) -> None:
    """Remove the folders of runs that were killed before they began: nobody can see or miss them.

    Young ones stay: a process may just be making its own.
    """
    for file in runs.glob(f"*/{JOURNAL}"):
        with suppress(OSError):
            is_old = time.time() - file.stat().st_mtime > STILLBORN_S
            if is_old and not _has_begun(file) and not is_live(file.parent):
                shutil.rmtree(file.parent)


def run_folders() -> list[Path]:
    """The folders of all runs that have begun, oldest first."""
    return sorted(file.parent for file in runs_folder().glob(f"*/{JOURNAL}") if _has_begun(file))


def _has_begun(journal: Path) -> bool:
    """Whether plan and conditions are written: a process killed before has measured nothing."""
    try:
        if not stat.S_ISREG(journal.stat().st_mode):
            return True  # Something else lies there: reading it tells what is wrong.
        with journal.open("rb") as source:
            beginning = source.read(_BEGINNING_BYTES)
            return len(beginning) == _BEGINNING_BYTES or beginning.count(b"\n") >= 2
    except OSError:
        return True  # Whoever reads it tells why it cannot be read.


def known_run(run_id: str) -> Recorded | None:
    """The run of this id, as its journal tells it; None: it has not begun.

    Raises JournalError where it has and cannot be read: to begin it anew would lose it.
    """
    file = runs_folder() / run_id / JOURNAL
    if not file.exists() or not _has_begun(file):
        return None
    return read_journal(file)[0]


def find_run(name: str) -> Path:
    """The folder of the run that `name` means: a run id, a part of one alone, or a path.

    Raises UsageError when there is none, or more than one.
    """
    given = Path(name)
    for folder in (given, given.parent):
        if name and (folder / JOURNAL).is_file() and folder != Path():
            return folder
    wanted = given.name.removesuffix(".json")
    found = [folder for folder in run_folders() if wanted and wanted in folder.name]
    if not found:
        raise UsageError(f"There is no run {name!r}.", remedy=LIST_RUNS)
    refuse_several(name, [folder.name for folder in found])
    return found[0]


def refuse_several(name: str, run_ids: Sequence[str]) -> None:
    """Raises UsageError when `name` may mean more than one run."""
    if len(run_ids) > 1:
        names = ", ".join(run_ids[:4])
        raise UsageError(
            f"{name!r} may mean {len(run_ids)} runs: {names}.", remedy="Name one whole."
        )


def result_file(run: Recorded) -> Path:
    """Where the result of a run is, or will be."""
    return Path(run.planned.output) / f"{run.run_id}.json"
