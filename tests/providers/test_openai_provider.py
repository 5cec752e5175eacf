"""OpenAI-compatible servers: recorded answers of llama.cpp and Ollama, and a fake for the rest."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.contracts.chat import EngineTimings, Message, TokenCounts, ToolCall
from bench_loop.errors import ModelNotFoundError, ProviderError
from bench_loop.providers import ollama, openai_compat
from bench_loop.providers._openai_chat import parse_line
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI, choice, event
from tests.fakes.server import Reply, stream_reply
from tests.providers.replay import Replay, question, read_recorded, reply_of

STANDARD = {
    "model": "tiny:1b",
    "messages": [{"role": "user", "content": "What is 2+2?"}],
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_tokens": 64,
    "temperature": 0.0,
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "seed": 1001,
}


def sent(server: FakeOpenAI, **settings: Any) -> dict[str, Any]:
    """The body of the chat that this request makes the provider send."""
    openai_compat.connect(server.url, None).chat(question(**settings))
    body: dict[str, Any] = server.asked("/v1/chat/completions")[-1]
    return body


def test_an_answer_of_llama_cpp_keeps_its_timings_and_counts() -> None:
    reply = read_recorded(parse_line, "llamacpp", "chat_stream_usage")
    assert reply.text == "The answer to this classic math problem is 4."
    assert (reply.t_first_answer_s, reply.t_last_s) == (0.6153, 0.8756)
    assert reply.tokens == TokenCounts(prompt=37, cached=0, completion=12, basis="engine_timings")
    assert reply.engine_timings == EngineTimings(
        prompt_tokens=37, prompt_s=0.563153, generated_tokens=12, generation_s=0.285923
    )
    assert reply.stream is not None
    assert (reply.stream.events, reply.stream.distinct_arrivals) == (11, 11)


def test_timings_are_read_where_no_usage_was_asked_for() -> None:
    reply = read_recorded(parse_line, "llamacpp", "chat_stream_no_usage")
    assert reply.tokens.basis == "engine_timings"
    assert reply.tokens.completion is not None


def test_cached_prompt_tokens_are_counted_apart() -> None:
    reply = read_recorded(parse_line, "llamacpp", "chat_stream_timings_per_token")
    assert (reply.tokens.prompt, reply.tokens.cached, reply.tokens.completion) == (37, 36, 3)
    assert reply.finish_reason == "length"


def test_progress_before_the_first_token_is_no_token() -> None:
    reply = read_recorded(parse_line, "llamacpp", "chat_stream_progress")
    assert (reply.text, reply.t_first_answer_s) == ("", None)


def test_a_tool_call_of_llama_cpp_comes_in_pieces() -> None:
    reply = read_recorded(parse_line, "llamacpp", "tools_stream")
    (call,) = reply.tool_calls
    assert (call.name, call.arguments) == ("get_weather", '{"city": "Paris", "unit": "c"}')
    assert (reply.finish_reason, reply.t_first_answer_s) == ("tool_calls", 0.8383)


def test_a_tool_call_of_ollama_comes_whole() -> None:
    reply = read_recorded(parse_line, "ollama", "v1_tools_stream")
    (call,) = reply.tool_calls
    assert (call.name, call.arguments) == ("get_weather", '{"city":"Paris","unit":"c"}')
    assert reply.t_first_answer_s is None


def test_thinking_of_llama_cpp_is_kept_apart() -> None:
    reply = read_recorded(parse_line, "llamacpp", "reasoning_stream")
    assert (reply.text, reply.t_first_thinking_s, reply.t_first_answer_s) == ("5", 1.6497, 3.0773)
    assert reply.thinking.startswith("The user wants the sum.")


def test_thinking_of_ollama_is_kept_apart() -> None:
    reply = read_recorded(parse_line, "ollama", "v1_think_stream")
    assert (reply.text, reply.t_first_thinking_s) == ("5", 0.1553)


def test_an_answer_that_is_not_streamed_is_read_too() -> None:
    with Replay(
        {
            "/v1/models": [reply_of("ollama", "v1_models")],
            "/v1/chat/completions": [reply_of("llamacpp", "chat_nonstream")],
        }
    ) as server:
        reply = openai_compat.connect(server.url, None).chat(question())
    assert reply.text.startswith("The answer")
    assert reply.tokens.completion is not None


def test_the_first_event_of_a_draft_model_may_hold_several_tokens() -> None:
    lines = [
        *event({"choices": [choice({"content": "one two"})], "timings": {"predicted_n": 2}}),
        *event({"choices": [choice({"content": " three"}, "stop")]}),
    ]
    with FakeOpenAI(script=[stream_reply("text/event-stream", lines)]) as server:
        reply = openai_compat.connect(server.url, None).chat(question())
    assert reply.stream is not None
    assert reply.stream.first_event_tokens == 2


def test_llama_cpp_gets_its_own_fields() -> None:
    with FakeOpenAI(engine="llama.cpp") as server:
        body = sent(server, use_prompt_cache=False, force_length=True)
    assert body == STANDARD | {
        "top_k": 0,
        "min_p": 0.0,
        "repeat_penalty": 1.0,
        "cache_prompt": False,
        "ignore_eos": True,
        "timings_per_token": True,
    }


def test_other_engines_get_the_fields_of_vllm() -> None:
    with FakeOpenAI(engine="vllm") as server:
        body = sent(server, force_length=True)
    assert body == STANDARD | {
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "ignore_eos": True,
        "min_tokens": 64,
    }


def test_a_strict_server_is_asked_once_with_extras_and_then_never_again() -> None:
    with FakeOpenAI(is_strict=True) as server:
        provider = openai_compat.connect(server.url, None)
        for _ in range(2):
            assert provider.chat(question()).text == "ANSWER: 4"
        bodies = server.asked("/v1/chat/completions")
    assert ["top_k" in body for body in bodies] == [True, False, False]


def test_a_request_that_is_refused_either_way_keeps_its_extras_for_the_next() -> None:
    refusals = [Reply(b'{"error":"no"}', status=400)] * 2
    with FakeOpenAI(script=refusals) as server:
        provider = openai_compat.connect(server.url, None)
        with pytest.raises(ProviderError):
            provider.chat(question())
        provider.chat(question())
        bodies = server.asked("/v1/chat/completions")
    assert ["top_k" in body for body in bodies] == [True, False, True]


@pytest.mark.parametrize("thinking", [True, False])
def test_thinking_is_switched_by_the_chat_template(thinking: bool) -> None:
    with FakeOpenAI(engine="llama.cpp") as server:
        body = sent(server, thinking=thinking)
    assert body["chat_template_kwargs"] == {"enable_thinking": thinking}


def test_a_conversation_with_tools_is_sent_in_the_standard_form() -> None:
    call = ToolCall(name="get_weather", arguments='{"city":"Oslo"}')
    messages = (
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", tool_call_id="call_0", content="18"),
    )
    with FakeOpenAI() as server:
        body = sent(server, messages=messages)
    assert body["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call_0",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'},
                }
            ],
        },
        {"role": "tool", "content": "18", "tool_call_id": "call_0"},
    ]


def llama_server() -> Replay:
    return Replay(
        {
            "/v1/models": [reply_of("llamacpp", "models")],
            "/props": [reply_of("llamacpp", "props")],
            "/slots": [reply_of("llamacpp", "slots_idle")],
            "/tokenize": [reply_of("llamacpp", "tokenize")],
        }
    )


def test_llama_cpp_is_known_by_what_it_says_of_itself() -> None:
    with llama_server() as server:
        facts = openai_compat.connect(server.url + "/v1", None).server()
        assert (facts.engine, facts.version) == ("llama.cpp", "b0-unknown")
        assert (facts.parallel_slots, facts.speculative) == (1, "none")
        assert (facts.endpoint, facts.is_local) == (server.url, True)


def test_a_model_of_llama_cpp_tells_window_size_and_format() -> None:
    with llama_server() as server:
        facts = openai_compat.connect(server.url, None).model("smollm2:135m")
    assert (facts.parameters, facts.quantization, facts.size_bytes) == (134515008, "Q4_1", 96576768)
    assert (facts.context_declared, facts.context_loaded) == (8192, 4096)
    assert (facts.file_name, facts.capabilities) == (
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        ("completion",),
    )


def test_the_tokenizer_of_llama_cpp_counts() -> None:
    with llama_server() as server:
        count = openai_compat.connect(server.url, None).count_tokens("smollm2:135m", "Hello")
    assert count == 7


def test_other_servers_have_no_tokenizer_to_ask() -> None:
    with FakeOpenAI() as server:
        assert openai_compat.connect(server.url, None).count_tokens("tiny", "Hello") is None


def test_a_path_of_the_servers_disk_is_never_a_model_id() -> None:
    path = "/home/alice/models/tiny-Q4_K_M.gguf"
    with FakeOpenAI([path], engine="llama.cpp") as server:
        facts = openai_compat.connect(server.url, None).model(path)
    assert facts.model_id == "tiny-Q4_K_M.gguf"
    assert "alice" not in facts.model_dump_json()


def test_a_server_that_knows_its_model_by_a_path_is_asked_by_that_path() -> None:
    with FakeOpenAI(["/models/tiny"], engine="vllm") as server:
        provider = openai_compat.connect(server.url, None)
        facts = provider.model("tiny")
        provider.chat(question(model_id=facts.model_id))
        (body,) = server.asked("/v1/chat/completions")
    assert (facts.model_id, body["model"]) == ("tiny", "/models/tiny")


def test_a_path_in_the_answer_is_cut_to_its_end() -> None:
    lines = event({"model": "/home/alice/tiny.gguf", "choices": [choice({"content": "4"}, "stop")]})
    with FakeOpenAI(script=[stream_reply("text/event-stream", lines)]) as server:
        assert openai_compat.connect(server.url, None).chat(question()).model_id == "tiny.gguf"


def test_a_name_that_llama_cpp_would_answer_to_all_the_same_is_missing() -> None:
    with (
        FakeOpenAI(engine="llama.cpp") as server,
        pytest.raises(ModelNotFoundError, match="no model 'nope'") as caught,
    ):
        openai_compat.connect(server.url, None).model("nope")
    assert caught.value.remedy == "It has: tiny."


def test_a_model_that_only_embeds_is_refused_by_its_name() -> None:
    name = "text-embedding-nomic-embed-text-v1.5"
    with (
        FakeOpenAI([name]) as server,
        pytest.raises(ModelNotFoundError, match="cannot chat"),
    ):
        openai_compat.connect(server.url, None).model(name)


def test_a_server_that_is_loading_is_transient() -> None:
    with FakeOpenAI(loading=1) as server:
        provider = openai_compat.connect(server.url, None)
        with pytest.raises(ProviderError, match="Loading model") as caught:
            provider.server()
        assert caught.value.is_transient
        assert provider.server().engine == "unknown"


def test_the_window_of_an_ollama_is_read_back_through_its_own_api() -> None:
    with FakeOllama() as server:
        ollama.connect(server.url, None).chat(question(context_window=2048))
        provider = openai_compat.connect(f"{server.url}/v1", None)
        assert provider.server().engine == "ollama"
        assert provider.model("tiny:1b").context_loaded == 2048


def test_thinking_cannot_be_switched_over_the_standard_route_of_ollama() -> None:
    with (
        FakeOllama() as server,
        pytest.raises(ProviderError, match="no switch for thinking") as caught,
    ):
        openai_compat.connect(server.url, None).chat(question(thinking=False))
    assert "--provider ollama" in (caught.value.remedy or "")


def test_vllm_is_known_by_the_owner_of_its_models() -> None:
    with FakeOpenAI(engine="vllm") as server:
        facts = openai_compat.connect(server.url, None).server()
    assert (facts.engine, facts.version) == ("vllm", "0.21.0")


def test_the_key_is_sent_with_every_request() -> None:
    with FakeOpenAI(api_key="secret") as server:
        provider = openai_compat.connect(server.url, "secret")
        assert provider.model("tiny").model_id == "tiny"
        assert provider.chat(question()).text == "ANSWER: 4"


def test_an_unrelated_web_server_is_not_taken_for_a_model_server() -> None:
    with (
        Replay({"/v1/models": [Reply(b'{"hello": "world"}')]}) as server,
        pytest.raises(ProviderError, match="lists no models"),
    ):
        openai_compat.connect(server.url, None).server()
