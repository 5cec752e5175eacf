"""One name for the ids under which servers list the same model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.names.canonical import canonical_name


@pytest.mark.parametrize(
    ("ids", "key"),
    [
        (
            (
                "qwen3:8b",
                "Qwen/Qwen3-8B",
                "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M",
                "Qwen3-8B-Q4_K_M.gguf",
                "/models/someone/Qwen3-8B-UD-Q4_K_XL.gguf",
                "mlx-community/Qwen3-8B-4bit",
                "qwen3-8b-w4a8",
            ),
            "qwen3-8b",
        ),
        (("llama3.1:8b-instruct-q8_0", "meta-llama-3.1-8b-instruct@Q4_K_M"), "llama-3.1-8b"),
        (("mixtral:8x7b", "mixtral:8x7b-instruct-v0.1-q4_0"), "mixtral-8x7b"),
        (("gemma3n:e4b", "gemma-3n-E4B-it-Q4_K_M.gguf"), "gemma-3n-e4b"),
        (
            ("mistral-small3.2:24b", "Mistral-Small-3.2-24B-Instruct-2506-Q4_K_M.gguf"),
            "mistral-small-3.2-24b",
        ),
        (("mistral-small:24b-instruct-2501-q8_0", "mistral-small-3-24b"), "mistral-small-3-24b"),
        (("Mistral-Small-3.1-24B-Instruct-2503", "mistral-small3.1:24b"), "mistral-small-3.1-24b"),
        (("OLMo-2-1124-13B-Instruct-Q4_K_M.gguf", "olmo2:13b"), "olmo-2-13b"),
        (("Phi-3-mini-4k-instruct-q4.gguf", "phi3:mini"), "phi-3-3.8b"),
        (("yi:34b-chat-v1.5", "Yi-1.5-34B-Chat"), "yi-1.5-34b"),
        (
            ("qwen3:30b-a3b-instruct-2507-q4_K_M", "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8"),
            "qwen3-30b-2507",
        ),
        (("deepseek-r1:671b-0528-q4_K_M", "DeepSeek-R1-0528"), "deepseek-r1-671b-0528"),
        (("command-r:35b-08-2024-q4_0", "c4ai-command-r-35b-2408"), "command-r-35b-2408"),
        # When a quantizer packed the weights is no release of them.
        (
            (
                "mlx-community/Qwen3-30B-A3B-4bit",
                "mlx-community/Qwen3-30B-A3B-4bit-DWQ-10072025",
                "mlx-community/Qwen3-30B-A3B-4bit-DWQ-053125",
                "mlx-community/Qwen3-30B-A3B-4bit-DWQ-0508",
            ),
            "qwen3-30b",
        ),
        (("RedHatAI/Llama-3.3-70B-Instruct-quantized.w8a8", "llama3.3"), "llama-3.3-70b"),
    ],
)
def test_spellings_of_a_model_have_one_key(ids: tuple[str, ...], key: str) -> None:
    assert {canonical_name(model_id).key for model_id in ids} == {key}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("qwen3:8b", "qwen3:14b"),
        ("qwen3:8b", "qwen2.5:7b"),
        ("deepseek-r1:14b", "deepseek-r1:671b"),
        ("llama3.1:8b", "Llama-3.1-8B-Lexi-Uncensored-V2-GGUF:Q8"),
        ("gemma-2-2b-it-Q4_K_M.gguf", "gemma-2-2b-it-abliterated-Q4_K_M.gguf"),
        ("granite3.3:8b", "granite3.3:8b-base-q4_K_M"),
        ("qwen3:30b-a3b", "qwen3:30b-a3b-thinking-2507-q4_K_M"),
        ("qwen3-30b-a3b", "qwen3-30b-a3b-instruct-2507"),
        ("qwen3-30b-a3b-thinking-2507", "qwen3-30b-a3b-instruct-2507"),
        ("deepseek-r1", "deepseek-r1-0528"),
        ("deepseek-v3", "deepseek-v3-0324"),
        ("moonshotai/Kimi-K2-Instruct", "Kimi-K2-Instruct-0905"),
        ("mistral:7b-instruct-v0.2-q4_0", "Mistral-7B-Instruct-v0.3"),
        ("Mistral-7B-Instruct-v0.1", "Mistral-7B-Instruct-v0.3"),
        ("Mistral-Small-Instruct-2409", "Mistral-Small-24B-Instruct-2501"),
        ("c4ai-command-r-v01", "c4ai-command-r-08-2024"),
        ("Llama-3_3-Nemotron-Super-49B-v1", "Llama-3_3-Nemotron-Super-49B-v1_5"),
        ("Phi-3-mini-4k-instruct", "Phi-3-mini-128k-instruct"),
        ("Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct-1M"),
        ("qwq:32b", "qwq:32b-preview-q4_K_M"),
        ("DeepSeek-V3.2", "DeepSeek-V3.2-Exp"),
        ("OLMo-2-1124-7B-Instruct", "OLMo-2-1124-7B-SFT"),
        ("gemma3:27b", "gemma3:27b-it-qat"),
        ("olmo-3-7b", "Olmo-3-7B-Think-Q8_0.gguf"),
    ],
)
def test_other_weights_have_another_key(a: str, b: str) -> None:
    assert canonical_name(a).key != canonical_name(b).key


def test_the_server_tells_the_size_where_the_name_has_none() -> None:
    assert canonical_name("qwen3:latest", parameters_b=8.19).key == "qwen3-8b"
    assert canonical_name("qwen3:latest", parameters_b=4.02).key == "qwen3-4b"


def test_a_count_of_packed_weights_does_not_overrule_the_name() -> None:
    assert canonical_name("Qwen/Qwen2.5-72B-Instruct-AWQ", parameters_b=11.9).key == "qwen2.5-72b"


def test_ids_that_say_nothing_are_one_model_only_with_equal_weights() -> None:
    a = canonical_name("default", weights_digest="sha256:" + "a" * 64)
    b = canonical_name("default", weights_digest="sha256:" + "b" * 64)
    assert a.key != b.key
    assert a.name == b.name == "default"
    assert canonical_name("Default", weights_digest="sha256:" + "a" * 64).key == a.key


def test_the_file_is_read_where_the_id_says_nothing() -> None:
    assert canonical_name("default", file_name="Qwen3-8B-Q4_K_M.gguf").key == "qwen3-8b"


@given(st.text(max_size=300), st.none() | st.floats(0.01, 2000))
def test_any_id_has_a_name(model_id: str, parameters_b: float | None) -> None:
    found = canonical_name(model_id, parameters_b=parameters_b)
    assert canonical_name(model_id, parameters_b=parameters_b) == found
    assert isinstance(found.key, str)
