"""Streams of a model server, made into one ChatReply: pure, from bytes and their arrival times."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bench_loop.contracts.chat import (
    ArrivalGaps,
    ChatReply,
    EngineTimings,
    FinishReason,
    StreamFacts,
    TokenCounts,
    ToolCall,
)
from bench_loop.contracts.provider import Watch
from bench_loop.providers import _faults
from bench_loop.providers._text import parse_json, storable

MAX_LINE_BYTES = 16 * 2**20

_FINISH: dict[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "abort": "error",
    "content_filter": "error",
    "error": "error",
}
"""Servers' words for why they stopped; every other word is taken as `stop`."""


@dataclass(frozen=True, slots=True)
class CallPart:
    """One piece of a tool call. Strings add up over pieces; None and "" add nothing."""

    index: int | None
    id: str | None
    name: str | None
    arguments: str | dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What one event of a stream adds to the reply; None says nothing about that part."""

    text: str = ""
    thinking: str = ""
    calls: tuple[CallPart, ...] = ()
    finish: str | None = None
    model: str | None = None
    tokens: Callable[[], TokenCounts | None] | None = None
    """Reads the counts of this event: only those of the last event are needed."""
    timings: Callable[[], EngineTimings | None] | None = None
    is_last: bool = False

    @property
    def has_token(self) -> bool:
        """Whether it carries anything that the model generated; a bare role does not."""
        return bool(self.text or self.thinking or self.calls)

    @property
    def characters(self) -> int:
        """How much of the reply it carries."""
        calls = sum(len(part.arguments) for part in self.calls if isinstance(part.arguments, str))
        return len(self.text) + len(self.thinking) + calls


ParseLine = Callable[[str], Delta | None]
"""One line of a stream, without its end, to what it adds; raises ProviderError for nonsense."""


class StreamReader:
    """Takes the bytes of one stream as they come; `reply` is what they amounted to.

    Any cutting of the same bytes into pieces gives the same reply, time marks apart.
    """

    def __init__(self, parse_line: ParseLine, max_tokens: int, watch: Watch | None = None) -> None:
        self._parse_line = parse_line
        self._max_tokens = max_tokens
        self._watch = watch
        self._rest = b""
        self._deltas = _Sum()

    def feed(self, data: bytes, at_s: float) -> bool:
        """Take the bytes that arrived `at_s` after sending; True when the stream is complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise _faults.broken_stream("a line of it has no end")
        for line in lines:
            self._take(line, at_s)
        return self._deltas.is_last

    @property
    def has_event(self) -> bool:
        """Whether anything came that a model server says."""
        return self._deltas.has_event

    @property
    def is_complete(self) -> bool:
        """Whether the server said that it was done."""
        return self._deltas.is_complete

    @property
    def has_finish_reason(self) -> bool:
        """Whether the server said why it stopped."""
        return self._deltas.finish is not None

    def reply(self, end_s: float, first_byte_s: float | None, *, is_cut: bool) -> ChatReply:
        """The whole reply. Raises EngineRejectedError when the stream broke off.

        `is_cut` says that it was BenchLoop that ended it: then what came is the reply, with
        finish reason `limit`.
        """
        if not is_cut:
            self._take(self._rest, end_s)
            self._rest = b""
        deltas = self._deltas
        if not deltas.is_complete and not is_cut:
            why = "it ended too early" if deltas.has_event else "it is empty"
            raise _faults.broken_stream(why)
        return deltas.reply(
            end_s, first_byte_s, self._max_tokens, is_cut=is_cut and not deltas.is_complete
        )

    def _take(self, line: bytes, at_s: float) -> None:
        if self._deltas.is_last:
            return
        text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        delta = self._parse_line(text) if text else None
        if delta is None:
            return
        self._deltas.add(delta, at_s)
        piece = delta.thinking + delta.text
        if piece and self._watch is not None:
            self._watch(storable(piece))


@dataclass(slots=True)
class _Call:
    """A tool call under construction."""

    id: str | None = None
    name: str = ""
    arguments: str = ""
    parts: int = 0

    @property
    def came_whole(self) -> bool:
        """Whether one event brought all of it, so that nobody saw when its first token was."""
        return self.parts == 1 and bool(self.arguments)

    def add(self, part: CallPart) -> None:
        self.parts += 1
        self.id = self.id or part.id
        if part.name and part.name != self.name:
            self.name += part.name
        if isinstance(part.arguments, dict):
            self.arguments += json.dumps(part.arguments, ensure_ascii=False)
        elif part.arguments:
            self.arguments += part.arguments

    def is_another(self, part: CallPart) -> bool:
        """Whether `part` begins a new call although its place says that it goes on with this."""
        if part.id and self.id:
            return part.id != self.id
        begins_anew = bool(part.name and self.arguments)
        return begins_anew and (part.index is None or part.name != self.name)


