"""The wire format of Ollama's native `/api/chat`: requests and stream lines, without any I/O."""

from __future__ import annotations

from functools import partial
from typing import Any

from bench_loop.contracts.chat import ChatRequest, EngineTimings, Message, TokenCounts
from bench_loop.providers import _faults
from bench_loop.providers._openai_chat import call_part
from bench_loop.providers._stream import Delta, event_json
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_seconds, as_text, parse_json

KEEP_ALIVE = "10m"
"""How long Ollama keeps the model after a request: longer than any pause inside a run."""


def chat_body(request: ChatRequest) -> dict[str, Any]:
    """The request with every option spelled out, since models bring defaults of their own.

    `truncate` and `shift` off: a prompt longer than the window is an error, and a full window ends
    the answer; by default Ollama drops the beginning of the prompt without a word. The same
    `num_ctx` in every request, or the model is loaded anew. Ollama has no switch for its prompt
    cache and none to go on after the end token.
    """
    body: dict[str, Any] = {
        "model": request.model_id,
        "messages": [message_body(message) for message in request.messages],
        "stream": True,
        "truncate": False,
        "shift": False,
        "keep_alive": KEEP_ALIVE,
        "options": options(request),
    }
    if request.thinking is not None:
        body["think"] = request.thinking
    if request.tools:
        body["tools"] = list(request.tools)
    return body


def options(request: ChatRequest) -> dict[str, Any]:
    sampling = request.sampling
    return {
        "num_ctx": request.context_window,
        "num_predict": request.max_tokens,
        "seed": request.seed,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": 0.0,
    }


def message_body(message: Message) -> dict[str, Any]:
    """One turn; Ollama wants a call's arguments as an object and the tool's name on its result."""
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _object(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.role == "tool" and message.name is not None:
        body["tool_name"] = message.name
    return body


def parse_line(line: str) -> Delta:
    """What one line of the stream adds. Raises EngineRejectedError for an error line."""
    event = event_json(line)
    if event.get("error"):
        raise _faults.error_in_stream(event["error"])
    message = as_dict(event.get("message"))
    # `/api/generate` says the same without a message.
    text = message.get("content", event.get("response"))
    thinking = message.get("thinking", event.get("thinking"))
    is_last = event.get("done") is True
    return Delta(
        text=text if isinstance(text, str) else "",
        thinking=thinking if isinstance(thinking, str) else "",
        calls=tuple(call_part(call) for call in as_dicts(message.get("tool_calls"))),
        finish=as_text(event.get("done_reason")),
        model=as_text(event.get("model")),
        tokens=partial(token_counts, event) if is_last else None,
        timings=partial(engine_timings, event) if is_last else None,
        is_last=is_last,
    )


def token_counts(event: dict[str, Any]) -> TokenCounts:
    """Ollama hides how much of the prompt its cache answered, and leaves out counts of zero."""
    return TokenCounts(
        prompt=as_count(event.get("prompt_eval_count")) or None,
        completion=as_count(event.get("eval_count")),
        basis="engine_timings",
    )


def engine_timings(event: dict[str, Any]) -> EngineTimings:
    """Ollama's durations, in nanoseconds; the prompt count includes what its cache answered."""
    generated = as_count(event.get("eval_count"))
    has_span = generated is not None and generated > 1
    return EngineTimings(
        prompt_tokens=as_count(event.get("prompt_eval_count")) or None,
        prompt_s=as_seconds(event.get("prompt_eval_duration"), 1e9),
        generated_tokens=generated,
        generation_s=as_seconds(event.get("eval_duration"), 1e9) if has_span else None,
        load_s=as_seconds(event.get("load_duration"), 1e9),
    )


def _object(arguments: str) -> dict[str, Any]:
    """The arguments as an object; empty where the model wrote something that is none."""
    try:
        return as_dict(parse_json(arguments))
    except ValueError:
        return {}
