"""Live events: one reader of the event table per process, fanned out to all who watch."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

from channels.db import database_sync_to_async
from django.db import DatabaseError

from runs.models import RunEvent

logger = logging.getLogger("benchloop.runs")

POLL_S = 0.2
PAGE = 500
BACKLOG = 1000
"""Events that a slow watcher may lie behind; then it is dropped and resumes from the table."""


class TooSlowError(Exception):
    """The watcher did not keep up; it may come back with the last id that it saw."""


def messages_after(last_id: int) -> list[tuple[int, str]]:
    """Up to PAGE events after `last_id`, oldest first, as (id, JSON)."""
    events = RunEvent.objects.filter(id__gt=last_id).select_related("run").order_by("id")[:PAGE]
    return [(event.pk, json.dumps(event.message())) for event in events]


def last_event_id() -> int:
    return RunEvent.objects.order_by("-id").values_list("id", flat=True).first() or 0


class EventFeed:
    """Reads new events every POLL_S seconds while anybody watches, and encodes each once."""

    def __init__(self) -> None:
        self._watchers: set[asyncio.Queue[tuple[int, str]]] = set()
        self._reader: asyncio.Task[None] | None = None

    async def watch(self, after: int | None) -> AsyncIterator[str]:
        """Every event after `after` (None: from now on), first those stored, then as they come.

        Raises TooSlowError.
        """
        live: asyncio.Queue[tuple[int, str]] = asyncio.Queue(BACKLOG)
        newest = await database_sync_to_async(last_event_id)()
        last = newest if after is None else after
        self._watchers.add(live)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read(newest))
        try:
            while page := await database_sync_to_async(messages_after)(last):
                for event_id, message in page:
                    last = event_id
                    yield message
            while True:
                event_id, message = await live.get()
                if event_id > last:
                    last = event_id
                    yield message
                if live not in self._watchers:
                    raise TooSlowError
        finally:
            self._watchers.discard(live)

    async def _read(self, last: int) -> None:
        while self._watchers:
            await asyncio.sleep(POLL_S)
            try:
                page = await database_sync_to_async(messages_after)(last)
            except DatabaseError:
                logger.exception("The event table cannot be read; trying again.")
                continue
            for event_id, message in page:
                last = event_id
                self._hand_out(event_id, message)

    def _hand_out(self, event_id: int, message: str) -> None:
        for live in list(self._watchers):
            try:
                live.put_nowait((event_id, message))
            except asyncio.QueueFull:
                self._watchers.discard(live)


feed = EventFeed()
