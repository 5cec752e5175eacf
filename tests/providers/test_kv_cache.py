"""How much a token adds to the KV cache, by the shape that a GGUF header or Ollama tells."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.providers import _weights
from bench_loop.providers._gguf import shape
from bench_loop.providers._kv_cache import cached_values
from bench_loop.providers.embedded import weights_facts

QWEN3_8B = {
    "general.architecture": "qwen3",
    "qwen3.block_count": 36,
    "qwen3.embedding_length": 4096,
    "qwen3.attention.head_count": 32,
    "qwen3.attention.head_count_kv": 8,
    "qwen3.attention.key_length": 128,
    "qwen3.attention.value_length": 128,
}
"""As the model's config.json has it: 36 layers, 8 KV heads, heads of 128."""


def with_changes(**changes: Any) -> dict[str, Any]:
    changed = {f"qwen3.{name.replace('__', '.')}": value for name, value in changes.items()}
    return {name: value for name, value in (QWEN3_8B | changed).items() if value is not None}


def test_every_layer_keeps_keys_and_values_of_its_kv_heads() -> None:
    assert cached_values(QWEN3_8B) == 36 * 8 * (128 + 128)


def test_lengths_that_are_not_told_are_the_width_by_the_heads() -> None:
    header = with_changes(attention__key_length=None, attention__value_length=None)
    assert cached_values(header) == 36 * 8 * (128 + 128)


def test_without_kv_heads_every_head_has_its_own() -> None:
    assert cached_values(with_changes(attention__head_count_kv=None)) == 36 * 32 * 256


def test_kv_heads_may_be_told_for_each_layer() -> None:
    heads = [0, 0, 8, 4]
    assert cached_values(with_changes(attention__head_count_kv=heads)) == 12 * 256


@pytest.mark.parametrize(
    "header",
    [
        {},
        with_changes(attention__sliding_window=1024),
        with_changes(attention__kv_lora_rank=512),
        with_changes(full_attention_interval=4),
        with_changes(ssm__state_size=128),
        with_changes(block_count=None),
        with_changes(block_count="36"),
        with_changes(block_count=2**60),
        with_changes(attention__head_count=0),
        with_changes(attention__head_count_kv=[8, None, -1]),
        with_changes(attention__head_count_kv=1e308),
    ],
)
def test_a_shape_that_does_not_tell_it_is_unknown(header: dict[str, Any]) -> None:
    lengths = {"qwen3.attention.key_length", "qwen3.attention.value_length"}
    if header.get("qwen3.attention.head_count") == 0:
        header = {name: value for name, value in header.items() if name not in lengths}
    assert cached_values(header) is None


@pytest.mark.real
def test_the_shape_of_a_real_file_is_read() -> None:
    weights = _weights.find("smollm2-135m", lambda sentence: None)
    # 30 layers with 3 KV heads of 64 each (the model's config.json).
    assert cached_values(shape(weights.path)) == 30 * 3 * (64 + 64)
    facts = weights_facts(str(weights.path))
    assert facts.kv_values == 30 * 3 * (64 + 64)
    assert facts.size_bytes == weights.path.stat().st_size


def test_weights_that_are_not_there_yet_have_a_size_and_no_shape() -> None:
    facts = weights_facts("qwen2.5-coder-1.5b")
    assert (facts.size_bytes, facts.kv_values) == (1_117_320_768, None)
