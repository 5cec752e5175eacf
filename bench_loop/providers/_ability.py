"""Whether a model can chat here at all, by what its server says of it, else by its name."""

from __future__ import annotations

import re

from bench_loop.contracts.provider import ModelFacts
from bench_loop.errors import ModelNotFoundError

_NO_CHAT_NAME = re.compile(
    r"(^|[^a-z])(text-?embedding|embed(ding|der)?s?|bge|gte|e5|minilm|(col|nomic-|modern)?bert"
    r"|rerank(er|ing)?)([^a-z]|$)",
    re.IGNORECASE,
)


def can_chat(facts: ModelFacts) -> bool:
    """Capabilities decide where the server gives them; else family and name do."""
    if facts.capabilities is not None:
        return "completion" in facts.capabilities
    words = f"{facts.family or ''} {facts.model_id}"
    return _NO_CHAT_NAME.search(words) is None


def refuse_unless_chat(facts: ModelFacts) -> None:
    """Raises ModelNotFoundError for a model of a cloud, and for one that only embeds or ranks."""
    if facts.is_remote:
        raise ModelNotFoundError(
            f"{facts.model_id} does not run on this server: it only forwards to a cloud.",
            remedy="Benchmark a model whose weights are on the machine.",
        )
    if not can_chat(facts):
        raise ModelNotFoundError(
            f"{facts.model_id} is an embedding or ranking model: it cannot chat.",
            remedy="Choose a chat (instruct) model.",
        )
