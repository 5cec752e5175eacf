"""What an OpenAI-compatible server says of itself and its models, without any I/O."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from bench_loop.contracts.provider import ModelFacts
from bench_loop.names.paths import file_name
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_text, as_texts


def model_facts(
    entry: dict[str, Any], listing: dict[str, Any], props: dict[str, Any]
) -> ModelFacts:
    """What one entry of `/v1/models` says, and `/props` where the server is llama.cpp."""
    meta = as_dict(entry.get("meta"))
    settings = as_dict(props.get("default_generation_settings"))
    path = as_text(props.get("model_path"))
    template = as_text(props.get("chat_template"))
    return ModelFacts(
        model_id=base_name(as_text(entry.get("id")) or "unnamed"),
        parameters=as_count(meta.get("n_params")) or None,
        quantization=as_text(meta.get("ftype")) or as_text(props.get("model_ftype")),
        size_bytes=as_count(meta.get("size")) or None,
        file_name=file_name(path) if path else None,
        chat_template_hash=template_hash(template) if template else None,
        context_declared=as_count(meta.get("n_ctx_train"))
        or as_count(entry.get("context_length"))
        or None,
        context_loaded=as_count(settings.get("n_ctx")) or as_count(entry.get("max_model_len")),
        capabilities=_capabilities(entry, listing, props, template),
    )


def template_hash(template: str) -> str:
    """The tagged SHA-256 of a chat template."""
    return "sha256:" + hashlib.sha256(template.encode()).hexdigest()


def _capabilities(
    entry: dict[str, Any], listing: dict[str, Any], props: dict[str, Any], template: str | None
) -> tuple[str, ...] | None:
    """llama.cpp's own list, completed from its chat template; None for other servers."""
    twins = [
        twin for twin in as_dicts(listing.get("models")) if twin.get("name") == entry.get("id")
    ]
    found = as_texts(twins[0].get("capabilities")) if twins else None
    if found is None:
        return None
    of_template = {
        "tools": as_dict(props.get("chat_template_caps")).get("supports_tools") is True,
        "thinking": "enable_thinking" in (template or ""),
    }
    return tuple(dict.fromkeys([*found, *(word for word, has in of_template.items() if has)]))


def base_name(model_id: str) -> str:
    """A model's id, and of a path on the server's disk only the file name."""
    is_path = model_id.startswith(("/", "~", ".")) or "\\" in model_id
    return file_name(model_id) if is_path or model_id.endswith(".gguf") else model_id


_VLLM_KV = re.compile(r'^vllm:cache_config_info\{[^}]*\bcache_dtype="([\w.]{1,40})"', re.MULTILINE)


def kv_cache_type(metrics: str) -> str | None:
    """The type of the KV cache in vLLM's metrics; None where they do not name it."""
    found = _VLLM_KV.search(metrics)
    return found[1] if found else None


def speculative_method(props: dict[str, Any], slots: list[dict[str, Any]]) -> str | None:
    """Speculative decoding by its name at `/props`, else only whether the slots do it."""
    params = as_dict(as_dict(props.get("default_generation_settings")).get("params"))
    if named := as_text(params.get("speculative.types")):
        return named
    flags = [slot.get("speculative") for slot in slots]
    if not flags or not all(isinstance(flag, bool) for flag in flags):
        return None
    return "draft" if any(flags) else "none"
