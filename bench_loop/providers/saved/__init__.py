"""Reads a chat answer that was saved to a file, by the parsers of the providers that receive it.

A folder, since it is no provider itself.
"""

from __future__ import annotations

import json
from typing import Literal

from bench_loop.contracts.chat import ChatReply
from bench_loop.providers import _faults, _ollama_chat, _openai_chat
from bench_loop.providers._stream import ParseLine, StreamReader
from bench_loop.providers._text import parse_json

SavedFormat = Literal["json", "sse", "ndjson"]
"""`json`: one whole answer of an OpenAI-compatible server or of Ollama. `sse`: the event stream of
the former. `ndjson`: the stream of the latter."""


def read_saved(data: bytes, form: SavedFormat) -> ChatReply:
    """The reply that `data` amounts to; its times are all 0.

    Raises EngineRejectedError where a provider would: an error in place of an answer, a stream
    that broke off, something that is no answer of a model server.
    """
    if form == "json":
        data, parse_line = _whole_answer(data)
    else:
        parse_line = _openai_chat.parse_line if form == "sse" else _ollama_chat.parse_line
    reader = StreamReader(parse_line, max_tokens=0)
    reader.feed(data, 0.0)
    return reader.reply(0.0, 0.0, is_cut=False)


def _whole_answer(data: bytes) -> tuple[bytes, ParseLine]:
    """One answer on one line, and the parser of the dialect that it is in."""
    try:
        value = parse_json(data)
    except ValueError:
        raise _faults.broken_stream("it is no JSON") from None
    is_ollamas = isinstance(value, dict) and "choices" not in value and "done" in value
    line = json.dumps(value).encode()
    return line, _ollama_chat.parse_line if is_ollamas else _openai_chat.parse_line
