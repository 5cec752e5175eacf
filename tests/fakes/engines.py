"""Fakes of the model servers that were not at hand, in the shapes that their makers document.

None of this is recorded and the models are invented; of llama.cpp and Ollama there are recorded
answers. Sources:

    LM Studio    lmstudio.ai/docs/developer/rest: `/api/v1/models` (from 0.4), `/api/v0/models`
                 (from 0.3.6); to a path that it does not know it says 200 with an error
    llama-swap   `proxymanager.go` (`owned_by`, `/api/version`), its README (`/running`,
                 `/upstream`, `/api/models/unload`)
    Jan          `src-tauri/src/core/server/proxy.rs`: `owned_by: user`, `/openapi.json` without a
                 key, plain-text 404, llama.cpp's stream passed on
    mlx-lm       `server.py`: no `owned_by`, `/health`, `: keepalive` comments, `reasoning`
    vLLM         `entrypoints/openai`: role chunk with empty content, usage in a chunk without
                 choices, an error object and then `[DONE]`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.fakes.openai_server import FakeOpenAI, choice, event
from tests.fakes.server import FakeServer, Reply, Request, json_reply, stream_reply

NOT_FOUND = Reply(b"Not Found", status=404, content_type="text/plain")
SSE = "text/event-stream"
CHAT = "/v1/chat/completions"
DONE = ("data: [DONE]", "")

LMSTUDIO_CHAT = "qwen2.5-7b-instruct"
LMSTUDIO_EMBEDDING = "text-embedding-nomic-embed-text-v1.5"
LLAMA_SWAP_MODELS = ("qwen3-8b", "glm-4.5-air")
JAN_MODEL = "Jan-v3-4b-Q4_K_XL"
MLX_MODEL = "mlx-community/Qwen3-4B-4bit"
VLLM_MODEL = "Qwen/Qwen3-8B"


class FakeEngine(FakeServer):
    """Answers each path of `pages`, every chat with the `lines` of one stream, else `other`."""

    def __init__(
        self,
        pages: Mapping[str, Any],
        other: Reply = NOT_FOUND,
        *,
        lines: Iterable[str] = (),
        api_key: str | None = None,
        open_paths: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self.pages = dict(pages)
        self._other = other
        self._lines = tuple(lines)
        self._api_key = api_key
        self._open_paths = open_paths

    def answer(self, request: Request) -> Reply:
        sent = request.headers.get("Authorization")
        is_open = self._api_key is None or request.path in self._open_paths
        if not is_open and sent != f"Bearer {self._api_key}":
            return Reply(b"Missing authorization header", status=401, content_type="text/plain")
        if request.path == CHAT and self._lines:
            return stream_reply(SSE, self._lines)
        page = self.pages.get(request.path, self._other)
        return page if isinstance(page, Reply) else json_reply(page)


class LMStudio(FakeEngine):
    """LM Studio 0.4, or 0.3.6 to 0.3.x, with `instances` of its chat model loaded.

    The newer one unloads an instance by its id.
    """

    def __init__(self, *, is_new: bool = True, instances: Sequence[str] = (LMSTUDIO_CHAT,)) -> None:
        models = listing(LMSTUDIO_CHAT, LMSTUDIO_EMBEDDING, owner="organization_owner")
        error = {"error": "Unexpected endpoint or method. (GET /). Returning 200 anyway"}
        super().__init__({"/v1/models": models}, json_reply(error), lines=_lmstudio_lines())
        self.instances = tuple(instances)
        self._is_new = is_new

    def answer(self, request: Request) -> Reply:
        if request.path == "/api/v0/models":
            return json_reply(_lmstudio_v0(self.instances))
        if self._is_new and request.path == "/api/v1/models":
            return json_reply(_lmstudio_v1(self.instances))
        if self._is_new and request.path == "/api/v1/models/unload":
            gone = request.json["instance_id"]
            self.instances = tuple(one for one in self.instances if one != gone)
            return json_reply({"instance_id": gone})
        return super().answer(request)


class LlamaSwap(FakeEngine):
    """llama-swap with these of its models `running`, each behind a llama.cpp of its own.

    It stops a model by its path, unless it `is_stubborn`.
    """

    def __init__(self, *running: str, is_stubborn: bool = False) -> None:
        models = listing(*LLAMA_SWAP_MODELS, owner="llama-swap")
        for entry in models["data"]:
            entry |= {"context_length": 32768, "status": {"value": "unloaded"}}
        version = {"version": "180", "commit": "abc1234", "build_date": "2026-01-20T10:00:00Z"}
        pages = {"/v1/models": models, "/api/version": version}
        super().__init__(pages, lines=_llama_cpp_lines())
        self.running = running
        self._is_stubborn = is_stubborn

    def answer(self, request: Request) -> Reply:
        if request.path == "/running":
            rows = [{"model": name, "state": "ready"} for name in self.running]
            return json_reply({"running": rows})
        if request.method == "POST" and request.path.startswith("/api/models/unload/"):
            name = request.path.rpartition("/")[2]
            if not self._is_stubborn:
                self.running = tuple(one for one in self.running if one != name)
            return Reply(b"OK", content_type="text/plain")
        if request.path in [f"/upstream/{name}/props" for name in self.running]:
            return json_reply(_LLAMA_CPP_PROPS)
        return super().answer(request)


def jan(api_key: str | None = None) -> FakeEngine:
    pages = {
        "/v1/models": listing(JAN_MODEL, owner="user"),
        "/openapi.json": {
            "openapi": "3.0.0",
            "info": {"title": "Jan API Server Endpoints", "version": "1.0"},
        },
    }
    return FakeEngine(
        pages, lines=_llama_cpp_lines(), api_key=api_key, open_paths=("/", "/openapi.json")
    )


def mlx() -> FakeEngine:
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
        *DONE,
    ]
    pages = {"/v1/models": listing(MLX_MODEL, owner=None), "/health": {"status": "ok"}}
    return FakeEngine(pages, lines=lines)


def vllm(*, breaks: bool = False) -> FakeOpenAI:
    """vLLM, which answers one chat with a tool call; or dies in the middle of it."""
    call = {"index": 0, "id": "chatcmpl-tool-1", "type": "function"}
    usage = {"prompt_tokens": 200, "completion_tokens": 30, "prompt_tokens_details": None}
    error = {"message": "EngineCore died", "type": "InternalServerError", "code": 500}
    lines = [
        *event({"choices": [choice({"role": "assistant", "content": ""})]}),
        *event({"choices": [choice({"reasoning_content": "A call."})]}),
        *event({"choices": [choice({"tool_calls": [call | {"function": {"name": "clock"}}]})]}),
        *event({"choices": [choice({"tool_calls": [_part('{"zone": ')]})]}),
        *event({"choices": [choice({"tool_calls": [_part('"UTC"}')]})]}),
        *(event({"error": error}) if breaks else event({"choices": [choice({}, "tool_calls")]})),
        *event({"choices": [], "usage": usage}),
        *DONE,
    ]
    script = [stream_reply(SSE, lines)]
    return FakeOpenAI([VLLM_MODEL], script=script, engine="vllm", window=40960)


def listing(*ids: str, owner: str | None) -> dict[str, Any]:
    """What `/v1/models` lists."""
    owned = {} if owner is None else {"owned_by": owner}
    return {"object": "list", "data": [{"id": name, "object": "model"} | owned for name in ids]}


def text_page(text: str, status: int = 200) -> Reply:
    return Reply(text.encode(), status=status, content_type="text/html; charset=utf-8")


def _part(arguments: str) -> dict[str, Any]:
    """A later piece of vLLM's first tool call."""
    return {"index": 0, "function": {"arguments": arguments}}


