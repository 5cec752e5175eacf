"""Reads what a server said of a model and someone wrote down: entries of the engines' own lists."""

from __future__ import annotations

from typing import Any

from bench_loop.contracts.provider import ModelFacts
from bench_loop.providers._ollama_facts import full_facts
from bench_loop.providers._openai_facts import base_name
from bench_loop.providers._text import as_count, as_dict, as_text

_FAMILY = ("family", "arch", "architecture", "general.architecture")
_SIZE = ("parameter_size", "params_string", "parameters")
_QUANTIZATION = ("quantization_level", "quantization", "ftype", "quant", "file_type")
_COUNT = ("n_params", "parameter_count", "general.parameter_count")
_BYTES = ("size", "size_bytes", "model_size")
_FILE = ("file_name", "model_path", "path")
_EMBEDDERS = ("embedding", "embeddings")


def facts_from(model_id: str, said: dict[str, Any]) -> ModelFacts:
    """The facts in `said`: an entry of Ollama's list or its answer to /api/show, of LM Studio's or
    llama.cpp's list, or their details alone. What none of them calls by these names is left out.
    """
    parts = (said, *(as_dict(said.get(key)) for key in ("details", "meta", "model_info")))
    bits = _first_text(parts, _QUANTIZATION)
    if bits and _first_text(parts, ("compatibility_type", "format")) == "mlx":
        bits = f"mlx {bits}"
    tag = {
        "model": model_id,
        "size": _first_count(parts, _BYTES),
        "capabilities": said.get("capabilities"),
        "details": {
            "family": _first_text(parts, _FAMILY),
            "parameter_size": _first_text(parts, _SIZE),
            "quantization_level": bits,
            **{key: said.get(key) for key in ("remote_host", "remote_model")},
        },
    }
    details = as_dict(said.get("details"))
    facts = full_facts(tag, {"capabilities": said.get("capabilities"), "details": details}, {})
    path = _first_text(parts, _FILE)
    is_embedder = as_text(said.get("type")) in _EMBEDDERS
    return facts.model_copy(
        update={
            "parameters": _first_count(parts, _COUNT),
            "quantization": bits,
            "file_name": base_name(path) if path else None,
            "capabilities": ("embedding",) if is_embedder else facts.capabilities,
        }
    )


def _first_text(parts: tuple[dict[str, Any], ...], names: tuple[str, ...]) -> str | None:
    found = (
        as_dict(part.get(name)).get("name", part.get(name)) for name in names for part in parts
    )
    return next((text for value in found if (text := as_text(value))), None)


def _first_count(parts: tuple[dict[str, Any], ...], names: tuple[str, ...]) -> int | None:
    found = (as_count(part.get(name)) for name in names for part in parts)
    return next((count for count in found if count), None)
