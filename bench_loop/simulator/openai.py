"""The OpenAI dialect, with llama.cpp's additions: requests in, server-sent events out."""

from __future__ import annotations

import json
from typing import Any

from bench_loop.simulator.answer import Asked, Step, has_calls, stops
from bench_loop.simulator.exchange import Exchange
from bench_loop.simulator.settings import Call, Settings

CHAT = "/v1/chat/completions"
CONTENT_TYPE = "text/event-stream"


def facts(
    settings: Settings, path: str, body: Any, loaded: dict[str, int]
) -> dict[str, Any] | list[Any] | None:
    """What the server says of itself at `path`; None where it has nothing there."""
    is_llama = settings.dialect == "llama.cpp"
    names = [settings.full(name) for name in settings.models]
    owners = {"llama.cpp": "llamacpp", "ollama": "library"}
    match path:
        case "/v1/models":
            owner = owners.get(settings.dialect, "simulator")
            listing: dict[str, Any] = {
                "object": "list",
                "data": [{"id": name, "object": "model", "owned_by": owner} for name in names],
            }
            if is_llama:
                listing["models"] = [{"name": n, "capabilities": ["completion"]} for n in names]
            return listing
        case "/health" if is_llama:
            return {"status": "ok"}
        case "/props" if is_llama:
            return {
                "default_generation_settings": {"n_ctx": settings.models[names[0]].window},
                "total_slots": 1,
                "build_info": "b1-simulator",
                "model_path": f"{names[0]}.gguf",
                "chat_template": "{{ messages }}",
                "chat_template_caps": {"supports_tools": True},
            }
        case "/slots" if is_llama:
            return [{"id": 0, "n_ctx": settings.models[names[0]].window, "speculative": False}]
        case "/tokenize" if is_llama:
            return {"tokens": list(range(len(str(body.get("content", "")).split())))}
    return None


def asked(body: dict[str, Any]) -> Asked:
    """A chat request in neither dialect."""
    return Asked(
        model=str(body.get("model")),
        prompt="\n".join(str(message.get("content")) for message in body["messages"]),
        max_tokens=int(body.get("max_tokens") or body.get("max_completion_tokens") or 0) or None,
        has_tools=bool(body.get("tools")),
        ignores_end=body.get("ignore_eos") is True,
        is_cacheable=body.get("cache_prompt", True),
        is_streamed=body.get("stream") is True,
        has_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        wants_all_timings=body.get("timings_per_token") is True,
    )


def writer(settings: Settings, exchange: Exchange) -> _Writer:
    return _Writer(settings, exchange)


class _Writer:
    """Encodes one answer as server-sent events."""

    def __init__(self, settings: Settings, exchange: Exchange) -> None:
        self._program = exchange.program
        self._exchange = exchange
        self._end = "\r\n\r\n" if exchange.program.has_crlf else "\n\n"
        self._has_timings = settings.dialect == "llama.cpp" and exchange.program.reports_timings

    def step(self, step: Step) -> bytes:
        event = self._event(_delta(step, self._exchange))
        if self._has_timings and self._exchange.asked.wants_all_timings and step.tokens:
            made = self._exchange.generated + step.tokens
            event["timings"] = self._timings(made, step.due_s)
        comment = f": keep-alive{self._end}" if self._program.has_comments else ""
        return (comment + self._data(event)).encode()

    def error(self) -> bytes:
        error = {"message": "the simulated runner was killed", "type": "server_error", "code": 500}
        return self._data({"error": error}).encode()

    def whole(self) -> bytes:
        text = "".join(self._exchange.text)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls := self._exchange.calls:
            message["content"] = text or None
            made = enumerate(calls)
            message["tool_calls"] = [_call(self._exchange, index, call) for index, call in made]
        choice = {"index": 0, "message": message, "finish_reason": self._finish()}
        value = self._event({}) | {"object": "chat.completion", "choices": [choice]}
        return json.dumps(value | {"usage": self._usage()}, ensure_ascii=False).encode()

    def end(self) -> bytes:
        exchange = self._exchange
        last = self._event({}, self._finish())
        out = ""
        if self._program.reports_usage and exchange.asked.has_usage:
            out = self._data(last)
            last = {"model": exchange.asked.model, "choices": [], "usage": self._usage()}
        if self._has_timings:
            last["timings"] = self._timings(exchange.completion_tokens, exchange.decode_s)
        out += self._data(last)
        return (out + f"data: [DONE]{self._end}" if self._program.has_done else out).encode()

    def _finish(self) -> str:
        if not stops(self._program, self._exchange.asked):
            return "length"
        made = has_calls(self._program, self._exchange.asked)
        return "tool_calls" if made else "stop"

    def _data(self, event: dict[str, Any]) -> str:
        return f"data: {json.dumps(event, ensure_ascii=False)}{self._end}"

    def _event(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-simulated",
            "object": "chat.completion.chunk",
            "created": 1_796_000_000,
            "model": self._exchange.asked.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    def _usage(self) -> dict[str, Any]:
        exchange = self._exchange
        usage: dict[str, Any] = {
            "prompt_tokens": exchange.prompt.tokens,
            "completion_tokens": exchange.completion_tokens,
            "total_tokens": exchange.prompt.tokens + exchange.completion_tokens,
        }
        if self._program.cache == "reported":
            usage["prompt_tokens_details"] = {"cached_tokens": exchange.prompt.cached}
        return usage

    def _timings(self, generated: int, decode_s: float) -> dict[str, Any]:
        prompt = self._exchange.prompt
        return {
            "cache_n": prompt.cached,
            "prompt_n": prompt.new,
            "prompt_ms": self._exchange.prompt_s * 1e3,
            "predicted_n": generated,
            "predicted_ms": max(decode_s * 1e3, 0.001),
        }


def _call(exchange: Exchange, index: int, call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": exchange.call_id(index), "type": "function", "function": function}


def _delta(step: Step, exchange: Exchange) -> dict[str, Any]:
    if step.kind == "role":
        return {"role": "assistant", "content": None}
    if step.piece is None:
        return {"reasoning_content" if step.kind == "thinking" else "content": step.text}
    piece = step.piece
    arguments: Any = piece.arguments
    if exchange.program.call_form == "object":
        arguments = json.loads(piece.arguments or "{}")
    call: dict[str, Any] = {"index": piece.index, "function": {"arguments": arguments}}
    if piece.name is not None:
        call |= {"id": exchange.call_id(piece.index), "type": "function"}
        call["function"]["name"] = piece.name
    return {"tool_calls": [call]}
