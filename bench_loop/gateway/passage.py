"""One request on its way through the gateway: what it asked, what was sent, what came back."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from bench_loop.contracts.chat import ChatReply, FinishReason, TokenCounts
from bench_loop.contracts.provider import Watch
from bench_loop.contracts.verifier import Limit
from bench_loop.errors import ProviderError
from bench_loop.gateway.pinning import Api, Pins, budget, pin
from bench_loop.gateway.reading import Reading, cut_answer, no_answer
from bench_loop.gateway.record import Exchange, call_records, offered_tools
from bench_loop.result.records import RequestChange, RequestRecord

HUNG_UP = "The harness hung up before the answer was complete."
NO_JSON = "The harness sent a body that is no JSON object, or one of far too many parts."

MOST_PARTS = 3_000_000
"""Of a body; a part takes a hundred times the memory of its text, and the longest prompts have a
tenth of that."""

_PROMPT = {"chat": "messages", "responses": "input"}


class Passage:
    """Used by one task of the event loop. Ends in an Exchange, in one of four ways."""

    retry = 0
    """Tries of the same body that failed just before."""

    def __init__(self, api: Api, raw: bytes, began_s: float) -> None:
        """`raw` is the body as it came, `began_s` the age of the trial."""
        self.digest = hashlib.sha256(raw).digest()
        """Of the body as it came: by it a retry is known."""
        self.body = raw
        """What goes upstream."""
        self.asked, self._is_ambiguous = _object(raw)
        self._api = api
        self._began_s = began_s
        self._changes: tuple[RequestChange, ...] = ()
        self._sent = time.perf_counter()
        self._ended: float | None = None
        self._fault: str | None = None
        self._reading = Reading(api, 0)

    @property
    def messages(self) -> list[Any]:
        """The conversation so far; empty where there is none to be read."""
        messages = (self.asked or {}).get(_PROMPT[self._api])
        return messages if isinstance(messages, list) else []

    def budget(self, most: int) -> int:
        """Tokens that its reply may have: what it asks for, at most `most`."""
        return budget(self.asked or {}, most)

    def pin(self, pins: Pins) -> bool:
        """Put the pins in; false for a body that none can be put into, as it is no JSON object.

        A field that is there twice is sent once: which one counts, each server decides for itself.
        """
        if self.asked is None:
            return False
        try:
            pinned = pin(self.asked, pins, self._api)
            if pinned.changes or self._is_ambiguous:
                self.body = json.dumps(pinned.body, allow_nan=False).encode()
        except (ValueError, RecursionError):  # it read what no standard JSON can say
            self.asked = None
            return False
        self._changes = pinned.changes
        return True

    def send(self, most_tokens: int, watch: Watch | None = None) -> None:
        """The clock of the request starts; its reply may have `most_tokens`."""
        self._reading = Reading(self._api, most_tokens, watch)
        self._sent = time.perf_counter()

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of the answer came."""
        self._reading.begin(status, headers, self._age_s)

    @property
    def is_begun(self) -> bool:
        """Whether there is an answer, or the beginning of one."""
        return self._reading.status is not None

    def take(self, piece: bytes, at: float) -> None:
        """A piece of the answer came `at` (perf_counter), and went on to the harness."""
        self._reading.take(piece, at - self._sent)

    def put_in(self, fault: str | None) -> None:
        """The answer holds a `fault` of BenchLoop's own; None: it does not."""
        self._fault = self._fault or fault

    def end(self, turn: int) -> Exchange:
        """The answer is over; its reply is number `turn`."""
        self._stop()
        try:
            reply = self._reading.end(self._age_s)
        except ProviderError as error:
            return self._broken(error)
        return self._answered(reply, turn)

    def fail(self, why: str, turn: int, fault: str | None = None) -> Exchange:
        """The model server gave no answer, or stopped in the middle of it."""
        self.put_in(fault)
        if self._reading.is_done:
            return self.end(turn)
        self._stop()
        return self._broken(cut_answer(why) if self.is_begun else no_answer(why))

    def hang_up(self, turn: int) -> Exchange:
        """The harness did not wait for the end, or the trial was closed.

        After an error of the server there was nothing more to wait for.
        """
        self._stop()
        if self._reading.fault is not None:
            return self._broken(self._reading.fault)
        reply = self._reading.cut(self._age_s)
        if reply is not None and self._reading.is_complete:
            return self._answered(reply, turn)
        return Exchange(self._record(reply, error=HUNG_UP), cut=reply)

    def refuse(self, why: Limit | Literal["body"], error: str | None = None) -> Exchange:
        """It was never sent: for a limit of the trial, or since its body is none to be sent."""
        return Exchange(self._record(None, refused=why, error=error))

    @property
    def _age_s(self) -> float:
        """Seconds since it was sent; of one that is over, until its end."""
        return (self._ended or time.perf_counter()) - self._sent

    def _stop(self) -> None:
        self._ended = time.perf_counter()

    def _answered(self, reply: ChatReply, turn: int) -> Exchange:
        return Exchange(self._record(reply, turn), reply)

    def _broken(self, failure: ProviderError) -> Exchange:
        cut = self._reading.cut(self._age_s)
        return Exchange(self._record(cut, error=failure.message), cut=cut, failure=failure)

    def _record(
        self,
        reply: ChatReply | None,
        turn: int | None = None,
        *,
        error: str | None = None,
        refused: str | None = None,
    ) -> RequestRecord:
        """`turn` None: what there is of `reply` is not the whole."""
        asked = self.asked or {}
        tools = offered_tools(asked)
        is_whole = turn is not None
        return RequestRecord(
            sent_s=self._began_s,
            latency_s=self._age_s if refused is None else 0.0,
            status=self._reading.status,
            retry=self.retry,
            finish_reason=_finish(reply, is_whole=is_whole),
            tokens=reply.tokens if reply is not None else TokenCounts(),
            error=error,
            t_first_byte_s=self._reading.first_byte_s,
            t_first_answer_s=reply.t_first_answer_s
            if reply is not None and self._reading.is_streamed
            else None,
            messages=len(self.messages) if self.asked is not None else None,
            tools_offered=len(tools),
            tool_calls=call_records(reply.tool_calls, tools, turn) if reply and turn else (),
            changes=self._changes,
            refused=refused,
            fault=self._fault,
        )


def _finish(reply: ChatReply | None, *, is_whole: bool) -> FinishReason | None:
    return reply.finish_reason if reply is not None and is_whole else None


def _object(raw: bytes) -> tuple[dict[str, Any] | None, bool]:
    """The JSON object in `raw`, and whether some object in it has a field twice.

    None where it is none by the standard; what some servers take beyond that (NaN) is nothing here.
    """
    is_ambiguous = False
    if sum(map(raw.count, (b",", b"[", b"{"))) > MOST_PARTS:
        return None, False

    def to_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_ambiguous
        value = dict(pairs)
        is_ambiguous = is_ambiguous or len(value) != len(pairs)
        return value

    try:
        value = json.loads(raw, object_pairs_hook=to_object, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None, False
    return (value if isinstance(value, dict) else None), is_ambiguous


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
