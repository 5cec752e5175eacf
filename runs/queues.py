"""The task queue: Huey on Redis where there is one, else on SQLite in the data folder.

A task only says "look"; what is to be done is a row in the database, so a lost task costs nothing.
"""

from __future__ import annotations

from django.conf import settings
from huey import Huey, RedisHuey, SqliteHuey

from bench_loop import config


def _queue() -> Huey:
    if settings.REDIS_URL:
        return RedisHuey("benchloop", url=settings.REDIS_URL, immediate=False, results=False)
    return SqliteHuey(
        "benchloop",
        filename=str(config.home() / "queue.sqlite3"),
        immediate=False,
        results=False,
        timeout=20,
    )


queue = _queue()
