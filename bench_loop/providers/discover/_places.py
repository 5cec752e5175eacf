"""Where model servers usually listen on one's own machine."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.providers.ollama import usual_endpoint

USUAL_PORTS = (8080, 1234, 8000, 1337)
"""llama.cpp, llama-swap and mlx_lm; LM Studio; vLLM; Jan. Ollama's stands in OLLAMA_HOST.

The numbers say only where to look, never what was found there.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """An address to look at; `name` is what the user saved it under, None for a usual port."""

    url: str
    name: str | None = None


def usual_places() -> tuple[Place, ...]:
    """The addresses that servers take unless they are told another one."""
    own = (Place(f"http://127.0.0.1:{port}") for port in USUAL_PORTS)
    return tuple(dict.fromkeys((Place(usual_endpoint().url), *own)))
