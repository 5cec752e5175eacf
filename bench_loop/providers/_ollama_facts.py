"""What Ollama says of its models at `/api/tags`, `/api/show` and `/api/ps`, without any I/O."""

from __future__ import annotations

import re
from typing import Any

from bench_loop.contracts.provider import ModelFacts
from bench_loop.providers._kv_cache import cached_values
from bench_loop.providers._openai_facts import template_hash
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_text, as_texts

_WEIGHTS_BLOB = re.compile(r"^FROM\s.*sha256[-:]([0-9a-f]{64})\s*$", re.MULTILINE)


def listed_facts(tag: dict[str, Any]) -> ModelFacts:
    """What one entry of `/api/tags` says."""
    details = as_dict(tag.get("details"))
    return ModelFacts(
        model_id=as_text(tag.get("model")) or as_text(tag.get("name")) or "unnamed",
        family=as_text(details.get("family")),
        parameter_size=as_text(details.get("parameter_size")),
        quantization=as_text(details.get("quantization_level")),
        size_bytes=as_count(tag.get("size")) or None,
        context_declared=as_count(details.get("context_length")) or None,
        capabilities=as_texts(tag.get("capabilities")),
        is_remote=_is_remote(tag),
    )


def full_facts(tag: dict[str, Any], show: dict[str, Any], running: dict[str, Any]) -> ModelFacts:
    """All that is known of one model; `running` is its entry at `/api/ps`, empty if not loaded.

    The digest of the tag names Ollama's own manifest; that of the weights stands in the modelfile.
    """
    details, info = as_dict(show.get("details")), as_dict(show.get("model_info"))
    architecture = as_text(info.get("general.architecture")) or ""
    template = as_text(show.get("template"))
    weights = _WEIGHTS_BLOB.search(as_text(show.get("modelfile")) or "")
    listed = listed_facts(tag | {"details": as_dict(tag.get("details")) | details})
    return with_running(listed, running).model_copy(
        update={
            "parameters": as_count(info.get("general.parameter_count")) or None,
            "weights_digest": f"sha256:{weights[1]}" if weights else None,
            "kv_values": cached_values(info),
            "chat_template_hash": template_hash(template) if template else None,
            "context_declared": as_count(info.get(f"{architecture}.context_length"))
            or listed.context_declared,
            "capabilities": as_texts(show.get("capabilities")) or listed.capabilities,
            "is_remote": listed.is_remote or _is_remote(show),
        }
    )


def with_running(facts: ModelFacts, running: dict[str, Any]) -> ModelFacts:
    """`facts` with what the model's entry at `/api/ps` says; empty: it is not loaded."""
    return facts.model_copy(
        update={
            "context_loaded": as_count(running.get("context_length")) or None,
            "offloaded_share": _offloaded_share(running),
        }
    )


def _offloaded_share(running: dict[str, Any]) -> float | None:
    """GPU memory by all memory of a loaded model, in whole percent; None where it is not told."""
    size, on_gpu = as_count(running.get("size")), as_count(running.get("size_vram"))
    return min(1.0, round(on_gpu / size, 2)) if size and on_gpu is not None else None


def entry(listing: dict[str, Any], model_id: str) -> dict[str, Any]:
    """The entry of `/api/tags` or `/api/ps` for a model; empty when there is none."""
    names = {model_id, tagged(model_id)}
    for found in as_dicts(listing.get("models")):
        if {as_text(found.get("name")), as_text(found.get("model"))} & names:
            return found
    return {}


def tagged(model_id: str) -> str:
    """The full name: without a tag Ollama means `latest`."""
    return model_id if ":" in model_id.rpartition("/")[2] else f"{model_id}:latest"


def _is_remote(source: dict[str, Any]) -> bool:
    """Whether the model runs on a cloud that this server only forwards to."""
    details = as_dict(source.get("details"))
    return any(
        as_text(place.get(key)) is not None
        for place in (source, details)
        for key in ("remote_host", "remote_model")
    )