def _lmstudio_v0(instances: Sequence[str]) -> dict[str, Any]:
    chat = {
        "id": LMSTUDIO_CHAT,
        "object": "model",
        "type": "llm",
        "publisher": "lmstudio-community",
        "arch": "qwen2",
        "compatibility_type": "gguf",
        "quantization": "Q4_K_M",
        "state": "loaded" if instances else "not-loaded",
        "max_context_length": 32768,
        "capabilities": ["tool_use"],
    }
    embedding = {
        "id": LMSTUDIO_EMBEDDING,
        "object": "model",
        "type": "embeddings",
        "publisher": "nomic-ai",
        "arch": "nomic-bert",
        "compatibility_type": "gguf",
        "quantization": "Q4_0",
        "state": "not-loaded",
        "max_context_length": 2048,
    }
    loaded = {"loaded_context_length": 4096} if instances else {}
    return {"object": "list", "data": [chat | loaded, embedding]}


def _lmstudio_v1(instances: Sequence[str]) -> dict[str, Any]:
    chat = {
        "type": "llm",
        "publisher": "lmstudio-community",
        "key": LMSTUDIO_CHAT,
        "display_name": "Qwen2.5 7B Instruct",
        "architecture": "qwen2",
        "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
        "size_bytes": 4_683_073_184,
        "params_string": "7B",
        "loaded_instances": [{"id": one, "config": {"context_length": 4096}} for one in instances],
        "max_context_length": 32768,
        "format": "gguf",
        "capabilities": {"vision": False, "trained_for_tool_use": True},
    }
    embedding = {
        "type": "embedding",
        "publisher": "nomic-ai",
        "key": LMSTUDIO_EMBEDDING,
        "display_name": "Nomic Embed Text v1.5",
        "quantization": {"name": "Q4_0", "bits_per_weight": 4},
        "size_bytes": 84_106_624,
        "params_string": None,
        "loaded_instances": [],
        "max_context_length": 2048,
        "format": "gguf",
    }
    return {"models": [chat, embedding]}


def _lmstudio_lines() -> list[str]:
    usage = {"prompt_tokens": 24, "completion_tokens": 3, "total_tokens": 27}
    return [
        *event({"choices": [choice({"role": "assistant", "content": "2+2"})]}),
        *event({"choices": [choice({"content": " is 4"})]}),
        *event({"choices": [choice({}, "stop")]}),
        *event({"choices": [], "usage": usage}),
        *DONE,
    ]


_LLAMA_CPP_PROPS = {
    "default_generation_settings": {"n_ctx": 16_384},
    "total_slots": 1,
    "build_info": "b7777-abcdef",
    "model_ftype": "Q8_0",
    "model_path": "/models/qwen.gguf",
    "chat_template": "{{ messages }}",
}


def _llama_cpp_lines() -> list[str]:
    """A stream of llama.cpp, as a proxy before it passes it on."""
    timings = {"cache_n": 0, "prompt_n": 9, "prompt_ms": 90.0, "predicted_n": 3}
    last = {"choices": [choice({}, "stop")], "timings": timings | {"predicted_ms": 20.0}}
    return [
        *event({"choices": [choice({"role": "assistant", "content": None})]}),
        *event({"choices": [choice({"content": "4"})]}),
        f"data: {json.dumps(last)}",
        "",
        *DONE,
    ]
