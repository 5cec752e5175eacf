"""What a model server did wrong, as one of our errors: the only place where they are mapped.

    nothing listens, no connection in time       ProviderError, transient
    429, 502, 503, 504                           ProviderError, transient, with Retry-After
    401, 403                                     ProviderError, remedy: the API key
    404 that speaks of a model                   ModelNotFoundError
    3xx, any other 404, the model will not load  ProviderError
    prompt longer than the window                EngineRejectedError `context_overflow`
    output that the engine could not parse, 4xx  EngineRejectedError `engine_rejected_output`
    500, an error or an end inside a stream      EngineRejectedError `engine_crashed`

Whether a fault is the server's or belongs to the stack under test is not decided here: the engine
sends a control request between tries (METHODOLOGY.md 1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench_loop.errors import (
    BrokenStreamError,
    EngineRejectedError,
    ModelNotFoundError,
    ProviderError,
)
from bench_loop.providers._text import as_dict, parse_json, shown

MAX_RETRY_AFTER_S = 300.0

_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|exceeds the available context"
    r"|maximum context length|input length exceeds|prompt is too long",
    re.IGNORECASE,
)
_UNPARSED_OUTPUT = re.compile(r"model produced output|peg-native|parse (the )?(output|tool call)")
_WILL_NOT_LOAD = re.compile(
    r"more system memory|(unable|failed) to load model|error loading model", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Server:
    """How messages call a model server, and what to do when it is not there."""

    title: str
    url: str
    remedy: str


def unreachable(server: Server) -> ProviderError:
    return ProviderError(
        f"{server.title} does not answer at {server.url}.",
        remedy=server.remedy,
        is_transient=True,
    )


def too_slow(server: Server, limit_s: float) -> ProviderError:
    return ProviderError(
        f"{server.title} at {server.url} did not answer within {limit_s:g} s.",
        remedy="See whether it is busy or still loading a model, then try again.",
        is_transient=True,
    )


def not_a_model_server(server: Server, why: str) -> ProviderError:
    return ProviderError(
        f"What answers at {server.url} is not {server.title}: {why}.",
        remedy="Check the address and the provider (--endpoint, --provider).",
    )


def connection_lost(server: Server) -> EngineRejectedError:
    return EngineRejectedError(
        f"{server.title} closed the connection before the answer was complete.",
        reason="engine_crashed",
    )


def broken_stream(why: str) -> BrokenStreamError:
    return BrokenStreamError(f"The answer is no stream of a model: {why}.")


def error_in_stream(error: Any) -> EngineRejectedError:
    """The error object that a server sent inside a stream which began with status 200."""
    words, kind = _words(error)
    return EngineRejectedError(
        f"The engine stopped in the middle of the answer: {words}", reason=_reason(words, kind)
    )


def refused(server: Server, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for an answer with a status other than 200."""
    words, kind = _error_of(body)
    said = f"{server.title} answered {status}: {words}"
    if status in (401, 403):
        return ProviderError(
            said, remedy="Set the API key of the server in BENCHLOOP_API_KEY.", status=status
        )
    if status in (429, 502, 503, 504):
        return ProviderError(
            said,
            remedy="It is loading or overloaded: try again in a moment.",
            status=status,
            is_transient=True,
            retry_after_s=_retry_after_s(headers),
        )
    if status == 404 and "model" in words.lower():
        return ModelNotFoundError(said, status=status, remedy="Name a model that the server has.")
    if status < 400 or status == 404:
        return ProviderError(
            said, remedy=f"Check that {server.url} is the server's own address.", status=status
        )
    if _WILL_NOT_LOAD.search(words):
        return ProviderError(
            said, remedy="Take a smaller model or free memory on the server.", status=status
        )
    reason = _reason(words, kind)
    if status < 500 and reason == "engine_crashed":
        reason = "engine_rejected_output"
    return EngineRejectedError(said, reason=reason, status=status)


def _reason(words: str, kind: str) -> str:
    if _OVERFLOW.search(kind) or _OVERFLOW.search(words):
        return "context_overflow"
    return "engine_rejected_output" if _UNPARSED_OUTPUT.search(words) else "engine_crashed"


def _error_of(body: bytes) -> tuple[str, str]:
    """The words and the type of the error in `body`, which may be anything."""
    try:
        value = parse_json(body)
    except ValueError:
        return shown(body[:4096].decode("utf-8", "replace")) or "nothing", ""
    return _words(as_dict(value).get("error", value))


def _words(error: Any) -> tuple[str, str]:
    """Message and type of an error; Ollama's may be a JSON text within a text."""
    if isinstance(error, str):
        try:
            inner = as_dict(parse_json(error)).get("error")
        except ValueError:
            inner = None
        return _words(inner) if isinstance(inner, dict) else (shown(error) or "nothing", "")
    table = as_dict(error)
    message = table.get("message") or table.get("detail")
    kind = " ".join(str(table.get(key, "")) for key in ("type", "code"))
    return shown(message if isinstance(message, str) else str(error)), kind


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asked for, at most MAX_RETRY_AFTER_S; dates are not understood."""
    try:
        seconds = int(headers.get("retry-after", ""))
    except ValueError:
        return None
    return float(min(max(seconds, 0), MAX_RETRY_AFTER_S))
