"""OpenAI-compatible servers that were not at hand, in the shapes that their makers document.

None of this is recorded. Sources: LM Studio, docs `2_rest/endpoints.mdx` (`/api/v0/models`), and
its habit to answer unknown paths with 200 and an error; llama-swap, `proxymanager.go`
(`owned_by`), its README (`/running`, `/upstream`); Jan, `src-tauri/src/core/server/proxy.rs`
(`owned_by: user`, plain-text 404, llama.cpp's stream passed on); mlx-lm, `server.py` (no
`owned_by`, `: keepalive` comments, `reasoning`); vLLM, `entrypoints/openai` (`max_model_len`, role
chunk with empty content, usage in a chunk without choices, an error object and then `[DONE]`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.fakes.openai_server import choice, event
from tests.fakes.server import FakeServer, Reply, Request, json_reply, stream_reply

LM_STUDIO_MODELS = [
    {
        "id": "meta-llama-3.1-8b-instruct",
        "object": "model",
        "type": "llm",
        "publisher": "lmstudio-community",
        "arch": "llama",
        "compatibility_type": "gguf",
        "quantization": "Q4_K_M",
        "state": "loaded",
        "max_context_length": 131_072,
        "loaded_context_length": 4096,
        "capabilities": ["tool_use"],
    },
    {
        "id": "nomic-v1.5",
        "object": "model",
        "type": "embeddings",
        "arch": "nomic-bert",
        "compatibility_type": "gguf",
        "quantization": "Q4_0",
        "state": "not-loaded",
        "max_context_length": 2048,
    },
]
PROPS = {
    "default_generation_settings": {"n_ctx": 16_384},
    "total_slots": 1,
    "build_info": "b7777-abcdef",
    "model_ftype": "Q8_0",
    "model_path": "/models/qwen.gguf",
    "chat_template": "{{ messages }}",
}


class Dialect(FakeServer):
    """Answers GET paths with the JSON in `routes`, every chat with the `lines` of one stream."""

    def __init__(
        self, routes: Mapping[str, Any], lines: Iterable[str], *, answers_everything: bool = False
    ) -> None:
        super().__init__()
        self.routes = routes
        self.lines = tuple(lines)
        self._answers_everything = answers_everything

    def answer(self, request: Request) -> Reply:
        if request.path == "/v1/chat/completions":
            return stream_reply("text/event-stream", self.lines)
        if request.path in self.routes:
            return json_reply(self.routes[request.path])
        if self._answers_everything:
            return json_reply({"error": f"Unexpected endpoint or method. (GET {request.path})"})
        return Reply(b"Not Found", status=404, content_type="text/plain")


def listed(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"object": "list", "data": list(entries)}


def lm_studio() -> Dialect:
    plain = [{"id": one["id"], "object": "model", "owned_by": "organization_owner"}
             for one in LM_STUDIO_MODELS]  # fmt: skip
    routes = {"/v1/models": listed(*plain), "/api/v0/models": listed(*LM_STUDIO_MODELS)}
    usage = {"prompt_tokens": 24, "completion_tokens": 3, "total_tokens": 27}
    lines = [
        *event({"choices": [choice({"role": "assistant", "content": "2+2"})]}),
        *event({"choices": [choice({"content": " is 4"})]}),
        *event({"choices": [choice({}, "stop")]}),
        *event({"choices": [], "usage": usage}),
        "data: [DONE]",
        "",
    ]
    return Dialect(routes, lines, answers_everything=True)


def llama_swap(running: str | None = "qwen") -> Dialect:
    models = [{"id": name, "object": "model", "owned_by": "llama-swap"} for name in ("qwen", "glm")]
    states = [{"model": running, "state": "ready"}] if running else []
    routes = {
        "/v1/models": listed(*models),
        "/api/version": {"version": "v170", "commit": "abc", "build_date": "2026-08-01"},
        "/running": {"running": states},
        "/upstream/qwen/props": PROPS,
    }
    return Dialect(routes, llama_lines())


def jan() -> Dialect:
    entry = {"id": "qwen", "object": "model", "created": 1, "owned_by": "user"}
    return Dialect({"/v1/models": listed(entry)}, llama_lines())


def mlx() -> Dialect:
    entry = {"id": "mlx-community/Qwen3-4B-4bit", "object": "model", "created": 1_790_000_000}
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 5,
        "total_tokens": 25,
        "prompt_tokens_details": {"cached_tokens": 16},
    }
    lines = [
        ": keepalive 512/1024",
        "",
        *event({"choices": [choice({"role": "assistant", "content": "", "reasoning": "2+2."})]}),
        *event({"choices": [choice({"role": "assistant", "content": "4", "reasoning": ""})]}),
        *event({"choices": [choice({"role": "assistant", "content": ""}, "stop")]}),
        *event({"object": "chat.completion", "choices": [], "usage": usage}),
        "data: [DONE]",
        "",
    ]
    return Dialect({"/v1/models": listed(entry)}, lines)


def vllm(*, breaks: bool = False) -> Dialect:
    entry = {"id": "Qwen/Qwen3-8B", "object": "model", "owned_by": "vllm", "max_model_len": 32_768}
    routes = {"/v1/models": listed(entry), "/version": {"version": "0.21.0"}}
    call = {"index": 0, "id": "chatcmpl-tool-1", "type": "function"}
    usage = {"prompt_tokens": 200, "completion_tokens": 30, "prompt_tokens_details": None}
    error = {"message": "EngineCore died", "type": "InternalServerError", "code": 500}
    lines = [
        *event({"choices": [choice({"role": "assistant", "content": ""})]}),
        *event({"choices": [choice({"reasoning_content": "A call."})]}),
        *event({"choices": [choice({"tool_calls": [call | {"function": {"name": "clock"}}]})]}),
        *event({"choices": [choice({"tool_calls": [part('{"zone": ')]})]}),
        *event({"choices": [choice({"tool_calls": [part('"UTC"}')]})]}),
        *(event({"error": error}) if breaks else event({"choices": [choice({}, "tool_calls")]})),
        *event({"choices": [], "usage": usage}),
        "data: [DONE]",
        "",
    ]
    return Dialect(routes, lines)


def part(arguments: str) -> dict[str, Any]:
    """A later piece of vLLM's first tool call."""
    return {"index": 0, "function": {"arguments": arguments}}


def llama_lines() -> list[str]:
    """A stream of llama.cpp, as a proxy before it passes it on."""
    timings = {"cache_n": 0, "prompt_n": 9, "prompt_ms": 90.0, "predicted_n": 3}
    last = {"choices": [choice({}, "stop")], "timings": timings | {"predicted_ms": 20.0}}
    return [
        *event({"choices": [choice({"role": "assistant", "content": None})]}),
        *event({"choices": [choice({"content": "4"})]}),
        f"data: {json.dumps(last)}",
        "",
        "data: [DONE]",
        "",
    ]
