"""Servers with an OpenAI-compatible `/v1/chat/completions`; llama.cpp's own extras where it is one.

Which engine answers is read from what the server says of itself (`_fingerprint.py`), never
guessed from the port. Fields outside the OpenAI standard (`top_k`, `min_p`, ...) are sent to every
engine, since its defaults may differ from ours; a server that refuses the request with 400 or 422
gets it once more without them, and, if that helped, never again on this connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.provider import FileTemplate, ModelFacts, Provider, ServerFacts, Watch
from bench_loop.errors import EngineRejectedError, ModelNotFoundError, ProviderError
from bench_loop.providers import _faults
from bench_loop.providers._ability import refuse_unless_chat
from bench_loop.providers._endpoint import parse_endpoint
from bench_loop.providers._fingerprint import (
    LISTING,
    LMSTUDIO_LISTINGS,
    PROPS,
    Identity,
    Said,
    identify,
    is_llama_cpp,
    lmstudio_entries,
    questions,
)
from bench_loop.providers._gguf import chat_template
from bench_loop.providers._lmstudio_facts import with_own_words
from bench_loop.providers._openai_chat import (
    chat_body,
    foresight_body,
    likely_tokens,
    llama_extras,
    other_extras,
    parse_line,
)
from bench_loop.providers._openai_facts import (
    base_name,
    model_facts,
    speculative_method,
    template_hash,
)
from bench_loop.providers._stream import StreamReader
from bench_loop.providers._text import as_count, as_dicts, as_text, shown
from bench_loop.providers._transport import ANSWER_LIMIT_S, Transport
from bench_loop.providers.ollama import Ollama

DEFAULT_ENDPOINT = "http://127.0.0.1:8080"
TITLE = "The OpenAI-compatible server"
REMEDY = "Start your model server, or name its address with --endpoint."


def connect(endpoint: str | None, api_key: str | None) -> Provider:
    """A provider for the server at `endpoint`; nothing is sent yet."""
    return OpenAICompat(endpoint or DEFAULT_ENDPOINT, api_key)


class OpenAICompat:
    """One OpenAI-compatible server."""

    name = "openai_compat"

    def __init__(
        self,
        endpoint: str,
        api_key: str | None,
        title: str = TITLE,
        answer_limit_s: float = ANSWER_LIMIT_S,
    ) -> None:
        self._api_key = api_key
        self._http = Transport(parse_endpoint(endpoint), api_key, title, REMEDY, answer_limit_s)
        self._identity: Identity | None = None
        self._takes_extras = True
        self._listed_ids: dict[str, str] = {}  # by our name for it: a path is cut to its end

    def server(self) -> ServerFacts:
        self._list()
        props = self._props()
        slots = as_dicts(self._http.ask("GET", "/slots").json()) if props else []
        identity = self._known()
        return ServerFacts(
            provider=self.name,
            engine=identity.engine,
            version=identity.version,
            endpoint=self._http.endpoint.url,
            is_local=self._http.endpoint.is_local,
            parallel_slots=as_count(props.get("total_slots")),
            speculative=speculative_method(props, slots),
        )

    def models(self) -> tuple[ModelFacts, ...]:
        listing = self._list()
        props = self._props()
        known = [model_facts(entry, listing, props) for entry in as_dicts(listing.get("data"))]
        if self._known().engine != "lmstudio":
            return tuple(known)
        own = lmstudio_entries({path: self._said(path) for path in LMSTUDIO_LISTINGS})
        return tuple(with_own_words(facts, own) for facts in known)

    def model(self, model_id: str) -> ModelFacts:
        """What is known of one model; of Ollama's, all that its own API tells.

        Raises ModelNotFoundError also for a llama.cpp server, which would answer to any name.
        """
        if self._known().engine == "ollama":
            with closing(Ollama(self._http.endpoint, self._api_key)) as native:
                return native.model(model_id)
        known = self.models()
        for facts in known:
            if base_name(model_id) in (facts.model_id, facts.file_name):
                refuse_unless_chat(facts)
                return facts
        names = shown(", ".join(facts.model_id for facts in known)) or "none"
        raise ModelNotFoundError(
            f"The server at {self._http.endpoint.url} has no model {model_id!r}.",
            remedy=f"It has: {names}.",
        )

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        engine = self._known().engine
        if engine == "ollama" and request.thinking is not None:
            raise ProviderError(
                "Ollama's OpenAI-compatible route has no switch for thinking.",
                remedy="Use Ollama's own API: --provider ollama",
            )
        extras = llama_extras(request) if engine == "llama.cpp" else other_extras(request)
        body = chat_body(request)
        body["model"] = self._listed_ids.get(request.model_id, request.model_id)
        if not self._takes_extras:
            return self._send(body, request, watch)
        try:
            return self._send(body | extras, request, watch)
        except EngineRejectedError as error:
            may_be_extras = error.status in (400, 422) and error.reason != "context_overflow"
            if not may_be_extras or engine == "llama.cpp":
                raise
        reply = self._send(body, request, watch)
        self._takes_extras = False
        return reply

    def count_tokens(self, model_id: str, text: str) -> int | None:
        if self._known().engine != "llama.cpp":
            return None
        tokens = self._tokenized(text)
        return len(tokens) if isinstance(tokens, list) else None

    def tokens(self, text: str) -> tuple[int, ...]:
        self._refuse_unless_llama_cpp()
        ids = self._tokenized(text)
        if not isinstance(ids, list) or not all(isinstance(one, int) for one in ids):
            raise _faults.not_a_model_server(self._http.server, "/tokenize gives no token ids")
        return tuple(ids)

    def next_tokens(self, tokens: Sequence[int], most_likely: int) -> dict[int, float]:
        self._refuse_unless_llama_cpp()
        answer = self._http.post_json("/completion", foresight_body(tokens, most_likely))
        found = likely_tokens(answer)
        if not found:
            raise _faults.not_a_model_server(self._http.server, "/completion gives no logprobs")
        return found

    def _refuse_unless_llama_cpp(self) -> None:
        engine = self._known().engine
        if engine != "llama.cpp":
            raise ProviderError(
                f"The server at {self._http.endpoint.url} ({engine}) does not tell the "
                "probabilities of its tokens.",
                remedy="Serve the model with llama.cpp, or name its GGUF file.",
            )

    def _tokenized(self, text: str) -> Any:
        body = {"content": text, "add_special": False, "parse_special": False}
        return self._http.post_json("/tokenize", body).get("tokens")

    def unload(self, model_id: str) -> bool:
        return False

    def file_template(self) -> FileTemplate | None:
        """Of the file that a llama.cpp on this machine serves."""
        path = as_text(self._props().get("model_path"))
        if path is None or not self._http.endpoint.is_local:
            return None
        try:
            if not Path(path).is_file():
                return None
            template = chat_template(Path(path))
        except (OSError, ValueError):
            return None
        return FileTemplate(hash=template_hash(template) if template else None)

    def close(self) -> None:
        self._http.close()

    def _send(self, body: dict[str, Any], request: ChatRequest, watch: Watch | None) -> ChatReply:
        reader = StreamReader(parse_line, request.max_tokens, watch)
        end = self._http.stream("/v1/chat/completions", body, request.wall_limit_s, reader.feed)
        return reader.reply(end.end_s, end.first_byte_s, is_cut=end.is_cut)

    def _known(self) -> Identity:
        """Which engine it is, asked once for each connection, before any clock starts."""
        if self._identity is None:
            listing = self._list()
            self._identity = identify(
                listing, {path: self._said(path) for path in questions(listing)}
            )
        return self._identity

    def _list(self) -> dict[str, Any]:
        """What `/v1/models` says. Raises ProviderError: down, loading, or no model server."""
        listing = self._http.get_json(LISTING)
        if not isinstance(listing.get("data"), list):
            raise _faults.not_a_model_server(self._http.server, f"{LISTING} lists no models")
        ids = [as_text(entry.get("id")) for entry in as_dicts(listing["data"])]
        self._listed_ids = {base_name(listed): listed for listed in ids if listed}
        return listing

    def _props(self) -> dict[str, Any]:
        """What llama.cpp says at `/props`; empty for every other server."""
        props = self._said(PROPS).json()
        return props if is_llama_cpp(props) else {}

    def _said(self, path: str) -> Said:
        answer = self._http.ask("GET", path)
        return Said(answer.status, answer.body, answer.headers.get("server", ""))
