"""A fake OpenAI-compatible server, which is llama.cpp, vLLM or nobody in particular."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from tests.fakes.server import FakeServer, Reply, Request, json_reply, stream_reply

Answer = Callable[[dict[str, Any]], str]
"""The text to answer a chat body with."""
Engine = Literal["llama.cpp", "vllm", "unknown"]

STANDARD_FIELDS = {
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "tools",
}


VLLM_METRICS = """\
# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",cache_dtype="fp8",engine="0",num_gpu_blocks="573"} 1.0
vllm:num_requests_running{engine="0",model_name="tiny"} 0.0
"""
"""Written by the form of vLLM's metrics, not recorded."""


class FakeOpenAI(FakeServer):
    """Answers every chat with the words of `answer(body)`, after the replies in `script`.

    `loading` requests are first answered with 503; a server that `is_strict` refuses every field
    that is not in the standard; with `api_key` it wants that key.
    """

    def __init__(
        self,
        models: Sequence[str] = ("tiny",),
        answer: Answer = lambda _: "ANSWER: 4",
        script: Sequence[Reply] = (),
        engine: Engine = "unknown",
        window: int = 8192,
        slots: int = 1,
        loading: int = 0,
        is_strict: bool = False,
        api_key: str | None = None,
        pause_s: float = 0.0,
        model_path: str | None = None,
    ) -> None:
        super().__init__()
        self.models = tuple(models)
        self.model_path = model_path or f"/home/alice/models/{self.models[0]}.gguf"
        self.script = list(script)
        self.engine = engine
        self.window = window
        self.slots = slots
        self.loading = loading
        self.is_strict = is_strict
        self.api_key = api_key
        self._answer = answer
        self._pause_s = pause_s

    def answer(self, request: Request) -> Reply:
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return error_reply(401, "Invalid API key", "authentication_error")
        if self.loading > 0:
            self.loading -= 1
            return error_reply(503, "Loading model", "unavailable_error")
        match request.method, request.path:
            case "GET", "/v1/models":
                return json_reply(self._listing())
            case "POST", "/v1/chat/completions":
                return self._chat(request.json)
            case "GET", "/props" if self.engine == "llama.cpp":
                return json_reply(self._props())
            case "GET", "/version" if self.engine == "vllm":
                return json_reply({"version": "0.21.0"})
            case "GET", "/metrics" if self.engine == "vllm":
                return Reply(VLLM_METRICS.encode(), content_type="text/plain; version=0.0.4")
            case "GET", "/slots" if self.engine == "llama.cpp":
                return json_reply([{"id": 0, "n_ctx": self.window, "speculative": False}])
            case "POST", "/tokenize" if self.engine == "llama.cpp":
                return json_reply({"tokens": list(range(len(request.json["content"].split())))})
        return error_reply(404, "File Not Found", "not_found_error")

    def _chat(self, body: dict[str, Any]) -> Reply:
        unknown = sorted(body.keys() - STANDARD_FIELDS)
        if self.is_strict and unknown:
            return error_reply(400, f"Unrecognized argument: {unknown[0]}", "invalid_request_error")
        if self.script:
            return self.script.pop(0)
        token_s = (self._pause_s or 0.01) if self.engine == "llama.cpp" else None
        lines = chat_lines(self._answer(body), body, token_s)
        return stream_reply("text/event-stream", lines, self._pause_s)

    def _listing(self) -> dict[str, Any]:
        owner = {"llama.cpp": "llamacpp", "vllm": "vllm", "unknown": "someone"}[self.engine]
        data: list[dict[str, Any]] = [
            {"id": name, "object": "model", "owned_by": owner} for name in self.models
        ]
        if self.engine == "vllm":
            data = [entry | {"max_model_len": self.window} for entry in data]
        listing: dict[str, Any] = {"object": "list", "data": data}
        if self.engine == "llama.cpp":
            listing["models"] = [
                {"name": name, "capabilities": ["completion"]} for name in self.models
            ]
        return listing

    def _props(self) -> dict[str, Any]:
        return {
            "default_generation_settings": {"n_ctx": self.window},
            "total_slots": self.slots,
            "build_info": "b7777-abcdef",
            "model_path": self.model_path,
            "chat_template": "{{ messages }}",
            "chat_template_caps": {"supports_tools": True},
        }


def chat_lines(text: str, body: dict[str, Any], token_s: float | None) -> Iterator[str]:
    """The lines of one streamed answer, cut at `max_tokens` words, with usage at the end.

    With `token_s` llama.cpp's timings say that much from one generated token to the next.
    """
    words = text.split(" ")
    limit = body.get("max_tokens", len(words))
    yield from event({"choices": [choice({"role": "assistant", "content": None})]})
    for number, word in enumerate(words[:limit]):
        yield from event({"choices": [choice({"content": word if number == 0 else f" {word}"})]})
    is_cut = len(words) > limit
    yield from event({"choices": [choice({}, "length" if is_cut else "stop")]})
    prompt = sum(len(message["content"].split()) for message in body["messages"])
    generated = limit if is_cut else len(words) + 1
    usage = {"prompt_tokens": prompt, "completion_tokens": generated}
    last: dict[str, Any] = {"choices": [], "usage": usage}
    if token_s is not None:
        last["timings"] = {
            "cache_n": 0,
            "prompt_n": prompt,
            "prompt_ms": float(prompt),
            "predicted_n": generated,
            "predicted_ms": (generated - 1) * token_s * 1000,
        }
    yield from event(last)
    yield from ("data: [DONE]", "")


def event(value: dict[str, Any]) -> tuple[str, str]:
    """The two lines of one server-sent event."""
    return f"data: {json.dumps(value)}", ""


def choice(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def error_reply(status: int, message: str, kind: str, **more: Any) -> Reply:
    return json_reply(
        {"error": {"message": message, "type": kind, "code": status} | more}, status=status
    )
