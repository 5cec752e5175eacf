"""Ollama: recorded answers of a real one, and a fake for what cannot be recorded."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import EngineTimings, Message, Sampling, TokenCounts, ToolCall
from bench_loop.errors import EngineRejectedError, ModelNotFoundError, ProviderError
from bench_loop.providers import ollama
from bench_loop.providers._ollama_chat import parse_line
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.server import Reply
from tests.providers.replay import Replay, question, read_recorded, reply_of

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


def test_a_cold_answer_keeps_text_marks_and_the_engines_own_clock() -> None:
    reply = read_recorded(parse_line, "ollama", "chat_stream_cold")
    assert (reply.text, reply.finish_reason) == ("The answer is: 4", "stop")
    assert (reply.t_first_answer_s, reply.t_last_s) == (2.2865, 2.3508)
    assert reply.tokens == TokenCounts(prompt=16, cached=None, completion=7, basis="engine_timings")
    assert reply.engine_timings == EngineTimings(
        prompt_tokens=16,
        prompt_s=0.039526,
        generated_tokens=7,
        generation_s=0.085012,
        load_s=2.140854537,
    )
    assert reply.stream is not None
    assert (reply.stream.events, reply.stream.distinct_arrivals) == (6, 6)


def test_thinking_is_kept_apart() -> None:
    reply = read_recorded(parse_line, "ollama", "think_true_stream")
    assert reply.thinking == "The user wants the sum. 2+3 is 5.\n"
    assert reply.text == "5"
    assert (reply.t_first_thinking_s, reply.t_first_answer_s) == (9.6352, 11.1829)


def test_a_tool_call_that_comes_whole_has_no_first_token_time() -> None:
    reply = read_recorded(parse_line, "ollama", "tools_stream")
    assert reply.tool_calls == (
        ToolCall(
            id="call_mhhkfe72", name="get_weather", arguments='{"city": "Paris", "unit": "c"}'
        ),
    )
    assert (reply.finish_reason, reply.t_first_answer_s) == ("tool_calls", None)


def test_a_runner_killed_in_the_middle_is_a_crash() -> None:
    with pytest.raises(EngineRejectedError, match="unexpected EOF") as caught:
        read_recorded(parse_line, "ollama", "stream_error_runner_killed")
    assert caught.value.reason == "engine_crashed"


def test_everything_that_sets_the_answer_is_sent_explicitly() -> None:
    with FakeOllama() as server:
        ollama.connect(server.url, None).chat(question(context_window=2048, max_tokens=33))
        (body,) = server.asked("/api/chat")
    assert body == {
        "model": "tiny:1b",
        "messages": [{"role": "user", "content": "What is 2+2?"}],
        "stream": True,
        "truncate": False,
        "shift": False,
        "keep_alive": "10m",
        "options": {
            "num_ctx": 2048,
            "num_predict": 33,
            "seed": 1001,
            "temperature": 0.0,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repeat_penalty": 1.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
        },
    }


@pytest.mark.parametrize("thinking", [True, False])
def test_thinking_is_switched_only_when_asked(thinking: bool) -> None:
    with FakeOllama() as server:
        ollama.connect(server.url, None).chat(question(thinking=thinking))
        (body,) = server.asked("/api/chat")
    assert body["think"] is thinking


def test_a_conversation_with_tools_is_sent_in_ollamas_form() -> None:
    call = ToolCall(id="c1", name="get_weather", arguments='{"city":"Oslo"}')
    messages = (
        Message(role="user", content="Weather?"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", name="get_weather", tool_call_id="c1", content="18"),
    )
    with FakeOllama() as server:
        ollama.connect(server.url, None).chat(question(messages=messages, tools=(TOOL,)))
        (body,) = server.asked("/api/chat")
    assert body["tools"] == [TOOL]
    assert body["messages"][1]["tool_calls"] == [
        {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}
    ]
    assert body["messages"][2] == {"role": "tool", "content": "18", "tool_name": "get_weather"}


def test_sampling_that_is_on_is_sent_as_it_is() -> None:
    sampling = Sampling(temperature=0.7, top_p=0.95, top_k=40, min_p=0.1, presence_penalty=1.5)
    with FakeOllama() as server:
        ollama.connect(server.url, None).chat(question(sampling=sampling, seed=1003))
        (body,) = server.asked("/api/chat")
    options = body["options"]
    assert (options["temperature"], options["top_p"], options["top_k"]) == (0.7, 0.95, 40)
    assert (options["min_p"], options["presence_penalty"], options["seed"]) == (0.1, 1.5, 1003)


def test_a_display_sees_each_piece_as_it_comes() -> None:
    pieces: list[str] = []
    with FakeOllama(answer=lambda _: "one two three") as server:
        ollama.connect(server.url, None).chat(question(), watch=pieces.append)
    assert pieces == ["one", " two", " three"]


def test_a_prompt_longer_than_the_window_is_an_overflow_and_never_cut() -> None:
    with (
        Replay({"/api/chat": [reply_of("ollama", "chat_overflow_truncate_false")]}) as server,
        pytest.raises(EngineRejectedError, match=r"610 tokens") as caught,
    ):
        ollama.connect(server.url, None).chat(question())
    assert caught.value.reason == "context_overflow"


@pytest.mark.parametrize("name", ["chat_think_unsupported", "chat_tools_unsupported"])
def test_what_a_model_does_not_support_is_refused_by_the_engine(name: str) -> None:
    with (
        Replay({"/api/chat": [reply_of("ollama", name)]}) as server,
        pytest.raises(EngineRejectedError, match="does not support") as caught,
    ):
        ollama.connect(server.url, None).chat(question())
    assert caught.value.reason == "engine_rejected_output"


def test_a_model_that_does_not_fit_in_memory_is_no_fault_of_the_trial() -> None:
    words = b'{"error":"model requires more system memory (9 GiB) than is available (4 GiB)"}'
    with (
        Replay({"/api/chat": [Reply(words, status=500)]}) as server,
        pytest.raises(ProviderError, match="more system memory") as caught,
    ):
        ollama.connect(server.url, None).chat(question())
    assert not isinstance(caught.value, EngineRejectedError)


def recorded_server() -> Replay:
    return Replay(
        {
            "/api/version": [reply_of("ollama", "version")],
            "/api/tags": [reply_of("ollama", "tags")],
            "/api/show": [reply_of("ollama", "show")],
            "/api/ps": [reply_of("ollama", "ps_loaded")],
        }
    )


def test_the_server_names_its_engine_and_version() -> None:
    with recorded_server() as server:
        facts = ollama.connect(server.url + "/", None).server()
        assert (facts.engine, facts.version) == ("ollama", "0.0.0-src-fb30760")
        assert (facts.endpoint, facts.is_local) == (server.url, True)


def test_a_model_tells_all_that_a_result_wants_to_know() -> None:
    with recorded_server() as server:
        facts = ollama.connect(server.url, None).model("smollm2:135m")
    assert facts.model_dump(exclude={"chat_template_hash"}) == {
        "model_id": "smollm2:135m",
        "family": "llama",
        "parameters": 134515008,
        "parameter_size": "134.52M",
        "quantization": "Q4_1",
        "size_bytes": 98362745,
        "file_name": None,
        "weights_digest": "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "context_declared": 8192,
        "context_loaded": 4096,
        "kv_values": 2 * 30 * 3 * 64,  # keys and values, layers, KV heads, head size
        "offloaded_share": 1.0,
        "capabilities": ("completion",),
        "is_remote": False,
    }


def test_all_models_are_listed() -> None:
    with recorded_server() as server:
        models = ollama.connect(server.url, None).models()
    assert [(m.model_id, m.quantization) for m in models] == [
        ("qwen2.5-coder:0.5b", "Q4_K_M"),
        ("smollm2:135m", "Q4_1"),
    ]


def test_a_missing_model_names_what_there_is_and_how_to_get_it() -> None:
    with (
        recorded_server() as server,
        pytest.raises(ModelNotFoundError, match=r"smollm2:135m") as caught,
    ):
        ollama.connect(server.url, None).model("nope")
    assert caught.value.remedy == "Get it with: ollama pull nope"


def test_a_name_without_a_tag_means_latest() -> None:
    with FakeOllama([FakeModel("tiny:latest")]) as server:
        assert ollama.connect(server.url, None).model("tiny").model_id == "tiny:latest"


@pytest.mark.parametrize(
    "model",
    [
        FakeModel("nomic-embed-text:latest", "nomic-bert", capabilities=("embedding",)),
        FakeModel("nomic-embed-text:latest", "nomic-bert", capabilities=None),
        FakeModel("bge-large-zh-v1.5:latest", "bert", capabilities=None),
        FakeModel("dengcao/Qwen3-Embedding-8B:Q5_K_M", "qwen3", capabilities=None),
    ],
)
def test_a_model_that_only_embeds_is_refused(model: FakeModel) -> None:
    with (
        FakeOllama([model]) as server,
        pytest.raises(ModelNotFoundError, match="cannot chat"),
    ):
        ollama.connect(server.url, None).model(model.name)


def test_a_model_that_runs_in_a_cloud_is_refused() -> None:
    cloud = FakeModel("gpt-oss:120b-cloud", remote_host="https://cloud.example.invalid:443")
    with (
        FakeOllama([cloud]) as server,
        pytest.raises(ModelNotFoundError, match="forwards to a cloud"),
    ):
        ollama.connect(server.url, None).model("gpt-oss:120b-cloud")


def test_the_loaded_window_is_read_back() -> None:
    with FakeOllama() as server:
        provider = ollama.connect(server.url, None)
        assert provider.model("tiny:1b").context_loaded is None
        provider.chat(question(context_window=2048))
        assert provider.model("tiny:1b").context_loaded == 2048


def test_unloading_makes_the_next_chat_load_again() -> None:
    with FakeOllama() as server:
        provider = ollama.connect(server.url, None)
        loads = []
        for _ in range(2):
            assert provider.unload("tiny:1b")
            timings = provider.chat(question()).engine_timings
            assert timings is not None
            loads.append(timings.load_s)
    assert loads == [0.5015, 0.5015]


def test_a_server_that_is_down_is_told_with_the_command_to_start_it() -> None:
    with pytest.raises(ProviderError) as caught:
        ollama.connect("127.0.0.1:9", None).server()
    assert caught.value.remedy == "Start it with: ollama serve"


def test_something_else_on_the_port_is_not_taken_for_ollama() -> None:
    with (
        Replay({"/api/version": [Reply(b"<html>")]}) as server,
        pytest.raises(ProviderError, match="is not Ollama"),
    ):
        ollama.connect(server.url, None).server()


def test_its_tokenizer_cannot_be_asked() -> None:
    assert ollama.connect("127.0.0.1:9", None).count_tokens("tiny:1b", "text") is None