@dataclass(slots=True)
class _Sum:
    """All deltas of a stream so far."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    call_at: dict[int | None, _Call] = field(default_factory=dict)
    finish: str | None = None
    model: str | None = None
    read_tokens: Callable[[], TokenCounts | None] | None = None
    read_timings: Callable[[], EngineTimings | None] | None = None
    has_event: bool = False
    is_last: bool = False
    events: int = 0
    arrivals: list[float] = field(default_factory=list)
    first_event_tokens: int | None = None
    first_event_characters: int = 0
    characters: int = 0
    first_thinking_s: float | None = None
    first_answer_s: float | None = None
    is_first_answer_a_call: bool = False
    last_s: float | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the server said that it was done: a finish reason, or the mark of the end."""
        return self.is_last or self.finish is not None

    def add(self, delta: Delta, at_s: float) -> None:
        self.has_event = True
        self.text.append(delta.text)
        self.thinking.append(delta.thinking)
        for part in delta.calls:
            self._add_call(part)
        self.finish = delta.finish or self.finish
        self.model = delta.model or self.model
        self.read_tokens = delta.tokens or self.read_tokens
        self.read_timings = delta.timings or self.read_timings
        self.is_last = self.is_last or delta.is_last
        if delta.has_token:
            self._mark(delta, at_s)

    def _add_call(self, part: CallPart) -> None:
        call = self.call_at.get(part.index)
        if call is None or call.is_another(part):
            call = self.call_at[part.index] = _Call()
            self.calls.append(call)
        call.add(part)

    def _mark(self, delta: Delta, at_s: float) -> None:
        if self.events == 0:
            self.first_event_characters = delta.characters
            timings = delta.timings() if delta.timings is not None else None
            if timings is not None:
                self.first_event_tokens = max(1, timings.generated_tokens or 1)
        self.events += 1
        self.characters += delta.characters
        if at_s != self.last_s:
            self.arrivals.append(at_s)
            self.last_s = at_s
        if delta.thinking and self.first_thinking_s is None:
            self.first_thinking_s = at_s
        if (delta.text or delta.calls) and self.first_answer_s is None:
            self.first_answer_s = at_s
            self.is_first_answer_a_call = not delta.text

    @property
    def seen_first_answer_s(self) -> float | None:
        """When the first token of the answer came; None where a tool call came in one piece."""
        is_unseen = self.is_first_answer_a_call and self.calls[0].came_whole
        return None if is_unseen else self.first_answer_s

    def reply(
        self, end_s: float, first_byte_s: float | None, max_tokens: int, *, is_cut: bool
    ) -> ChatReply:
        calls = tuple(_tool_call(call) for call in self.calls)
        tokens = self._tokens()
        return ChatReply(
            text=storable("".join(self.text)),
            thinking=storable("".join(self.thinking)),
            tool_calls=calls,
            finish_reason="limit" if is_cut else self._finish_reason(max_tokens, tokens),
            model_id=self.model,
            latency_s=end_s,
            t_first_byte_s=first_byte_s,
            t_first_thinking_s=self.first_thinking_s,
            t_first_answer_s=self.seen_first_answer_s,
            t_last_s=self.last_s,
            tokens=tokens,
            engine_timings=self.read_timings() if self.read_timings is not None else None,
            stream=StreamFacts(
                events=self.events,
                distinct_arrivals=len(self.arrivals),
                gaps=arrival_gaps(self.arrivals),
                first_event_tokens=self._first_event_tokens(tokens),
            ),
        )

    def _finish_reason(self, max_tokens: int, tokens: TokenCounts) -> FinishReason:
        """The reason in our words; a server that gives none is judged by its token count."""
        if self.finish is None:
            is_full = (tokens.completion or 0) >= max_tokens > 0
            return "length" if is_full else "stop"
        reason = _FINISH.get(self.finish, "stop")
        return "tool_calls" if reason == "stop" and self.calls else reason

    def _first_event_tokens(self, tokens: TokenCounts) -> int:
        """Tokens of the first event: the engine's count, else its share of the characters.

        Where there are as many events as tokens (the end token brings none) it is one.
        """
        if self.first_event_tokens is not None:
            return self.first_event_tokens
        completion = tokens.completion or 0
        if completion <= self.events + 1 or not self.characters:
            return 1
        return max(1, round(completion * self.first_event_characters / self.characters))

    def _tokens(self) -> TokenCounts:
        """The counts, where a zero beside generated text is no count but an unknown one."""
        read = self.read_tokens() if self.read_tokens is not None else None
        tokens = read or TokenCounts()
        if self.events and tokens.completion == 0:
            return tokens.model_copy(update={"completion": None})
        return tokens


def arrival_gaps(arrivals: Sequence[float]) -> ArrivalGaps | None:
    """Percentiles (nearest rank) of the pauses between arrivals; None of fewer than two pauses."""
    gaps = sorted(later - earlier for earlier, later in pairwise(arrivals))
    if len(gaps) < 2:
        return None
    p50, p95, p99 = (gaps[math.ceil(share * len(gaps) / 100) - 1] for share in (50, 95, 99))
    return ArrivalGaps(p50_s=p50, p95_s=p95, p99_s=p99)


def _tool_call(call: _Call) -> ToolCall:
    return ToolCall(
        id=storable(call.id) if call.id else None,
        name=storable(call.name),
        arguments=storable(call.arguments),
    )


def event_json(text: str) -> dict[str, Any]:
    """The JSON object of one event. Raises EngineRejectedError when it is none."""
    try:
        value = parse_json(text)
    except ValueError:
        raise _faults.broken_stream("an event of it is no JSON") from None
    if not isinstance(value, dict):
        raise _faults.broken_stream("an event of it is no JSON object")
    return value
