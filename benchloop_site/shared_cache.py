"""A cache in one SQLite file, for a site without Redis: all processes of a machine see it."""

from __future__ import annotations

import pickle
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

SWEEP_EVERY = 500
"""Writes of a connection between two removals of what has expired."""
BUSY_TIMEOUT_S = 10.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    name TEXT PRIMARY KEY, value, expires_at REAL
) WITHOUT ROWID
"""
_LIVE = "name = ? AND (expires_at IS NULL OR expires_at > ?)"


class SQLiteCache(BaseCache):
    """Django's cache interface over the file `server`, made when first used.

    Counting is one statement under the database's own lock, so that of many processes none is
    missed; Django's caches in files, tables and memory read and write back. Integers are stored as
    such, everything else pickled: the file is this site's own and readable by its user alone.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._path = Path(server)
        self._local = threading.local()

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        name = self.make_and_validate_key(key, version)
        with self._writing() as connection:
            now = time.time()
            connection.execute(
                "DELETE FROM entries WHERE name = ? AND expires_at <= ?", (name, now)
            )
            added = connection.execute(
                "INSERT OR IGNORE INTO entries VALUES (?, ?, ?)",
                (name, _packed(value), self.get_backend_timeout(timeout)),
            )
            return added.rowcount == 1

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        name = self.make_and_validate_key(key, version)
        row = self._connection.execute(
            f"SELECT value FROM entries WHERE {_LIVE}",  # noqa: S608 - a constant
            (name, time.time()),
        ).fetchone()
        return default if row is None else _unpacked(row[0])

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        name = self.make_and_validate_key(key, version)
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)",
                (name, _packed(value), self.get_backend_timeout(timeout)),
            )

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        name = self.make_and_validate_key(key, version)
        with self._writing() as connection:
            touched = connection.execute(
                f"UPDATE entries SET expires_at = ? WHERE {_LIVE}",  # noqa: S608 - a constant
                (self.get_backend_timeout(timeout), name, time.time()),
            )
            return touched.rowcount == 1

    def delete(self, key: str, version: int | None = None) -> bool:
        name = self.make_and_validate_key(key, version)
        with self._writing() as connection:
            gone = connection.execute(
                f"DELETE FROM entries WHERE {_LIVE}",  # noqa: S608 - a constant
                (name, time.time()),
            )
            return gone.rowcount == 1

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """The new count. Raises ValueError when there is no such key or it is no count."""
        name = self.make_and_validate_key(key, version)
        with self._writing() as connection:
            now = time.time()
            connection.execute(
                f"UPDATE entries SET value = value + ? WHERE {_LIVE}"  # noqa: S608 - a constant
                " AND typeof(value) = 'integer'",
                (delta, name, now),
            )
            row = connection.execute(
                f"SELECT value FROM entries WHERE {_LIVE}",  # noqa: S608 - a constant
                (name, now),
            ).fetchone()
        if row is None or not isinstance(row[0], int):
            raise ValueError(f"There is no count {key!r}.")
        return row[0]

    def clear(self) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM entries")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its beginning."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._sweep(connection)
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _sweep(self, connection: sqlite3.Connection) -> None:
        self._local.writes = (self._local.writes + 1) % SWEEP_EVERY
        if self._local.writes == 0:
            connection.execute("DELETE FROM entries WHERE expires_at <= ?", (time.time(),))

    @property
    def _connection(self) -> sqlite3.Connection:
        """This thread's own connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
            self._local.writes = 0
        return connection

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        # What a power cut takes is at worst a minute's counting.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_SCHEMA)
        return connection


def _packed(value: Any) -> int | bytes:
    return value if type(value) is int else pickle.dumps(value)


def _unpacked(value: int | bytes) -> Any:
    return value if isinstance(value, int) else pickle.loads(value)  # noqa: S301 - our own file
