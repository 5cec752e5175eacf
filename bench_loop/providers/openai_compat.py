"""Servers with an OpenAI-compatible `/v1/chat/completions`; llama.cpp's own extras where it is one.

Which engine answers is read from what the server says of itself (`_fingerprint.py`), never
guessed from the port. Fields outside the OpenAI standard (`top_k`, `min_p`, ...) are sent to every
engine, since its defaults may differ from ours; a server that refuses the request with 400 or 422
gets it once more without them, and, if that helped, never again on this connection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.provider import (
    Address,
    FileTemplate,
    ModelFacts,
    Provider,
    ServerFacts,
    Watch,
)
from bench_loop.errors import EngineRejectedError, ModelNotFoundError, ProviderError
from bench_loop.providers import _faults, _freeing, _launch
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
    likely_in_prompt,
    likely_tokens,
    llama_extras,
    llama_sampling,
    other_extras,
    other_sampling,
    parse_line,
    read_body,
    sampling_fields,
)
from bench_loop.providers._openai_facts import (
    base_name,
    kv_cache_type,
    model_facts,
    speculative_method,
    template_hash,
)
from bench_loop.providers._stream import StreamReader
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_text, nameable, shown
from bench_loop.providers._transport import ANSWER_LIMIT_S, Transport
from bench_loop.providers.ollama import Ollama

DEFAULT_ENDPOINT = "http://127.0.0.1:8080"
TITLE = "The OpenAI-compatible server"
VLLM_MOST_LIKELY = 20
"""Tokens that vLLM tells of at most, unless it was started with more (`--max-logprobs`)."""
REMEDY = "Start your model server, or name its address with --endpoint."


def connect(endpoint: str | None, api_key: str | None, total_limit_s: float = math.inf) -> Provider:
    """A provider for the server at `endpoint`; nothing is sent yet."""
    return OpenAICompat(endpoint or DEFAULT_ENDPOINT, api_key, total_limit_s=total_limit_s)


class OpenAICompat:
    """One OpenAI-compatible server."""

    name = "openai_compat"

    def __init__(
        self,
        endpoint: str,
        api_key: str | None,
        title: str = TITLE,
        answer_limit_s: float = ANSWER_LIMIT_S,
        total_limit_s: float = math.inf,
    ) -> None:
        self._api_key = api_key
        limits = (answer_limit_s, total_limit_s)
        self._http = Transport(parse_endpoint(endpoint), api_key, title, REMEDY, *limits)
        self._identity: Identity | None = None
        self._takes_extras = True
        self._listed_ids: dict[str, str] = {}  # by our name for it: a path is cut to its end

    def address(self) -> Address:
        return Address(self._http.endpoint.url, self._api_key)

    def pinned_fields(self, request: ChatRequest) -> dict[str, str | float | bool | None]:
        """Those outside the standard too, unless the server has refused them."""
        fields = sampling_fields(request)
        if not self._takes_extras:
            return fields
        engine = self._known().engine
        if engine != "llama.cpp":
            fields |= other_sampling(request)
        if engine in ("llama.cpp", "llama-swap"):
            fields |= llama_sampling(request)
        return fields

    def server(self) -> ServerFacts:
        self._list()
        props = self._props()
        slots = as_dicts(self._http.ask("GET", "/slots").json()) if props else []
        identity = self._known()
        facts = ServerFacts(
            provider=self.name,
            engine=identity.engine,
            version=identity.version,
            endpoint=self._http.endpoint.url,
            is_local=self._http.endpoint.is_local,
            parallel_slots=as_count(props.get("total_slots")),
            speculative=speculative_method(props, slots),
            kv_cache_type=self._kv_cache_type(),
        )
        return _launch.completed(facts, self._http.endpoint.port)

    def _kv_cache_type(self) -> str | None:
        """What vLLM's `/metrics` say of it: `auto` is the model's own type."""
        if self._known().engine != "vllm":
            return None
        answer = self._http.ask("GET", "/metrics")
        return kv_cache_type(answer.body.decode("utf-8", "replace"))

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
                return self._behind_proxy(facts)
        names = shown(", ".join(facts.model_id for facts in known)) or "none"
        raise ModelNotFoundError(
            f"The server at {self._http.endpoint.url} has no model {model_id!r}.",
            remedy=f"It has: {names}.",
        )

    def _behind_proxy(self, facts: ModelFacts) -> ModelFacts:
        """Of llama-swap what the llama.cpp server behind it says, if it runs: none is started."""
        if self._known().engine != "llama-swap":
            return facts
        listed = self._listed_ids.get(facts.model_id, facts.model_id)
        running = as_dicts(as_dict(self._http.ask("GET", "/running").json()).get("running"))
        if not any((one.get("model"), one.get("state")) == (listed, "ready") for one in running):
            return facts
        props = self._props(f"/upstream/{quote(listed, safe='/')}/props")
        return model_facts({"id": listed}, {}, props)

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        engine = self._known().engine
        if engine == "ollama" and request.thinking is not None:
            raise ProviderError(
                "Ollama's OpenAI-compatible route has no switch for thinking.",
                remedy="Use Ollama's own API: --provider ollama",
            )
        extras = {} if engine == "llama.cpp" else other_extras(request)
        if engine in ("llama.cpp", "llama-swap"):
            extras |= llama_extras(request)
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
        if self._known().engine not in ("llama.cpp", "vllm"):
            return None
        tokens = self._tokenized(text, self._listed_ids.get(model_id, model_id))
        return len(tokens) if isinstance(tokens, list) else None

    def tokens(self, text: str) -> tuple[int, ...]:
        self._refuse_unless_foresighted()
        ids = self._tokenized(text, self._first_model())
        if not isinstance(ids, list) or not all(isinstance(one, int) for one in ids):
            raise _faults.not_a_model_server(self._http.server, "/tokenize gives no token ids")
        return tuple(ids)

    def foresee(
        self, tokens: Sequence[int], first: int, most_likely: int
    ) -> Iterator[dict[int, float]]:
        """Of llama.cpp one request a position, since it tells nothing of a prompt's own tokens."""
        self._refuse_unless_foresighted()
        if self._known().engine == "vllm":
            yield from self._foreseen_at_once(tokens, first, most_likely)
            return
        for end in range(first, len(tokens)):
            body = foresight_body(tokens[:end], most_likely)
            found = likely_tokens(self._http.post_json("/completion", body))
            if not found:
                raise _faults.not_a_model_server(self._http.server, "/completion gives no logprobs")
            yield found

    def _foreseen_at_once(
        self, tokens: Sequence[int], first: int, most_likely: int
    ) -> list[dict[int, float]]:
        most = min(most_likely, VLLM_MOST_LIKELY)
        body = read_body(self._first_model(), tokens, most)
        found = likely_in_prompt(self._http.post_json("/v1/completions", body), most)
        if len(found) != len(tokens) or not all(found[first:]):
            raise _faults.not_a_model_server(self._http.server, "/v1/completions gives no logprobs")
        return found[first:]

    def _refuse_unless_foresighted(self) -> None:
        engine = self._known().engine
        if engine not in ("llama.cpp", "vllm"):
            raise ProviderError(
                f"The server at {self._http.endpoint.url} ({engine}) does not tell the "
                "probabilities of its tokens.",
                remedy="Serve the model with llama.cpp or vLLM, or name its GGUF file.",
            )

    def _first_model(self) -> str:
        """The id of the server's first model, in its own words."""
        entries = as_dicts(self._list()["data"])
        return next((found for one in entries if (found := as_text(one.get("id")))), "")

    def _tokenized(self, text: str, model_id: str) -> Any:
        if self._known().engine == "vllm":
            body = {"model": model_id, "prompt": text, "add_special_tokens": False}
        else:
            body = {"content": text, "add_special": False, "parse_special": False}
        return self._http.post_json("/tokenize", body).get("tokens")

    def unload(self, model_id: str) -> bool:
        return False

    def free(self, model_id: str) -> bool | None:
        """As `Freeing` says; Ollama's own API is used where it is one."""
        if self._known().engine == "ollama":
            with closing(Ollama(self._http.endpoint, self._api_key)) as native:
                return native.free(model_id)
        return _freeing.free(self._http, self._listed_ids.get(model_id, model_id))

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
        listing["data"] = nameable(listing["data"], "id")
        ids = [as_text(entry.get("id")) for entry in listing["data"]]
        self._listed_ids = {base_name(listed): listed for listed in ids if listed}
        return listing

    def _props(self, path: str = PROPS) -> dict[str, Any]:
        """What llama.cpp says at `/props`; empty for every other server."""
        props = self._said(path).json()
        return props if is_llama_cpp(props) else {}

    def _said(self, path: str) -> Said:
        answer = self._http.ask("GET", path)
        return Said(answer.status, answer.body, answer.headers.get("server", ""))
