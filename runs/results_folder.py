"""The local results folder, taken into the database: each file once, and again when it changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import IntegrityError, transaction
from django.utils import timezone

from bench_loop.errors import ResultError
from bench_loop.result import store
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from runs.models import ResultFile, Run

logger = logging.getLogger("benchloop.runs")


@dataclass(frozen=True, slots=True)
class FileState:
    """A result file as the folder shows it, without reading it."""

    path: Path
    size: int
    modified_ns: int


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
    """The result files now in `folder`. A file that vanishes meanwhile is left out."""
    states = []
    for path in store.result_files(folder):
        try:
            facts = path.stat()
        except FileNotFoundError:
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
        before = seen.get(state.path.name)
        if before and (before.size, before.modified_ns) == (state.size, state.modified_ns):
            continue
        yield _take_in_file(state, before.run if before else None)


def _take_in_file(state: FileState, before: Run | None) -> TakenIn:
    try:
        data = state.path.read_bytes()
        run = keep(store.from_bytes(data, state.path.name), data)
        problem = ""
    except (ResultError, OSError) as error:
        run, problem = None, str(error)
        logger.warning("Not taken in: %s", error)
    ResultFile.objects.update_or_create(
        name=state.path.name,
        defaults={
            "size": state.size,
            "modified_ns": state.modified_ns,
            "run": run or before,
            "problem": problem,
            "seen_at": timezone.now(),
        },
    )
    replaced = before if run is not None and before is not None and before != run else None
    return TakenIn(state.path.name, run, replaced, problem)


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
