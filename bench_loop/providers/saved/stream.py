"""Reads a stream that was written down: its bytes, its network chunks, or its lines with times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bench_loop.contracts.chat import ChatReply
from bench_loop.errors import BrokenStreamError, EngineRejectedError
from bench_loop.providers import _ollama_chat, _openai_chat
from bench_loop.providers._stream import StreamReader

Dialect = Literal["openai", "ollama"]
State = Literal["complete", "incomplete", "error"]

_PARSERS = {"openai": _openai_chat.parse_line, "ollama": _ollama_chat.parse_line}


@dataclass(frozen=True, slots=True)
class SavedStream:
    """What a stream amounted to, whole or not."""

    reply: ChatReply
    """All that came; its times are those of the pieces."""
    state: State
    """incomplete: it ended before the server said that it was done."""
    finish_reason: str | None
    """None where the server gave none, or none that can be trusted."""
    error: str | None = None
    """A sentence; None for a complete stream."""
    reason: str | None = None
    """empty_stream, provider_error (the server said so), broken_stream, or incomplete_stream."""


def read_stream(pieces: Iterable[tuple[float, bytes]], dialect: Dialect) -> SavedStream:
    """The stream whose pieces arrived at these times, in seconds after the request was sent."""
    reader = StreamReader(_PARSERS[dialect], max_tokens=0)
    first_s, at_s = None, 0.0
    state: State = "error"
    error, reason = None, None
    try:
        for at_s, data in pieces:
            first_s = at_s if first_s is None and data else first_s
            reader.feed(data, at_s)
        reader.feed(b"\n", at_s)  # the last line may have no end
    except BrokenStreamError as broken:
        error, reason = broken.message, "broken_stream"
    except EngineRejectedError as refused:
        error, reason = refused.message, "provider_error"
    else:
        if reader.is_complete:
            state = "complete"
        elif reader.has_event:
            state, error, reason = "incomplete", "It ended too early.", "incomplete_stream"
        else:
            error, reason = "It is empty.", "empty_stream"
    reply = reader.reply(at_s, first_s, is_cut=True)
    is_told = state == "complete" and reader.has_finish_reason
    return SavedStream(reply, state, reply.finish_reason if is_told else None, error, reason)
