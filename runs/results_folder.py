"""The local results folder, taken into the database: each file once, and again when it changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from bench_loop.errors import ResultError
from bench_loop.report.printable import printable
from bench_loop.result import store
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from runs.models import ResultFile, Run

logger = logging.getLogger("benchloop.runs")

LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class FileState:
    """A result file as the folder shows it, without reading it."""

    path: Path
    size: int
    modified_ns: int

    @property
    def name(self) -> str:
        """The file's name as a database can hold it: names are bytes, and not always UTF-8."""
        return printable(self.path.name)[:LONGEST_NAME]


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of one file that is new or changed."""

    name: str
    run: Run | None
    """None when the file is no result; `problem` says why."""
    replaced: Run | None = None
    """The run that this file held before, when it now holds another."""
    problem: str = ""


def folder_state(folder: Path) -> list[FileState]:
    """The result files now in `folder`. What vanishes or cannot be looked at is left out."""
    states = []
    for path in store.result_files(folder):
        try:
            facts = path.stat()
        except OSError:
            continue
        states.append(FileState(path, facts.st_size, facts.st_mtime_ns))
    return states


def take_in(folder: Path) -> Iterator[TakenIn]:
    """Store every file that is new or changed since it was last seen, one by one.

    Idempotent: a result is known by its fingerprint, under whatever name. Deleted files change
    nothing. A file that cannot be read is reported and tried again when it changes.
    """
    seen = {file.name: file for file in ResultFile.objects.select_related("run")}
    for state in folder_state(folder):
        before = seen.get(state.name)
        if before and (before.size, before.modified_ns) == (state.size, state.modified_ns):
            continue
        yield _take_in_file(state, before.run if before else None)


def _take_in_file(state: FileState, before: Run | None) -> TakenIn:
    try:
        data = store.read(state.path)
        run = keep(store.from_bytes(data, state.name), data)
        problem = ""
    except (ResultError, DataError, ValueError) as error:
        # The last two: a database that cannot hold what the file says, as PostgreSQL cannot NUL.
        run, problem = None, printable(str(error))
        logger.warning("Not taken in: %s", problem)
    ResultFile.objects.update_or_create(
        name=state.name,
        defaults={
            "size": state.size,
            "modified_ns": state.modified_ns,
            "run": run or before,
            "problem": problem,
            "seen_at": timezone.now(),
        },
    )
    replaced = before if run is not None and before is not None and before != run else None
    return TakenIn(state.name, run, replaced, problem)


def keep(result: RunResult, data: bytes) -> Run:
    """The Run with this result's fingerprint, stored now if it is new."""
    known = Run.objects.filter(fingerprint=fingerprint(result)).first()
    if known:
        return known
    run = Run.of(result, data, Run.Source.LOCAL)
    try:
        with transaction.atomic():
            run.save()
    except IntegrityError:  # another process stored it between the two questions
        return Run.objects.get(fingerprint=run.fingerprint)
    return run
