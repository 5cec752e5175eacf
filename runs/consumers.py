"""The websocket of run events: read-only, resumes after the last event that the client saw."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer

from runs.feed import TooSlowError, feed

TRY_AGAIN_LATER = 1013
POLICY_VIOLATION = 1008
LARGEST_ID = 2**63 - 1


def read_after(query_string: bytes) -> int | None:
    """The `after` parameter: None when there is none. Raises ValueError when it is no event id."""
    values = parse_qs(query_string.decode("ascii"), keep_blank_values=True).get("after")
    if values is None:
        return None
    if len(values) != 1 or not values[0].isascii() or not values[0].isdigit():
        raise ValueError("after must be one event id")
    return min(int(values[0][:20]), LARGEST_ID)


class EventsConsumer(AsyncWebsocketConsumer):
    """`/ws/events/?after=<id>`: every event after that one, then each as it comes."""

    _sender: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        try:
            after = read_after(self.scope["query_string"])
        except ValueError:
            await self.close(code=POLICY_VIOLATION)
            return
        await self.accept()
        self._sender = asyncio.create_task(self._send_events(after))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing is taken from watchers."""

    async def disconnect(self, code: int) -> None:
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.wait([self._sender])

    async def _send_events(self, after: int | None) -> None:
        try:
            async for message in feed.watch(after):
                await self.send(text_data=message)
        except TooSlowError:
            await self.close(code=TRY_AGAIN_LATER)
