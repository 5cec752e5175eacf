"""Databases of the tests' own on a real server."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from tests.components import need_postgresql


@contextmanager
def postgresql_database() -> Iterator[str]:
    """URL of a new, empty PostgreSQL database, dropped at the end."""
    server = need_postgresql()
    name = f"benchloop_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
