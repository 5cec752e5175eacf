"""The rules for model names, one claim each; the rows of the case file stand in their own test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.contracts.provider import ModelFacts
from bench_loop.names.parse import parse_model


def facts(model_id: str = "x", **fields: object) -> ModelFacts:
    return ModelFacts.model_validate({"model_id": model_id, **fields})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gemma3:27b", "google_gemma-3-27b-it-Q4_K_M.gguf"),
        ("llama3.1:8b", "meta-llama-3.1-8b-instruct@q4_k_m"),
        ("phi3:mini", "microsoft/Phi-3-mini-4k-instruct"),
        ("qwen2.5-coder:7b", "mlx-community--Qwen2.5-Coder-7B-Instruct-4bit"),
        ("deepseek-coder-v2:16b", "DeepSeek-Coder-V2-Lite-Instruct-Q4_K_M.gguf"),
        ("llama3.2-vision:11b", "Llama-3.2-11B-Vision-Instruct"),
        ("mistral:7b-instruct-v0.3-q4_K_M", "Mistral-7B-Instruct-v0.2"),
        ("olmo2:13b", "OLMo-2-1124-13B-Instruct"),
        ("smollm2:135m", "SmolLM2-135M-Instruct.Q4_1.gguf"),
        ("granite3.1-moe:3b", "granite-3.1-3b-a800m-instruct"),
    ],
)
def test_one_model_under_two_spellings_has_one_key(one: str, other: str) -> None:
    first, second = parse_model(one), parse_model(other)
    assert (first.family, first.line, first.parameters_b) == (
        second.family,
        second.line,
        second.parameters_b,
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deepseek-r1:14b", "deepseek-r1:671b"),
        ("qwen2.5:7b", "qwen2.5-coder:7b"),
        ("llama3.1:8b", "Hermes-3-Llama-3.1-8B"),
        ("gemma3:4b", "gemma3n:e4b"),
        ("llama3.2:11b", "llama3.2-vision:11b"),
    ],
)
def test_two_models_do_not_share_a_key(one: str, other: str) -> None:
    assert parse_model(one).line != parse_model(other).line


@pytest.mark.parametrize(
    ("model_id", "family", "line", "billions", "label"),
    [
        ("smollm2-135m", "smollm", "smollm2", 0.1345, None),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm", "smollm2", 0.1345, "Q4_1"),
        ("qwen2.5-coder-0.5b", "qwen", "qwen2.5-coder", 0.494, None),
        ("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf", "qwen", "qwen2.5-coder", 1.54, "Q4_K_M"),
        ("hf.co/a/DeepSeek-V3.1-GGUF:UD-Q2_K_XL", "deepseek", "deepseek-v3.1", 671, "UD-Q2_K_XL"),
        ("c4ai-command-r-plus-08-2024-Q4_K_M.gguf", "command", "command-r-plus", None, "Q4_K_M"),
        ("microsoft_Phi-4-mini-instruct-Q8_0.gguf", "phi", "phi-4", 3.84, "Q8_0"),
        ("THUDM_GLM-4-32B-0414-Q4_K_M.gguf", "glm", "glm-4", 32, "Q4_K_M"),
        ("Yi-1.5-34B-Chat-16K", "yi", "yi-1.5", 34, None),
        ("llama3.2:1b-instruct-fp16", "llama", "llama-3.2", 1.24, "F16"),
        ("MythoMax-L2-13B.Q4_K_M.gguf", "other", "mythomax-l2", 13, "Q4_K_M"),
    ],
)  # fmt: skip
def test_a_name_is_read(
    model_id: str, family: str, line: str, billions: float | None, label: str | None
) -> None:
    name = parse_model(model_id)
    assert (name.family, name.line, name.parameters_b, name.quantization) == (
        family,
        line,
        billions,
        label,
    )


@pytest.mark.parametrize(
    ("model_id", "publisher"),
    [
        ("hf.co/bartowski/Llama-3.3-70B-Instruct-GGUF:IQ4_XS", "bartowski"),
        ("mlx-community--Qwen3-8B-4bit", "mlx-community"),
        ("unsloth/gemma-3-27b-it-GGUF/gemma-3-27b-it-Q4_K_M.gguf", "unsloth"),
        ("huihui_ai/qwen3-abliterated:8b", "huihui_ai"),
        ("google_gemma-3-270m-it-Q4_K_M.gguf", None),
        ("/home/user/models/Qwen3-8B-Q8_0.gguf", None),
        ("UD-Q4_K_XL/GLM-4.5-Air-UD-Q4_K_XL-00001-of-00002.gguf", None),
        ("qwen3:8b", None),
    ],
)
def test_the_publisher_is_the_name_space(model_id: str, publisher: str | None) -> None:
    assert parse_model(model_id).quant_publisher == publisher


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/anna/models/Qwen3-8B-Q8_0.gguf", "Qwen3-8B-Q8_0.gguf"),
        ("C:\\Users\\anna\\Qwen3-8B-Q8_0.gguf", "Qwen3-8B-Q8_0.gguf"),
        ("c:/Users/anna/Qwen3-8B-Q8_0.gguf", "Qwen3-8B-Q8_0.gguf"),
        ("~/models/Qwen3-8B-Q8_0.gguf", "Qwen3-8B-Q8_0.gguf"),
        ("models/Qwen3-8B-Q8_0.gguf", "Qwen3-8B-Q8_0.gguf"),
        ("qwen/qwen2.5-coder-14b", "qwen/qwen2.5-coder-14b"),
        ("qwen3:8b", "qwen3:8b"),
    ],
)
def test_folders_of_a_path_are_not_shown(path: str, shown: str) -> None:
    assert parse_model(path).model_id == shown


@pytest.mark.parametrize(
    "model_id",
    ["", " ", "/", ":", "model.gguf", "LLaMA_CPP", "default", "my-assistant", "gpt-4o-mini",
     "claude-sonnet", "o3-mini"],
)  # fmt: skip
def test_an_id_that_says_nothing_leaves_everything_unknown(model_id: str) -> None:
    name = parse_model(model_id)
    assert (name.family, name.line, name.parameters_b, name.quantization) == (None,) * 4


def test_a_file_without_a_telling_name_keeps_its_label() -> None:
    name = parse_model("ggml-model-q4_0.gguf")
    assert (name.family, name.quantization) == (None, "Q4_0")


def test_bits_that_round_to_zero_are_unknown() -> None:
    served = facts(parameters=10**15, size_bytes=1)
    assert parse_model("thing", served).bits_per_weight is None


def test_the_count_of_the_server_beats_the_name() -> None:
    name = parse_model("qwen2.5-coder-0.5b", facts(parameters=494_032_768))
    assert name.parameters_b == pytest.approx(0.494032768)
    assert name.size_basis == "provider"


def test_bits_per_weight_are_those_of_the_file() -> None:
    served = facts(parameters=134_515_008, size_bytes=98_362_432)
    assert parse_model("smollm2-135m", served).bits_per_weight == pytest.approx(5.85)


def test_without_the_size_of_the_file_there_are_no_bits_per_weight() -> None:
    assert parse_model("smollm2-135m:Q4_1").bits_per_weight is None


def test_an_opaque_alias_is_read_by_its_file() -> None:
    served = facts(file_name="SmolLM2-135M-Instruct.Q4_1.gguf")
    name = parse_model("default", served)
    assert (name.model_id, name.line, name.quantization) == ("default", "smollm2", "Q4_1")


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("Q4_K - Medium", "Q4_K_M"),
        ("Q5_K - Small", "Q5_K_S"),
        ("IQ4_XS - 4.25 bpw", "IQ4_XS"),
        ("MXFP4 MoE", "MXFP4"),
        ("(guessed) Q8_0", "Q8_0"),
        ("all F32", "F32"),
        ("unknown, may not work", None),
        ("unknown", None),
        ("", None),
    ],
)
def test_a_servers_word_for_a_quantization_becomes_a_label(words: str, label: str | None) -> None:
    assert parse_model("qwen3:8b", facts(quantization=words)).quantization == label


def test_the_finer_label_of_the_name_is_kept() -> None:
    served = facts(quantization="Q4_K - Medium")
    assert parse_model("GLM-4.5-Air-UD-Q4_K_XL.gguf", served).quantization == "UD-Q4_K_XL"


def test_a_name_that_lies_about_its_width_is_overruled_by_the_server() -> None:
    assert parse_model("qwen3-8b-q4_k_m", facts(quantization="Q8_0")).quantization == "Q8_0"


def test_the_architecture_gives_a_family_to_an_unknown_name() -> None:
    assert parse_model("Frobnicator-9B-Q4_K_M.gguf", facts(family="gemma2")).family == "gemma"


def test_the_llama_architecture_gives_none_since_many_families_use_it() -> None:
    assert parse_model("Frobnicator-9B-Q4_K_M.gguf", facts(family="llama")).family == "other"


@pytest.mark.parametrize(
    "model_id",
    ["all-minilm:33m", "snowflake-arctic-embed:335m", "qwen3-embedding:0.6b", "bge-m3:567m",
     "Qwen3-Reranker-0.6B", "multilingual-e5-large", "whisper-large-v3"],
)  # fmt: skip
def test_what_cannot_chat_is_refused(model_id: str) -> None:
    assert parse_model(model_id).refuse_reason is not None


def test_a_server_that_says_a_model_cannot_chat_is_believed() -> None:
    assert parse_model("thing", facts(capabilities=("embedding",))).refuse_reason is not None


@pytest.mark.parametrize("model_id", ["kimi-k2:1t-cloud", "qwen3-coder:480b-cloud", "x:cloud"])
def test_a_model_that_is_only_forwarded_is_refused(model_id: str) -> None:
    assert "remote" in str(parse_model(model_id).refuse_reason)


@pytest.mark.parametrize(
    ("model_id", "total", "active"),
    [
        ("mixtral:8x7b", 46.7, 12.9),
        ("Frobnicator-8x7B-Q4_K_M", None, None),
        ("Frobnicator-100B-A10B", 100, 10),
        ("Frobnicator-17B-16E", None, 17),
        ("Frobnicator-4BA0.6B", 4, 0.6),
        ("Frobnicator-E4B", None, 4),
        ("Frobnicator-270M", 0.27, None),
        ("Frobnicator-1T-A32B", 1000, 32),
        ("hunyuan-a13b-instruct", None, 13),
        ("qwen3:30b-a3b", 30.5, 3.3),
        ("qwen3:8b", 8.19, None),
    ],
)
def test_sizes_of_mixtures(model_id: str, total: float | None, active: float | None) -> None:
    name = parse_model(model_id)
    assert (name.parameters_b, name.active_parameters_b) == (total, active)


@pytest.mark.parametrize(
    ("model_id", "label", "bits"),
    [
        ("qwen3-8b-iq2_xxs", "IQ2_XXS", 2),
        ("qwen3-8b.i1-q3_k_s", "Q3_K_S", 3),
        ("qwen3-8b-q4_0_4_4", "Q4_0_4_4", 4),
        ("qwen3-8b-tq1_0", "TQ1_0", 1),
        ("qwen3-8b-bf16", "BF16", 16),
        ("qwen3-8b-fp8-dynamic", "FP8", 8),
        ("qwen3-8b-gptq-int8", "GPTQ-INT8", 8),
        ("qwen3-8b-bnb-4bit", "BNB-4bit", 4),
        ("qwen3-8b-exl2-4.0bpw", "EXL2-4.0bpw", 4),
        ("qwen3-8b-quantized.w4a16", "W4A16", 4),
        ("qwen3-8b-4bit", "4bit", 4),
        ("mlx-community/qwen3-8b-8bit", "MLX-8bit", 8),
        ("qwen3-8b-apex-i-compact.gguf", "APEX-I-COMPACT", None),
        ("qwen3-8b-qat", None, None),
    ],
)
def test_quantization_labels(model_id: str, label: str | None, bits: int | None) -> None:
    name = parse_model(model_id)
    assert (name.quantization, name.quant_bits) == (label, bits)


@given(st.text(max_size=80))
def test_no_text_makes_it_fail(text: str) -> None:
    parse_model(text, facts(family=text, quantization=text, file_name=text, parameter_size=text))


def test_an_absurd_size_is_no_size() -> None:
    assert parse_model("thing-" + "9" * 400 + "b-q4_k_m").parameters_b is None


def test_a_long_text_is_read_in_no_time() -> None:
    assert parse_model("q4_" * 500_000).family is None
