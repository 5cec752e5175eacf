"""What LM Studio says of its models at `/api/v1/models` and `/api/v0/models`, without any I/O.

Source: its documentation of both, lmstudio.ai/docs/developer/rest.
"""

from __future__ import annotations

from typing import Any

from bench_loop.contracts.provider import ModelFacts
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_text, as_texts


def with_own_words(facts: ModelFacts, entries: list[dict[str, Any]]) -> ModelFacts:
    """`facts` of a model with what its entry in one of LM Studio's own lists adds."""
    for entry in entries:
        if facts.model_id in _names(entry):
            return facts.model_copy(update=_told(entry))
    return facts


def _names(entry: dict[str, Any]) -> set[str | None]:
    """What a request may call this model: its key, or the name of a loaded instance."""
    instances = as_dicts(entry.get("loaded_instances"))
    return {as_text(one.get("id")) for one in (entry, *instances)} | {as_text(entry.get("key"))}


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    quantization = entry.get("quantization")
    name = as_dict(quantization).get("name") if isinstance(quantization, dict) else quantization
    windows = [
        as_count(as_dict(one.get("config")).get("context_length"))
        for one in as_dicts(entry.get("loaded_instances"))
    ]
    return {
        "family": as_text(entry.get("architecture")) or as_text(entry.get("arch")),
        "parameter_size": as_text(entry.get("params_string")),
        "quantization": as_text(name),
        "size_bytes": as_count(entry.get("size_bytes")) or None,
        "context_declared": as_count(entry.get("max_context_length")) or None,
        "context_loaded": next(filter(None, windows), None)
        or as_count(entry.get("loaded_context_length"))
        or None,
        "capabilities": _capabilities(entry),
    }


def _capabilities(entry: dict[str, Any]) -> tuple[str, ...]:
    """In Ollama's words, like those of every other server."""
    kind = as_text(entry.get("type")) or ""
    if kind.startswith("embedding"):
        return ("embedding",)
    claims = as_dict(entry.get("capabilities"))
    words = as_texts(entry.get("capabilities")) or ()
    has = {
        "tools": claims.get("trained_for_tool_use") is True or "tool_use" in words,
        "vision": claims.get("vision") is True or kind == "vlm",
    }
    return ("completion", *(word for word, is_so in has.items() if is_so))
