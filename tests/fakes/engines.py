"""Fakes of the engines that discovery tells apart: what each answers to a GET, and no chat.

Written after the engines' own sources and documentation (see `providers/_fingerprint.py`); the
models are invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.server import FakeServer, Reply, Request, json_reply

NOT_FOUND = Reply(b"Not Found", status=404, content_type="text/plain")


class FakeEngine(FakeServer):
    """Answers each path of `pages`, and everything else with `other`."""

    def __init__(
        self,
        pages: Mapping[str, Any],
        other: Reply = NOT_FOUND,
        api_key: str | None = None,
        open_paths: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self.pages = pages
        self._other = other
        self._api_key = api_key
        self._open_paths = open_paths

    def answer(self, request: Request) -> Reply:
        sent = request.headers.get("Authorization")
        is_open = self._api_key is None or request.path in self._open_paths
        if not is_open and sent != f"Bearer {self._api_key}":
            return Reply(b"Missing authorization header", status=401, content_type="text/plain")
        page = self.pages.get(request.path, self._other)
        return page if isinstance(page, Reply) else json_reply(page)


def listing(*ids: str, owner: str | None) -> dict[str, Any]:
    """What `/v1/models` lists."""
    owned = {} if owner is None else {"owned_by": owner}
    return {"object": "list", "data": [{"id": name, "object": "model"} | owned for name in ids]}


LMSTUDIO_V0 = {
    "object": "list",
    "data": [
        {
            "id": "qwen2.5-7b-instruct",
            "object": "model",
            "type": "llm",
            "publisher": "lmstudio-community",
            "arch": "qwen2",
            "compatibility_type": "gguf",
            "quantization": "Q4_K_M",
            "state": "loaded",
            "max_context_length": 32768,
            "loaded_context_length": 4096,
            "capabilities": ["tool_use"],
        },
        {
            "id": "text-embedding-nomic-embed-text-v1.5",
            "object": "model",
            "type": "embeddings",
            "publisher": "nomic-ai",
            "arch": "nomic-bert",
            "compatibility_type": "gguf",
            "quantization": "Q4_0",
            "state": "not-loaded",
            "max_context_length": 2048,
        },
    ],
}

LMSTUDIO_V1 = {
    "models": [
        {
            "type": "llm",
            "publisher": "lmstudio-community",
            "key": "qwen2.5-7b-instruct",
            "display_name": "Qwen2.5 7B Instruct",
            "architecture": "qwen2",
            "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
            "size_bytes": 4_683_073_184,
            "params_string": "7B",
            "loaded_instances": [{"id": "qwen2.5-7b-instruct", "config": {"context_length": 4096}}],
            "max_context_length": 32768,
            "format": "gguf",
            "capabilities": {"vision": False, "trained_for_tool_use": True},
        },
        {
            "type": "embedding",
            "publisher": "nomic-ai",
            "key": "text-embedding-nomic-embed-text-v1.5",
            "display_name": "Nomic Embed Text v1.5",
            "quantization": {"name": "Q4_0", "bits_per_weight": 4},
            "size_bytes": 84_106_624,
            "params_string": None,
            "loaded_instances": [],
            "max_context_length": 2048,
            "format": "gguf",
        },
    ]
}


def lmstudio(*, is_new: bool = True) -> FakeEngine:
    """LM Studio 0.4, or 0.3.6 to 0.3.x: unknown paths are 200 with an error in both."""
    pages: dict[str, Any] = {
        "/v1/models": listing(
            "qwen2.5-7b-instruct",
            "text-embedding-nomic-embed-text-v1.5",
            owner="organization_owner",
        ),
        "/api/v0/models": LMSTUDIO_V0,
    }
    if is_new:
        pages["/api/v1/models"] = LMSTUDIO_V1
    error = {"error": "Unexpected endpoint or method. (GET /). Returning 200 anyway"}
    return FakeEngine(pages, other=json_reply(error))


def llama_swap() -> FakeEngine:
    entry = {
        "id": "qwen3-8b",
        "object": "model",
        "owned_by": "llama-swap",
        "context_length": 32768,
        "status": {"value": "unloaded"},
    }
    version = {"version": "180", "commit": "abc1234", "build_date": "2026-01-20T10:00:00Z"}
    return FakeEngine(
        {"/v1/models": {"data": [entry]}, "/api/version": version, "/running": {"running": []}}
    )


def jan(api_key: str | None = None) -> FakeEngine:
    pages = {
        "/v1/models": listing("Jan-v3-4b-Q4_K_XL", owner="user"),
        "/openapi.json": {
            "openapi": "3.0.0",
            "info": {"title": "Jan API Server Endpoints", "version": "1.0"},
        },
    }
    return FakeEngine(pages, api_key=api_key, open_paths=("/", "/openapi.json"))


def mlx() -> FakeEngine:
    return FakeEngine(
        {
            "/v1/models": listing("mlx-community/Qwen3-4B-4bit", owner=None),
            "/health": {"status": "ok"},
        }
    )


def vllm(version: str = "0.21.0") -> FakeEngine:
    models = listing("Qwen/Qwen3-8B", owner="vllm")
    models["data"][0]["max_model_len"] = 40960
    return FakeEngine({"/v1/models": models, "/version": {"version": version}})


def text_page(text: str, status: int = 200) -> Reply:
    return Reply(text.encode(), status=status, content_type="text/html; charset=utf-8")
