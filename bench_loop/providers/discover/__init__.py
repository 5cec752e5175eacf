"""Finds the model servers that already run here. A folder, since it is no provider itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from bench_loop.contracts.provider import ModelFacts, Provider
from bench_loop.errors import BenchLoopError
from bench_loop.providers._ability import can_chat
from bench_loop.providers._endpoint import parse_endpoint
from bench_loop.providers.ollama import Ollama, usual_endpoint
from bench_loop.providers.openai_compat import DEFAULT_ENDPOINT, OpenAICompat

ANSWER_LIMIT_S = 2.0


def find_server() -> tuple[str, str] | None:
    """Provider name and endpoint of the first of `known_servers`, or None."""
    return next(_usable_servers(), None)


def known_servers() -> tuple[tuple[str, str], ...]:
    """Provider name and endpoint of each server on its usual port that has a chat model.

    Looked at are Ollama (where OLLAMA_HOST says, else port 11434) and llama.cpp (port 8080). What
    answers there counts only if it says itself that it is that engine.
    """
    return tuple(_usable_servers())


def identify(endpoint: str) -> str:
    """Name of the provider that speaks to what answers at `endpoint`.

    `ollama` where the server says itself that it is one; else `openai_compat`, which almost every
    other server speaks.
    """
    try:
        with closing(
            Ollama(parse_endpoint(endpoint), None, answer_limit_s=ANSWER_LIMIT_S)
        ) as provider:
            return provider.name if provider.server().engine == provider.name else "openai_compat"
    except BenchLoopError:
        return "openai_compat"


def _usable_servers() -> Iterator[tuple[str, str]]:
    for connect, engine in ((_usual_ollama, "ollama"), (_usual_llama_cpp, "llama.cpp")):
        endpoint = _endpoint_if_usable(connect, engine)
        if endpoint is not None:
            yield endpoint


def _endpoint_if_usable(connect: Callable[[], Provider], engine: str) -> tuple[str, str] | None:
    try:
        with closing(connect()) as provider:
            server = provider.server()
            is_usable = server.engine == engine and bool(usable_models(provider))
            return (provider.name, server.endpoint) if is_usable else None
    except BenchLoopError:
        return None


def usable_models(provider: Provider) -> tuple[ModelFacts, ...]:
    """The models of a server that can chat and are really its own: loaded ones, then smaller ones.

    Raises ProviderError when the server does not answer.
    """
    usable = [model for model in provider.models() if _is_usable(model)]
    return tuple(
        sorted(usable, key=lambda model: (model.context_loaded is None, model.size_bytes or 0))
    )


def _is_usable(model: ModelFacts) -> bool:
    return can_chat(model) and not model.is_remote


def _usual_ollama() -> Provider:
    return Ollama(usual_endpoint(), None, answer_limit_s=ANSWER_LIMIT_S)


def _usual_llama_cpp() -> Provider:
    return OpenAICompat(DEFAULT_ENDPOINT, None, answer_limit_s=ANSWER_LIMIT_S)
