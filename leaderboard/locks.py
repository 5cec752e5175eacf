"""Who waits for whom: names first, then leagues in the order of their keys, then rows.

Every change takes its locks in this order and holds them until its transaction ends, so that none
can wait in a circle. On SQLite a transaction that writes is alone anyway.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

from leaderboard.models import League

_NAMES = 0x62656E63
"""Number of PostgreSQL's advisory lock on the names of models; any would do."""


def share_names() -> None:
    """Until the transaction ends nobody changes which model a name means; others may share this."""
    _lock("pg_advisory_xact_lock_shared")


def own_names() -> None:
    """Until the transaction ends nobody else reads or changes which model a name means."""
    _lock("pg_advisory_xact_lock")


def lock_leagues(keys: Iterable[str]) -> dict[str, League]:
    """The leagues with these keys, made where they are new, held until the transaction ends."""
    wanted = sorted(set(keys))
    for key in wanted:
        League.objects.get_or_create(key=key)
    held = League.objects.select_for_update(no_key=True).filter(key__in=wanted).order_by("key")
    return {league.key: league for league in held}


def _lock(function: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [_NAMES])
