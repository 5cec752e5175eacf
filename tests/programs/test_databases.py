"""A program's database is read in bounds, and whatever a model made of it does no harm."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from bench_loop.programs import databases
from bench_loop.programs.databases import read_rows

QUERY = "SELECT id, text FROM messages ORDER BY id"


def _database(path: Path, *texts: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, text TEXT)")
    connection.executemany("INSERT INTO messages (text) VALUES (?)", [(text,) for text in texts])
    connection.commit()
    return connection


def test_it_gives_the_rows_of_the_query(tmp_path: Path) -> None:
    _database(tmp_path / "state.db", "one", "two").close()
    assert read_rows(tmp_path, "state.db", QUERY) == [(1, "one"), (2, "two")]


def test_it_reads_what_a_killed_program_left_in_the_write_ahead_log(tmp_path: Path) -> None:
    writer = sqlite3.connect(tmp_path / "first.db")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.close()
    writer = _database(tmp_path / "first.db", "late")
    shutil.copy(tmp_path / "first.db", tmp_path / "state.db")
    shutil.copy(tmp_path / "first.db-wal", tmp_path / "state.db-wal")
    writer.close()
    assert read_rows(tmp_path, "state.db", QUERY) == [(1, "late")]


def test_it_writes_nothing_beside_the_database(tmp_path: Path) -> None:
    _database(tmp_path / "state.db", "one").close()
    read_rows(tmp_path, "state.db", QUERY)
    assert [path.name for path in tmp_path.iterdir()] == ["state.db"]


def test_a_missing_database_is_none(tmp_path: Path) -> None:
    assert read_rows(tmp_path, "state.db", QUERY) is None


def test_a_file_that_is_no_database_is_none(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"no database at all" * 100)
    assert read_rows(tmp_path, "state.db", QUERY) is None


def test_a_link_in_place_of_the_database_is_not_followed(tmp_path: Path) -> None:
    _database(tmp_path / "secret.db", "secret").close()
    state = tmp_path / "state"
    state.mkdir()
    (state / "state.db").symlink_to(tmp_path / "secret.db")
    assert read_rows(state, "state.db", QUERY) is None


def test_a_folder_that_is_a_link_out_of_the_state_is_not_entered(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    _database(outside / "state.db", "secret").close()
    state = tmp_path / "state"
    state.mkdir()
    (state / "agents").symlink_to(outside)
    assert read_rows(state, "agents/state.db", QUERY) is None


def test_a_pipe_in_place_of_the_database_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "state.db")
    assert read_rows(tmp_path, "state.db", QUERY) is None


def test_a_database_over_the_bound_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _database(tmp_path / "state.db", "one").close()
    monkeypatch.setattr(databases, "MOST_BYTES", 4096)
    assert read_rows(tmp_path, "state.db", QUERY) is None


def test_it_stops_at_the_most_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _database(tmp_path / "state.db", *"abcdef").close()
    monkeypatch.setattr(databases, "MOST_ROWS", 2)
    assert read_rows(tmp_path, "state.db", QUERY) == [(1, "a"), (2, "b")]


def test_a_view_without_end_in_place_of_the_table_is_given_up(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute(
        "CREATE VIEW messages AS WITH RECURSIVE n(id) AS "
        "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'x' AS text FROM n"
    )
    connection.commit()
    connection.close()
    started = time.monotonic()
    assert read_rows(tmp_path, "state.db", QUERY) is None
    assert time.monotonic() - started < 60


def test_a_view_in_place_of_the_table_is_refused(tmp_path: Path) -> None:
    """A small database could say very much by one."""
    connection = _database(tmp_path / "state.db", *"abcdef")
    connection.execute("ALTER TABLE messages RENAME TO others")
    connection.execute("CREATE VIEW messages AS SELECT a.id, b.text FROM others AS a, others AS b")
    connection.commit()
    connection.close()
    assert read_rows(tmp_path, "state.db", QUERY) is None


def test_it_stops_at_the_most_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _database(tmp_path / "state.db", "a" * 50, "b" * 50, "c" * 50).close()
    monkeypatch.setattr(databases, "MOST_TEXT_BYTES", 120)
    assert [row[0] for row in read_rows(tmp_path, "state.db", QUERY) or ()] == [1, 2]


def test_links_in_a_circle_lead_to_no_database(tmp_path: Path) -> None:
    (tmp_path / "agents").symlink_to(tmp_path / "agents")
    assert read_rows(tmp_path, "agents/state.db", QUERY) is None


def test_a_view_that_calls_a_function_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute("CREATE VIEW messages AS SELECT 1 AS id, hex(zeroblob(9)) AS text")
    connection.commit()
    connection.close()
    assert read_rows(tmp_path, "state.db", QUERY) is None


def test_a_table_whose_checks_call_functions_is_read(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "state.db")
    connection.execute("CREATE TABLE messages (id INTEGER, text TEXT CHECK (json_valid(text)))")
    connection.execute("INSERT INTO messages VALUES (1, '{}')")
    connection.commit()
    connection.close()
    assert read_rows(tmp_path, "state.db", QUERY) == [(1, "{}")]


def test_text_that_is_no_utf8_is_replaced(tmp_path: Path) -> None:
    connection = _database(tmp_path / "state.db")
    connection.execute("INSERT INTO messages (text) VALUES (CAST(x'61ff62' AS TEXT))")
    connection.commit()
    connection.close()
    assert read_rows(tmp_path, "state.db", QUERY) == [(1, "a�b")]


def test_a_query_that_would_write_is_refused(tmp_path: Path) -> None:
    _database(tmp_path / "state.db", "one").close()
    assert read_rows(tmp_path, "state.db", "DELETE FROM messages RETURNING id") is None
