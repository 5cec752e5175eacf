"""Ollama by its own API: it names its model's window, times itself, and can unload."""

from __future__ import annotations

import math
import os
import time
from typing import Any

from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.provider import Address, ModelFacts, Provider, ServerFacts, Watch
from bench_loop.errors import ModelNotFoundError
from bench_loop.providers import _faults, _launch
from bench_loop.providers._ability import refuse_unless_chat
from bench_loop.providers._endpoint import Endpoint, parse_endpoint
from bench_loop.providers._ollama_chat import chat_body, parse_line
from bench_loop.providers._ollama_facts import (
    entry,
    full_facts,
    listed_facts,
    tagged,
    with_running,
)
from bench_loop.providers._openai_chat import sampling_fields
from bench_loop.providers._stream import StreamReader
from bench_loop.providers._text import as_dict, as_dicts, as_label, nameable, shown
from bench_loop.providers._transport import ANSWER_LIMIT_S, Transport

PORT = 11434
REMEDY = "Start it with: ollama serve"
UNLOAD_LIMIT_S = 15.0


def connect(endpoint: str | None, api_key: str | None, total_limit_s: float = math.inf) -> Provider:
    """A provider for the Ollama at `endpoint`, else at OLLAMA_HOST, else on its usual port."""
    place = parse_endpoint(endpoint, PORT) if endpoint else usual_endpoint()
    return Ollama(place, api_key, total_limit_s=total_limit_s)


def usual_endpoint() -> Endpoint:
    """Where the user's Ollama listens: OLLAMA_HOST, which may be as short as `:11500`."""
    return parse_endpoint(os.environ.get("OLLAMA_HOST") or "127.0.0.1", PORT)


class Ollama:
    """One Ollama server."""

    name = "ollama"

    def __init__(
        self,
        endpoint: Endpoint,
        api_key: str | None,
        answer_limit_s: float = ANSWER_LIMIT_S,
        total_limit_s: float = math.inf,
    ) -> None:
        limits = (answer_limit_s, total_limit_s)
        self._api_key = api_key
        self._http = Transport(endpoint, api_key, "Ollama", REMEDY, *limits)

    def address(self) -> Address:
        """That of its OpenAI-compatible routes, which take no `num_ctx`: the window is Ollama's
        default, or that of a Modelfile."""
        return Address(self._http.endpoint.url, self._api_key, is_ollama=True)

    def pinned_fields(self, request: ChatRequest) -> dict[str, str | float | bool | None]:
        """Its OpenAI-compatible routes know the standard's, and no switch for thinking."""
        return sampling_fields(request.model_copy(update={"thinking": None}))

    def server(self) -> ServerFacts:
        version = as_label(self._http.get_json("/api/version").get("version"))
        if version is None:
            raise _faults.not_a_model_server(self._http.server, "/api/version names no version")
        facts = ServerFacts(
            provider=self.name,
            engine="ollama",
            version=version,
            endpoint=self._http.endpoint.url,
            is_local=self._http.endpoint.is_local,
        )
        return _launch.completed(facts, self._http.endpoint.port)

    def models(self) -> tuple[ModelFacts, ...]:
        """All of them; of those that are loaded also with their window and where they lie."""
        tags = nameable(self._http.get_json("/api/tags").get("models"), "model", "name")
        running = self._http.ask("GET", "/api/ps")
        loaded = as_dict(running.json()) if running.status == 200 else {}
        facts = [listed_facts(tag) for tag in tags]
        return tuple(with_running(one, entry(loaded, one.model_id)) for one in facts)

    def model(self, model_id: str) -> ModelFacts:
        tags = self._http.get_json("/api/tags")
        tag = entry(tags, model_id)
        if not tag:
            raise self._missing(model_id, tags)
        show = self._http.post_json("/api/show", {"model": model_id})
        facts = full_facts(tag, show, entry(self._http.get_json("/api/ps"), model_id))
        refuse_unless_chat(facts)
        return facts

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        reader = StreamReader(parse_line, request.max_tokens, watch)
        end = self._http.stream("/api/chat", chat_body(request), request.wall_limit_s, reader.feed)
        return reader.reply(end.end_s, end.first_byte_s, is_cut=end.is_cut)

    def count_tokens(self, model_id: str, text: str) -> int | None:
        return None

    def unload(self, model_id: str) -> bool:
        """Ask Ollama to drop the model, and wait until it is gone from `/api/ps`."""
        self._http.post_json("/api/chat", {"model": model_id, "messages": [], "keep_alive": 0})
        give_up = time.monotonic() + UNLOAD_LIMIT_S
        while entry(self._http.get_json("/api/ps"), model_id):
            if time.monotonic() > give_up:
                return False
            time.sleep(0.1)
        return True

    def free(self, model_id: str) -> bool | None:
        return self.unload(model_id)

    def close(self) -> None:
        self._http.close()

    def _missing(self, model_id: str, tags: dict[str, Any]) -> ModelNotFoundError:
        names = sorted(listed_facts(tag).model_id for tag in as_dicts(tags.get("models")))
        has = f" It has: {shown(', '.join(names))}." if names else " It has no models."
        return ModelNotFoundError(
            f"Ollama at {self._http.endpoint.url} has no model {tagged(model_id)!r}.{has}",
            remedy=f"Get it with: ollama pull {model_id}",
        )
