"""LM Studio, llama-swap, Jan, mlx-lm and vLLM: what they say of themselves, and their streams."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import ChatReply, TokenCounts, ToolCall
from bench_loop.errors import EngineRejectedError, ModelNotFoundError
from bench_loop.providers import openai_compat
from tests.fakes import dialects
from tests.fakes.dialects import Dialect
from tests.providers.replay import question


def asked(server: Dialect, model_id: str) -> ChatReply:
    return openai_compat.connect(server.url, None).chat(question(model_id=model_id))


def test_lm_studio_tells_windows_and_format_at_its_own_api() -> None:
    with dialects.lm_studio() as server:
        provider = openai_compat.connect(server.url, None)
        facts = provider.model("meta-llama-3.1-8b-instruct")
        engine = provider.server()
    assert (engine.engine, engine.version) == ("lmstudio", None)
    assert (facts.context_declared, facts.context_loaded) == (131_072, 4096)
    assert (facts.quantization, facts.capabilities) == ("Q4_K_M", ("completion", "tools"))


def test_an_embedding_model_of_lm_studio_is_refused_by_its_type() -> None:
    with (
        dialects.lm_studio() as server,
        pytest.raises(ModelNotFoundError, match="embedding or ranking"),
    ):
        openai_compat.connect(server.url, None).model("nomic-v1.5")


def test_an_answer_of_lm_studio_is_read() -> None:
    with dialects.lm_studio() as server:
        reply = asked(server, "meta-llama-3.1-8b-instruct")
    assert (reply.text, reply.finish_reason) == ("2+2 is 4", "stop")
    assert reply.tokens == TokenCounts(prompt=24, completion=3, basis="usage")


def test_llama_swap_is_not_taken_for_an_ollama() -> None:
    with dialects.llama_swap() as server:
        facts = openai_compat.connect(server.url, None).server()
    assert (facts.engine, facts.version) == ("llama-swap", "v170")


def test_the_server_behind_llama_swap_is_asked_when_it_runs() -> None:
    with dialects.llama_swap() as server:
        facts = openai_compat.connect(server.url, None).model("qwen")
    assert (facts.context_loaded, facts.quantization) == (16_384, "Q8_0")
    assert (facts.file_name, facts.chat_template_hash is not None) == ("qwen.gguf", True)


@pytest.mark.parametrize(("running", "model_id"), [(None, "qwen"), ("qwen", "glm")])
def test_looking_at_a_model_of_llama_swap_starts_no_server(
    running: str | None, model_id: str
) -> None:
    with dialects.llama_swap(running) as server:
        facts = openai_compat.connect(server.url, None).model(model_id)
        paths = [request.path for request in server.requests]
    assert facts.context_loaded is None
    assert not any(path.startswith("/upstream") for path in paths)


def test_llama_swap_gets_the_fields_of_every_engine_behind_it() -> None:
    with dialects.llama_swap() as server:
        reply = asked(server, "qwen")
        (body,) = server.asked("/v1/chat/completions")
    assert {"cache_prompt", "repeat_penalty", "repetition_penalty", "min_p"} <= body.keys()
    assert (reply.text, reply.tokens.basis) == ("4", "engine_timings")


def test_jan_passes_on_what_llama_cpp_says() -> None:
    with dialects.jan() as server:
        reply = asked(server, "qwen")
        facts = openai_compat.connect(server.url, None).server()
    assert (facts.engine, facts.version) == ("unknown", None)
    assert (reply.text, reply.tokens.prompt) == ("4", 9)
    assert reply.engine_timings is not None
    assert reply.engine_timings.prompt_s == 0.09


def test_an_answer_of_mlx_has_its_thinking_apart_and_no_comment_in_it() -> None:
    with dialects.mlx() as server:
        reply = asked(server, "mlx-community/Qwen3-4B-4bit")
        facts = openai_compat.connect(server.url, None).model("mlx-community/Qwen3-4B-4bit")
    assert (reply.thinking, reply.text) == ("2+2.", "4")
    assert reply.tokens == TokenCounts(prompt=20, cached=16, completion=5, basis="usage")
    assert reply.stream is not None
    assert reply.stream.events == 2
    assert facts.context_loaded is None


def test_a_tool_call_of_vllm_is_put_together_behind_its_thinking() -> None:
    with dialects.vllm() as server:
        reply = asked(server, "Qwen/Qwen3-8B")
        facts = openai_compat.connect(server.url, None).model("Qwen/Qwen3-8B")
    expected = ToolCall(id="chatcmpl-tool-1", name="clock", arguments='{"zone": "UTC"}')
    assert (reply.tool_calls, reply.thinking) == ((expected,), "A call.")
    assert (reply.finish_reason, facts.context_loaded) == ("tool_calls", 32_768)


def test_an_engine_of_vllm_that_dies_in_a_stream_is_an_error() -> None:
    with (
        dialects.vllm(breaks=True) as server,
        pytest.raises(EngineRejectedError, match="EngineCore died") as caught,
    ):
        asked(server, "Qwen/Qwen3-8B")
    assert caught.value.reason == "engine_crashed"
