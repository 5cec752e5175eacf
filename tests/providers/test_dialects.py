"""LM Studio, llama-swap, Jan, mlx-lm and vLLM: what they say of their models, and their streams."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import ChatReply, TokenCounts, ToolCall
from bench_loop.errors import EngineRejectedError, ModelNotFoundError
from bench_loop.providers import openai_compat
from tests.fakes import engines
from tests.fakes.engines import JAN_MODEL, LLAMA_SWAP_MODELS, LMSTUDIO_CHAT, MLX_MODEL, VLLM_MODEL
from tests.fakes.server import FakeServer
from tests.providers.replay import question


def asked(server: FakeServer, model_id: str) -> ChatReply:
    return openai_compat.connect(server.url, None).chat(question(model_id=model_id))


@pytest.mark.parametrize("is_new", [True, False])
def test_lm_studio_tells_size_windows_and_abilities_of_its_models(is_new: bool) -> None:
    with engines.LMStudio(is_new=is_new) as server:
        provider = openai_compat.connect(server.url, None)
        chat, embedding = provider.models()
        assert provider.model(LMSTUDIO_CHAT) == chat
    assert (chat.family, chat.quantization) == ("qwen2", "Q4_K_M")
    assert (chat.context_declared, chat.context_loaded) == (32768, 4096)
    assert chat.capabilities == ("completion", "tools")
    assert chat.size_bytes == (4_683_073_184 if is_new else None)
    assert embedding.capabilities == ("embedding",)
    assert embedding.context_loaded is None


@pytest.mark.parametrize("is_new", [True, False])
def test_an_embedding_model_of_lm_studio_is_refused_by_its_type(is_new: bool) -> None:
    with (
        engines.LMStudio(is_new=is_new) as server,
        pytest.raises(ModelNotFoundError, match="embedding or ranking"),
    ):
        openai_compat.connect(server.url, None).model(engines.LMSTUDIO_EMBEDDING)


def test_an_answer_of_lm_studio_is_read() -> None:
    with engines.LMStudio() as server:
        reply = asked(server, LMSTUDIO_CHAT)
    assert (reply.text, reply.finish_reason) == ("2+2 is 4", "stop")
    assert reply.tokens == TokenCounts(prompt=24, completion=3, basis="usage")


def test_the_server_behind_llama_swap_is_asked_when_it_runs() -> None:
    model_id = LLAMA_SWAP_MODELS[0]
    with engines.LlamaSwap(model_id) as server:
        facts = openai_compat.connect(server.url, None).model(model_id)
    assert (facts.context_loaded, facts.quantization) == (16_384, "Q8_0")
    assert (facts.file_name, facts.chat_template_hash is not None) == ("qwen.gguf", True)


@pytest.mark.parametrize("running", [(), LLAMA_SWAP_MODELS[1:]])
def test_looking_at_a_model_of_llama_swap_starts_no_server(running: tuple[str, ...]) -> None:
    with engines.LlamaSwap(*running) as server:
        facts = openai_compat.connect(server.url, None).model(LLAMA_SWAP_MODELS[0])
        paths = [request.path for request in server.requests]
    assert facts.context_loaded is None
    assert not any(path.startswith("/upstream") for path in paths)


def test_llama_swap_gets_the_fields_of_every_engine_behind_it() -> None:
    with engines.LlamaSwap(LLAMA_SWAP_MODELS[0]) as server:
        reply = asked(server, LLAMA_SWAP_MODELS[0])
        (body,) = server.asked("/v1/chat/completions")
    assert {"cache_prompt", "repeat_penalty", "repetition_penalty", "min_p"} <= body.keys()
    assert (reply.text, reply.tokens.basis) == ("4", "engine_timings")


def test_jan_passes_on_what_llama_cpp_says() -> None:
    with engines.jan() as server:
        reply = asked(server, JAN_MODEL)
    assert (reply.text, reply.tokens.prompt) == ("4", 9)
    assert reply.engine_timings is not None
    assert reply.engine_timings.prompt_s == 0.09


def test_an_answer_of_mlx_has_its_thinking_apart_and_no_comment_in_it() -> None:
    with engines.mlx() as server:
        reply = asked(server, MLX_MODEL)
        facts = openai_compat.connect(server.url, None).model(MLX_MODEL)
    assert (reply.thinking, reply.text) == ("2+2.", "4")
    assert reply.tokens == TokenCounts(prompt=20, cached=16, completion=5, basis="usage")
    assert reply.stream is not None
    assert reply.stream.events == 2
    assert facts.context_loaded is None


def test_a_tool_call_of_vllm_is_put_together_behind_its_thinking() -> None:
    with engines.vllm() as server:
        reply = asked(server, VLLM_MODEL)
        facts = openai_compat.connect(server.url, None).model(VLLM_MODEL)
    expected = ToolCall(id="chatcmpl-tool-1", name="clock", arguments='{"zone": "UTC"}')
    assert (reply.tool_calls, reply.thinking) == ((expected,), "A call.")
    assert (reply.finish_reason, facts.context_loaded) == ("tool_calls", 40_960)


def test_an_engine_of_vllm_that_dies_in_a_stream_is_an_error() -> None:
    with (
        engines.vllm(breaks=True) as server,
        pytest.raises(EngineRejectedError, match="EngineCore died") as caught,
    ):
        asked(server, VLLM_MODEL)
    assert caught.value.reason == "engine_crashed"
