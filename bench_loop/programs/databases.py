"""The SQLite database that a program left in its state folder, read without trusting it.

A model ran commands beside that file: it may be a link, huge, broken, or have views in place of its
tables. So a bounded copy is read, by one query that may only read, and with an end to its work.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

Value = str | int | float | bytes | None
Row = tuple[Value, ...]

MOST_BYTES = 128 * 1024 * 1024
"""Of the database and of its write-ahead log; more is not read."""
MOST_ROWS = 20_000
MOST_VALUE_BYTES = 8 * 1024 * 1024
MOST_TEXT_BYTES = 32 * 1024 * 1024
"""Of all values together: the pages of a database may be laid so that many rows share them."""
LONGEST_S = 10.0
_STEPS = 1_000
"""Between two looks at the clock; one step may take long, where values are large."""


def read_rows(folder: Path, database: str, query: str) -> list[Row] | None:
    """The first rows of `query`, at most MOST_ROWS and of MOST_TEXT_BYTES together; None: `folder`
    has no such database that can be read.

    `database` is a path below `folder`; a path that leads out of it by a link is not followed. What
    the program had written last and not yet moved from its log into the database is read too.
    """
    with tempfile.TemporaryDirectory(prefix="bench-loop-") as place:
        copy = Path(place) / "copy.sqlite"
        if not _copied(folder, database, copy):
            return None
        _copied(folder, f"{database}-wal", copy.with_name("copy.sqlite-wal"))
        try:
            return _asked(copy, query)
        except (sqlite3.Error, MemoryError):
            return None


def json_of(value: Value) -> object:
    """The JSON that a column holds as text; None for what is none."""
    if not isinstance(value, str):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _asked(copy: Path, query: str) -> list[Row]:
    end = time.monotonic() + LONGEST_S
    connection = sqlite3.connect(copy)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
        connection.text_factory = _text
        connection.set_authorizer(_may_only_read)
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        return list(_bounded(connection.execute(query)))
    finally:
        connection.close()


def _bounded(rows: Iterable[Row]) -> Iterator[Row]:
    left = MOST_TEXT_BYTES
    for row in islice(rows, MOST_ROWS):
        left -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if left < 0:
            return
        yield row


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _may_only_read(action: int, *facts: str | None) -> int:
    """Whether a step of a query is allowed; a view, or a column that calls a function, is not.

    The last of `facts` is the view for which something is read: a small one can say very much.
    """
    reading = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
    is_allowed = action in reading and facts[-1] is None
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _copied(folder: Path, file: str, target: Path) -> bool:
    """Whether `file` is an ordinary file of `folder` within the bounds, now copied."""
    source = folder / file
    try:
        if not source.parent.resolve().is_relative_to(folder.resolve()):
            return False
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return False
    with os.fdopen(descriptor, "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MOST_BYTES:
            return False
        target.write_bytes(stream.read(MOST_BYTES))
    return True
