"""Whether the same greedy request gives the same answer, once read anew and once remembered."""

from __future__ import annotations

from collections.abc import Callable

from bench_loop.contracts.chat import ChatReply
from bench_loop.result.records import Determinism

DETERMINISM_TOKENS = 96
DETERMINISM_PROMPTS = (
    "Describe, step by step, how rain becomes river water.",
    "Explain to a new colleague how a public library lends its books.",
    "Tell a short story about a lighthouse keeper who mends a clock.",
)
DETERMINISM_REQUESTS = 2 * len(DETERMINISM_PROMPTS)

AskAgain = Callable[[str, bool], ChatReply]
"""Sends a prompt with DETERMINISM_TOKENS to answer it; the flag allows the prompt cache."""


def probe_determinism(ask: AskAgain) -> Determinism:
    """Each prompt twice in a row: cold, then from the cache. Raises ProviderError."""
    differences = []
    for prompt in DETERMINISM_PROMPTS:
        cold, cached = (ask(prompt, use_cache) for use_cache in (False, True))
        differences.append(first_difference(_words(cold), _words(cached)))
    apart = [at for at in differences if at is not None]
    return Determinism(
        prompts=len(differences),
        identical=len(differences) - len(apart),
        first_difference=min(apart, default=None),
    )


def first_difference(a: str, b: str) -> int | None:
    """Characters that two texts have in common from the start; None: they are the same."""
    if a == b:
        return None
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(a), len(b)))


def _words(reply: ChatReply) -> str:
    return reply.thinking + reply.text
