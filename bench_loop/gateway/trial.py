"""What passes through the gateway in one trial: counted, limited and kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from bench_loop.contracts.chat import ChatReply
from bench_loop.contracts.provider import Watch
from bench_loop.contracts.verifier import Limit
from bench_loop.errors import ProviderError
from bench_loop.gateway.limits import Limits, Used, reached, tokens_left
from bench_loop.gateway.passage import NO_JSON, Passage
from bench_loop.gateway.pinning import Api, Pins
from bench_loop.gateway.record import Exchange, Probe
from bench_loop.providers._text import shown
from bench_loop.result.records import RequestRecord

MOST_REQUESTS = 1000
"""Of one trial, whatever its limits say."""
MOST_REFUSED = 100
"""Refused requests of one trial that are kept; the others are counted."""
MOST_PROBES = 100

Refusal = Limit | Literal["body"]


@dataclass(frozen=True, slots=True)
class _Open:
    """A request under way."""

    number: int
    tokens: int
    """The most that its reply may have."""


class GatedTrial:
    """One trial, open until `close()`. Made by `Gateway.open()`; may be read from any thread."""

    def __init__(
        self,
        key: str,
        pins: Pins,
        limits: Limits,
        close: Callable[[GatedTrial], None],
        watch: Watch | None = None,
    ) -> None:
        self.key = key
        self.limit: Limit | None = None
        """The first limit for which a request was refused; None: none was."""
        self.refused_count = 0
        self._pins = pins
        most = MOST_REQUESTS if limits.requests is None else min(limits.requests, MOST_REQUESTS)
        self.limits = replace(limits, requests=most)
        self._close = close
        self._watch = watch
        self._began = time.perf_counter()
        self._exchanges: dict[int, Exchange | None] = {}
        """By the number of the request; None: it is under way. Bodies are not kept."""
        self._open: dict[Passage, _Open] = {}
        self._is_one_over = asyncio.Event()
        self._probes: list[Probe] = []
        self._tries: dict[bytes, int] = {}
        self._sent = 0
        self._turns = 0
        self._tokens = 0
        self._prompt: tuple[list[Any], int] = ([], 0)

    def exchanges(self) -> tuple[Exchange, ...]:
        """All that is over, in the order in which the harness asked."""
        return tuple(e for e in tuple(self._exchanges.values()) if e is not None)

    def requests(self) -> tuple[RequestRecord, ...]:
        """The record of each request for a reply, refused ones included."""
        return tuple(exchange.record for exchange in self.exchanges())

    def replies(self) -> tuple[ChatReply, ...]:
        """What the model said, each time that it said something whole."""
        return tuple(e.reply for e in self.exchanges() if e.reply is not None)

    def failures(self) -> tuple[ProviderError, ...]:
        """What was wrong with the model server or with its answers, but for faults put in."""
        real = (e for e in self.exchanges() if e.record.fault is None)
        return tuple(e.failure for e in real if e.failure is not None)

    def probes(self) -> tuple[Probe, ...]:
        """What else was asked for, the first MOST_PROBES."""
        return tuple(self._probes)

    @property
    def is_waiting(self) -> bool:
        """Whether the harness is waiting for the model now."""
        return None in tuple(self._exchanges.values())

    @property
    def age_s(self) -> float:
        """Seconds since the trial was opened."""
        return time.perf_counter() - self._began

    def close(self) -> None:
        """Hang up on the model, and know the key no more. All is recorded after this."""
        self._close(self)

    def probed(self, method: str, path: str, status: int) -> None:
        """Note a request for something else than a reply."""
        if len(self._probes) < MOST_PROBES:
            self._probes.append(Probe(self.age_s, shown(method, 20), shown(path, 200), status))

    async def begin(self, api: Api, raw: bytes) -> tuple[Passage, Refusal | None]:
        """Take a request in, and say why it must not be sent; None: it is under way now.

        One that might use tokens which those under way may still need waits for them: together
        they would have more than the trial.
        """
        passage = Passage(api, raw, self.age_s)
        while not self._has_room(passage):
            self._is_one_over.clear()
            await self._is_one_over.wait()
        passage.retry = self._tries.get(passage.digest, 0)
        used = Used(self._sent, self._tokens, self.age_s)
        limit = reached(self.limits, used)
        if limit is not None:
            self.limit = self.limit or limit
            self._refuse(passage, limit)
            return passage, limit
        pins = self._pins_for(passage, used)
        if not passage.pin(pins):
            self._refuse(passage, "body", NO_JSON)
            return passage, "body"
        self._send(passage, pins)
        return passage, None

    def refuse_body(self, api: Api) -> None:
        """Note a request whose body was too large to be taken in."""
        self._refuse(Passage(api, b"", self.age_s), "body")

    @property
    def next_turn(self) -> int:
        """The number of the next reply."""
        return self._turns + 1

    def finish(self, passage: Passage, exchange: Exchange) -> None:
        """Keep what came of a request that was sent."""
        self._exchanges[self._open.pop(passage).number] = exchange
        self._is_one_over.set()
        self._turns += exchange.reply is not None
        self._tokens += exchange.generated_tokens
        self._count_try(passage, is_failed=exchange.reply is None)
        if exchange.reply is not None and exchange.reply.tokens.prompt is not None:
            self._prompt = (passage.messages, exchange.reply.tokens.prompt)

    def _has_room(self, passage: Passage) -> bool:
        """Whether its tokens are left beside those that the requests under way may generate."""
        taken = sum(one.tokens for one in self._open.values())
        left = tokens_left(self.limits, Used(self._sent, self._tokens + taken, 0.0))
        return not taken or left is None or passage.budget(self._pins.answer_tokens) <= left

    def _send(self, passage: Passage, pins: Pins) -> None:
        number = len(self._exchanges)
        self._exchanges[number] = None
        self._open[passage] = _Open(number, passage.budget(pins.answer_tokens))
        self._sent += 1
        passage.send(pins.answer_tokens, self._watch)

    def _refuse(self, passage: Passage, why: Refusal, error: str | None = None) -> None:
        self.refused_count += 1
        if self.refused_count <= MOST_REFUSED:
            self._count_try(passage, is_failed=True)
            self._exchanges[len(self._exchanges)] = passage.refuse(why, error)

    def _count_try(self, passage: Passage, *, is_failed: bool) -> None:
        if is_failed:
            self._tries[passage.digest] = passage.retry + 1
        else:
            self._tries.pop(passage.digest, None)

    def _pins_for(self, passage: Passage, used: Used) -> Pins:
        """The pins, with what window and trial leave for the next reply."""
        bounds = [self._pins.answer_tokens]
        if (left := tokens_left(self.limits, used)) is not None:
            bounds.append(left)
        if self._pins.context_window is not None:
            bounds.append(max(1, self._pins.context_window - self._known_tokens(passage)))
        return replace(self._pins, answer_tokens=min(bounds))

    def _known_tokens(self, passage: Passage) -> int:
        """Tokens that the prompt has at least: those of the prompt that it goes on with."""
        messages, tokens = self._prompt
        goes_on = bool(messages) and passage.messages[: len(messages)] == messages
        return tokens if goes_on else 0
