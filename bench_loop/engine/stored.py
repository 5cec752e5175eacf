"""The runs that lie on this machine: of each, how it stands and what is known of it."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bench_loop.config import results_folder
from bench_loop.engine.assemble import assemble
from bench_loop.engine.journal import JOURNAL
from bench_loop.engine.recorded import read_journal
from bench_loop.engine.run_folder import (
    LIST_RUNS,
    find_run,
    refuse_several,
    result_file,
    run_folders,
)
from bench_loop.engine.run_lock import RunLock, is_live
from bench_loop.errors import FileError, JournalError, ResultError, SetupError, UsageError
from bench_loop.result.records import RunResult
from bench_loop.result.store import LATEST, load, read, replace_file, result_files

State = Literal["running", "complete", "incomplete", "aborted", "damaged"]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run: a journal, a result file, or both."""

    run_id: str
    state: State
    result: RunResult | None
    """As far as the run came; None: it is damaged."""
    folder: Path | None
    """Of its journal; None: there is only the result file."""
    file: Path | None
    """Its result file; None: it was not written yet, or is gone."""
    damage: FileError | None = None
    """What is wrong with its journal, or else with its file."""

    @property
    def place(self) -> Path:
        """Where its data is."""
        if self.file is not None:
            return self.file
        assert self.folder is not None
        return self.folder / JOURNAL


def stored_runs() -> list[StoredRun]:
    """All runs, newest first: those with a journal, and result files of the usual folder."""
    found = [_of_folder(folder) for folder in run_folders()]
    known = {run.file for run in found}
    for file in result_files(results_folder()):
        if file not in known:
            found.append(_of_file(file))
    return sorted(found, key=_age, reverse=True)


def _age(run: StoredRun) -> tuple[str, float]:
    """Later is larger: an id tells the second, the result what came first within it."""
    began = run.result.started_at.timestamp() if run.result else 0.0
    return run.run_id.partition("-")[0], began


def stored_run(name: str) -> StoredRun:
    """The run that `name` means: a run id, a part of one alone, `latest`, or a path.

    Raises UsageError when there is none, or more than one.
    """
    file = results_folder() / LATEST if name == "latest" else Path(name)
    if file.is_file() and file.name != JOURNAL:
        name = load(file).run_id
    found = [run for run in stored_runs() if name and name in run.run_id]
    refuse_several(name, [run.run_id for run in found])
    if found:
        return found[0]
    if file.is_file() and file.name != JOURNAL:
        return _of_file(file)
    try:
        return _of_folder(find_run(name))
    except UsageError:
        raise UsageError(f"There is no run {name!r}.", remedy=LIST_RUNS) from None


def delete_stored(run: StoredRun) -> None:
    """Delete journal and result of a run.

    Raises UsageError while a process writes it, SetupError when something cannot be deleted.
    """
    try:
        with RunLock(run.folder) if run.folder is not None else nullcontext():
            if run.file is not None:
                run.file.unlink(missing_ok=True)
                _mend_latest(run)
            if run.folder is not None:
                _remove_journal(run.folder / JOURNAL)
        if run.folder is not None:
            _remove_folder(run.folder)
    except OSError as error:
        raise SetupError(
            f"The run {run.run_id} cannot be deleted: {error.filename}: {error.strerror}.",
            remedy="Give yourself the right to delete it, then try again.",
        ) from error


def _remove_journal(journal: Path) -> None:
    """Under the lock: without its journal it is no run any more that another process may resume."""
    if journal.is_dir() and not journal.is_symlink():
        shutil.rmtree(journal)
    else:
        journal.unlink(missing_ok=True)


def _remove_folder(folder: Path) -> None:
    """A link is removed, and what it leads to is somebody else's to remove."""
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder)


def _mend_latest(run: StoredRun) -> None:
    """`latest.json` is the newest result that is left."""
    assert run.file is not None
    latest = run.file.parent / LATEST
    try:
        if load(latest).run_id != run.run_id:
            return
    except ResultError:
        return
    left = result_files(latest.parent)
    if left:
        replace_file(latest, read(left[-1]))
    else:
        latest.unlink()


def _of_folder(folder: Path) -> StoredRun:
    try:
        known, _ = read_journal(folder / JOURNAL)
    except JournalError as error:
        return _of_damaged(folder, error)
    file = result_file(known)
    state: State = "running" if is_live(folder) else known.end.status
    return StoredRun(known.run_id, state, assemble(known), folder, file if file.is_file() else None)


def _of_damaged(folder: Path, damage: FileError) -> StoredRun:
    """A run whose journal cannot be read: its result, if it was written, is whole all the same."""
    file = results_folder() / f"{folder.name}.json"
    if file.is_file():
        stored = _of_file(file)
        # Of a complete run nobody needs the journal any more.
        is_needed = stored.state != "complete"
        return replace(stored, folder=folder, damage=damage if is_needed else stored.damage)
    return StoredRun(folder.name, "damaged", None, folder, None, damage)


def _of_file(file: Path) -> StoredRun:
    try:
        result = load(file)
    except ResultError as error:
        return StoredRun(file.stem, "damaged", None, None, file, error)
    return StoredRun(result.run_id, result.status, result, None, file)
