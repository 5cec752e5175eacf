"""Has the database itself refuse to change or delete the audit trail."""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "submissions_auditevent"

_SQLITE = tuple(
    f"CREATE TRIGGER IF NOT EXISTS {TABLE}_no_{verb} BEFORE {verb} ON {TABLE} "
    "BEGIN SELECT RAISE(ABORT, 'The audit trail is never changed.'); END"
    for verb in ("update", "delete")
)
_POSTGRESQL = (
    f"CREATE OR REPLACE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'The audit trail is never changed.'; END $$",
    f"CREATE OR REPLACE TRIGGER {TABLE}_no_change BEFORE UPDATE OR DELETE ON {TABLE} "
    f"FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse()",
)
_ADD = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
_REMOVE = {
    "sqlite": tuple(f"DROP TRIGGER IF EXISTS {TABLE}_no_{verb}" for verb in ("update", "delete")),
    "postgresql": (f"DROP TRIGGER IF EXISTS {TABLE}_no_change ON {TABLE}",),
}


def protect(connection: BaseDatabaseWrapper) -> None:
    """Add the triggers where they are missing.

    After every migration, since SQLite loses them when a migration makes the table anew.
    """
    _execute(connection, _ADD.get(connection.vendor, ()))


def unprotect(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away, for who empties a whole database."""
    _execute(connection, _REMOVE.get(connection.vendor, ()))


def _execute(connection: BaseDatabaseWrapper, statements: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
