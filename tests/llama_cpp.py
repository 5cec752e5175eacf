"""A real llama.cpp server for tests, with the smallest real model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.components import need_llama_cpp


@dataclass(frozen=True)
class LlamaCpp:
    """Where the server listens, and the name of its one model."""

    url: str
    model_id: str


@contextmanager
def llama_cpp() -> Iterator[LlamaCpp]:
    """A running server with SmolLM2-135M and a window of 8,192 tokens."""
    weights = need_llama_cpp()
    from bench_loop.providers import embedded

    server = embedded.start(str(weights), 8192)
    try:
        yield LlamaCpp(server.server().endpoint, server.models()[0].model_id)
    finally:
        server.close()
