"""How much each token of a window adds to a model's KV cache, by the shape in its GGUF header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_loop.providers._text import MAX_COUNT, as_count, as_text

_SMALLER = ("attention.sliding_window", "attention.kv_lora_rank", "full_attention_interval")
"""Attention that keeps less than all keys and values of every layer."""


def cached_values(header: Mapping[str, Any]) -> int | None:
    """Keys and values that one token adds, over all layers; None where the shape does not tell.

    `header` has GGUF's own names (ggml's docs/gguf.md), as Ollama's `model_info` has them too: sum
    over the layers of KV heads x (key length + value length). Models that keep less than that
    (sliding windows, latent attention, layers without attention) are unknown.
    """
    architecture = as_text(header.get("general.architecture"))
    shape = {
        name.removeprefix(f"{architecture}."): value
        for name, value in header.items()
        if name.startswith(f"{architecture}.")
    }
    if any(shape.get(name) for name in _SMALLER) or any(name.startswith("ssm.") for name in shape):
        return None
    heads = as_count(shape.get("attention.head_count"))
    head = (as_count(shape.get("embedding_length")) or 0) // heads if heads else None
    key = as_count(shape.get("attention.key_length")) or head
    value = as_count(shape.get("attention.value_length")) or head
    kv_heads = _kv_heads(shape, heads)
    if not (key and value and kv_heads):
        return None
    total = kv_heads * (key + value)
    return total if total <= MAX_COUNT else None


def _kv_heads(shape: Mapping[str, Any], heads: int | None) -> int | None:
    """KV heads of all layers together: one number for every layer, or a list of theirs."""
    told = shape.get("attention.head_count_kv", heads)
    if isinstance(told, list):
        counts = [as_count(one) for one in told]
        return None if None in counts else sum(filter(None, counts))
    each, layers = as_count(told), as_count(shape.get("block_count"))
    return each * layers if each and layers else None
