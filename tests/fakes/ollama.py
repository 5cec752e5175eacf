"""A fake Ollama: its API as recorded from a real one, with models and answers of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.server import FakeServer, Reply, Request, json_reply, stream_reply

Answer = Callable[[dict[str, Any]], str]
"""The text to answer a chat body with."""


@dataclass(frozen=True, slots=True)
class FakeModel:
    """A model that the fake lists; `capabilities` None is an old Ollama that names none."""

    name: str = "tiny:1b"
    family: str = "llama"
    parameters: int = 1_235_814_432
    quantization: str = "Q4_K_M"
    context: int = 131_072
    capabilities: tuple[str, ...] | None = ("completion",)
    remote_host: str | None = None
    digest: str = "a" * 64
    template: str = "{{ .Prompt }}"
    size: int = 807_694_464


class FakeOllama(FakeServer):
    """Answers every chat with the words of `answer(body)`, after the replies in `script`.

    `loading` requests are first answered with 503. Token counts are words. Its own timings say
    1 ms per prompt token and `pause_s` (10 ms if that is 0) from one generated token to the next.
    """

    def __init__(
        self,
        models: Sequence[FakeModel] = (FakeModel(),),
        answer: Answer = lambda _: "ANSWER: 4",
        script: Sequence[Reply] = (),
        loading: int = 0,
        pause_s: float = 0.0,
        version: str = "0.33.0",
    ) -> None:
        super().__init__()
        self.version = version
        self.models = {model.name: model for model in models}
        self.script = list(script)
        self.loading = loading
        self.loaded: dict[str, int] = {}
        self._answer = answer
        self._pause_s = pause_s

    def answer(self, request: Request) -> Reply:
        if self.loading > 0:
            self.loading -= 1
            return json_reply({"error": "server busy, please try again"}, status=503)
        match request.method, request.path:
            case "GET", "/":
                return Reply(b"Ollama is running", content_type="text/plain; charset=utf-8")
            case "GET", "/api/version":
                return json_reply({"version": self.version})
            case "GET", "/api/tags":
                return json_reply({"models": [_tag(model) for model in self.models.values()]})
            case "GET", "/api/ps":
                return json_reply({"models": [self._running(name) for name in self.loaded]})
            case "GET", "/v1/models":
                data = [{"id": name, "owned_by": "library"} for name in self.models]
                return json_reply({"object": "list", "data": data})
            case "POST", "/api/show":
                return self._show(request.json)
            case "POST", "/api/chat":
                return self._chat(request.json)
        return Reply(b"404 page not found", status=404, content_type="text/plain")

    def _show(self, body: dict[str, Any]) -> Reply:
        model = self._model(body["model"])
        if model is None:
            return json_reply({"error": f"model '{_full(body['model'])}' not found"}, status=404)
        info = {
            "general.architecture": model.family,
            "general.parameter_count": model.parameters,
            f"{model.family}.context_length": model.context,
        }
        return json_reply(
            _tag(model)
            | {
                "modelfile": f"FROM /blobs/sha256-{model.digest}\nTEMPLATE {model.template}",
                "template": model.template,
                "model_info": info,
            }
        )

    def _chat(self, body: dict[str, Any]) -> Reply:
        model = self._model(body["model"])
        if model is None:
            return json_reply({"error": f"model '{body['model']}' not found"}, status=404)
        if body["messages"] and self.script:
            return self.script.pop(0)
        if not body["messages"] and body.get("keep_alive") == 0:
            self.loaded.pop(model.name, None)
            return json_reply({"model": model.name, "done": True, "done_reason": "unload"})
        is_loaded = model.name in self.loaded
        self.loaded[model.name] = body.get("options", {}).get("num_ctx", 4096)
        load_s = 0.0 if is_loaded else 0.5
        lines = chat_lines(model.name, self._answer(body), body, self._pause_s or 0.01, load_s)
        return stream_reply("application/x-ndjson", lines, self._pause_s)

    def _model(self, name: str) -> FakeModel | None:
        return self.models.get(name) or self.models.get(_full(name))

    def _running(self, name: str) -> dict[str, Any]:
        return _tag(self.models[name]) | {"context_length": self.loaded[name]}


def chat_lines(
    model: str, text: str, body: dict[str, Any], token_s: float, load_s: float
) -> Iterator[str]:
    """The lines of one streamed answer, cut at `num_predict` words."""
    limit = body.get("options", {}).get("num_predict", len(text))
    words = text.split(" ")
    for number, word in enumerate(words[:limit]):
        message = {"role": "assistant", "content": word if number == 0 else f" {word}"}
        yield json.dumps({"model": model, "message": message, "done": False})
    is_cut = len(words) > limit
    generated = limit if is_cut else len(words) + 1
    prompt = sum(len(message["content"].split()) for message in body["messages"])
    yield json.dumps(
        {
            "model": model,
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "length" if is_cut else "stop",
            "load_duration": round(load_s * 1e9) + 1_500_000,
            "prompt_eval_count": prompt,
            "prompt_eval_duration": prompt * 1_000_000,
            "eval_count": generated,
            "eval_duration": round((generated - 1) * token_s * 1e9),
        }
    )


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _tag(model: FakeModel) -> dict[str, Any]:
    tag: dict[str, Any] = {
        "name": model.name,
        "model": model.name,
        "size": model.size,
        "digest": "b" * 64,
        "details": {
            "format": "gguf",
            "family": model.family,
            "parameter_size": f"{model.parameters / 1e9:.1f}B",
            "quantization_level": model.quantization,
        },
    }
    if model.capabilities is not None:
        tag["capabilities"] = list(model.capabilities)
    if model.remote_host is not None:
        tag |= {"remote_host": model.remote_host, "remote_model": model.name}
    return tag
