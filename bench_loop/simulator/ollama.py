"""Ollama's native dialect: requests in, lines of JSON out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bench_loop.simulator.answer import Asked, Step, stops
from bench_loop.simulator.exchange import Exchange
from bench_loop.simulator.settings import Call, Settings

CHAT = "/api/chat"
CONTENT_TYPE = "application/x-ndjson"
VERSION = "0.33.0"


def facts(
    settings: Settings, path: str, body: Any, loaded: dict[str, int]
) -> dict[str, Any] | None:
    """What the server says of itself at `path`; None where it has nothing there."""
    match path:
        case "/api/version":
            return {"version": VERSION}
        case "/api/tags":
            return {"models": [_tag(settings.full(name)) for name in settings.models]}
        case "/api/ps":
            return {
                "models": [
                    _tag(settings.full(name)) | {"context_length": n} for name, n in loaded.items()
                ]
            }
        case "/api/show" if name := settings.model(str(body.get("model"))):
            info = {
                "general.architecture": "llama",
                "general.parameter_count": 1_000_000_000,
                "llama.context_length": 131_072,
            }
            return _tag(settings.full(name)) | {"template": "{{ .Prompt }}", "model_info": info}
    return None


def asked(body: dict[str, Any]) -> Asked:
    """A chat request in neither dialect."""
    options = body.get("options") or {}
    return Asked(
        model=str(body.get("model")),
        prompt="\n".join(str(message.get("content")) for message in body["messages"]),
        max_tokens=int(options.get("num_predict") or 0) or None,
        window=int(options.get("num_ctx") or 4096),
        has_tools=bool(body.get("tools")),
        is_streamed=body.get("stream") is not False,
    )


def writer(settings: Settings, exchange: Exchange) -> _Writer:
    return _Writer(exchange)


class _Writer:
    """Encodes one answer as lines of JSON."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._program = exchange.program
        self._end = "\r\n" if exchange.program.has_crlf else "\n"

    def step(self, step: Step) -> bytes:
        return self._line({"message": self._message(step), "done": False})

    def error(self) -> bytes:
        error = {"error": "an error was encountered while running the model: simulated"}
        return f"{json.dumps(error)}{self._end}".encode()

    def whole(self) -> bytes:
        return self._last("".join(self._exchange.text), self._exchange.calls)

    def end(self) -> bytes:
        return self._last("")

    def _last(self, text: str, calls: Sequence[Call] = ()) -> bytes:
        exchange = self._exchange
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [_call(index, call) for index, call in enumerate(calls)]
        reason = "stop" if stops(self._program, exchange.asked) else "length"
        last: dict[str, Any] = {
            "message": message,
            "done": True,
            "done_reason": reason,
        }
        if self._program.reports_timings:
            last |= {
                "total_duration": _nanoseconds(exchange.age_s),
                "load_duration": _nanoseconds(exchange.load_s),
                "prompt_eval_count": exchange.prompt.tokens,
                "prompt_eval_duration": _nanoseconds(exchange.prompt_s),
                "eval_count": exchange.completion_tokens,
                "eval_duration": _nanoseconds(exchange.decode_s),
            }
        return self._line(last)

    def _line(self, value: dict[str, Any]) -> bytes:
        line = {"model": self._exchange.asked.model, "created_at": "2026-11-29T20:00:00Z"} | value
        return f"{json.dumps(line, ensure_ascii=False)}{self._end}".encode()

    def _message(self, step: Step) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        if step.kind == "thinking":
            message["thinking"] = step.text
        elif step.piece is not None:
            call = Call(step.piece.name or "", step.piece.arguments)
            message["tool_calls"] = [_call(step.piece.index, call)]
        else:
            message["content"] = step.text
        return message


def _call(index: int, call: Call) -> dict[str, Any]:
    arguments = json.loads(call.arguments or "{}")
    return {"function": {"name": call.name, "arguments": arguments, "index": index}}


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _tag(name: str) -> dict[str, Any]:
    details = {"format": "gguf", "family": "llama", "parameter_size": "1B"}
    return {
        "name": name,
        "model": name,
        "size": 700_000_000,
        "digest": "0" * 64,
        "details": details | {"quantization_level": "Q4_K_M"},
        "capabilities": ["completion", "tools", "thinking"],
    }
