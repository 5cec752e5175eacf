"""Streams from public bug reports, by the id of the report."""

from __future__ import annotations

import json

import pytest

from bench_loop.contracts.chat import ChatReply, TokenCounts
from bench_loop.errors import EngineRejectedError
from bench_loop.providers import _ollama_chat, _openai_chat
from bench_loop.scoring.rates import Overhead, engine_rate, prompt_rate
from tests.providers.replay import case, read
from tests.scoring.make_trials import speed_trial


def sse(case_id: str) -> ChatReply:
    return read(_openai_chat.parse_line, [(0.1, case(case_id).encode())])


def timed_sse(case_id: str) -> ChatReply:
    lines = [(item["t_ms"] / 1000, f"{item['line']}\n\n".encode()) for item in case(case_id)]
    return read(_openai_chat.parse_line, lines)


def ndjson(text: str) -> ChatReply:
    return read(_ollama_chat.parse_line, [(0.1, text.encode())])


def body(case_id: str) -> ChatReply:
    """An answer that was not streamed."""
    return read(_openai_chat.parse_line, [(0.1, json.dumps(case(case_id)).encode())])


@pytest.mark.parametrize("case_id", ["C113", "C115", "C121", "C123"])
def test_it_reads_the_text_past_comments_empty_data_and_missing_parts(case_id: str) -> None:
    reply = sse(case_id)
    assert (reply.text, reply.finish_reason) == ("18", "stop")


def test_characters_cut_between_network_chunks_are_put_together_c117() -> None:
    chunks = [(0.1, bytes.fromhex(chunk)) for chunk in case("C117")]
    assert read(_openai_chat.parse_line, chunks).text == "杭州 🦀"


def test_several_lines_in_one_network_chunk_are_all_read_c119() -> None:
    assert ndjson(case("C119")).text == "abc"


def test_usage_in_a_chunk_without_choices_is_read_c121() -> None:
    assert sse("C121").tokens == TokenCounts(prompt=5, completion=1, basis="usage")


def test_a_stream_without_finish_reason_is_full_when_its_budget_is_used_up() -> None:
    stream = case("C121").replace('"finish_reason":"stop"', '"finish_reason":null')
    reply = read(_openai_chat.parse_line, [(0.1, stream.encode())], max_tokens=1)
    assert reply.finish_reason == "length"


def test_an_error_object_inside_a_stream_is_an_error_c125() -> None:
    with pytest.raises(EngineRejectedError, match="CUDA out of memory") as caught:
        sse("C125")
    assert caught.value.reason == "engine_crashed"


def test_an_empty_stream_is_an_error_c127() -> None:
    with pytest.raises(EngineRejectedError, match="it is empty"):
        sse("C127")


def test_an_error_line_inside_an_ollama_stream_is_an_error_c129() -> None:
    with pytest.raises(EngineRejectedError, match="while running the model"):
        ndjson(case("C129"))


def test_a_role_without_text_is_no_token_c130() -> None:
    reply = timed_sse("C130")
    assert (reply.t_first_answer_s, reply.t_last_s, reply.latency_s) == (0.4, 0.42, 0.426)


def test_thinking_and_answer_have_their_own_first_token_c132() -> None:
    reply = timed_sse("C132")
    assert (reply.t_first_thinking_s, reply.t_first_answer_s) == (0.3, 5.0)


def test_a_tool_call_has_a_first_token_c134() -> None:
    reply = timed_sse("C134")
    assert (reply.t_first_answer_s, reply.finish_reason) == (0.35, "tool_calls")


def test_a_stream_without_any_token_has_no_first_one_c136() -> None:
    reply = timed_sse("C136")
    assert (reply.text, reply.t_first_answer_s, reply.t_last_s) == ("", None, None)


def test_a_tool_call_in_pieces_is_put_together_c137() -> None:
    (call,) = sse("C137").tool_calls
    assert (call.id, call.name, call.arguments) == ("c1", "get_weather", '{"city":"Oslo"}')


def test_tool_calls_without_an_index_are_kept_apart_c139() -> None:
    calls = sse("C139").tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("c1", "get_weather", '{"city":"Paris"}'),
        ("c2", "get_time", '{"tz":"JST"}'),
    ]


def test_an_empty_ollama_answer_has_no_generation_time_c141() -> None:
    timings = ndjson(json.dumps(case("C141"))).engine_timings
    assert timings is not None
    assert (timings.prompt_tokens, timings.prompt_s) == (43, 0.127)
    assert (timings.generated_tokens, timings.generation_s) == (1, None)


def test_one_token_in_a_microsecond_gives_no_rate_c143() -> None:
    timings = ndjson(json.dumps(case("C143"))).engine_timings
    assert timings is not None
    assert timings.generation_s is None


def test_a_missing_prompt_count_is_unknown_and_not_zero_c145() -> None:
    reply = ndjson(json.dumps(case("C145")))
    timings = reply.engine_timings
    assert timings is not None
    assert (reply.tokens.prompt, reply.tokens.completion) == (None, 50)
    assert (timings.prompt_tokens, timings.prompt_s) == (None, 0.0009)


def test_the_first_of_fifty_tokens_is_not_in_the_second_that_ollama_names_c145() -> None:
    # The report's own answer, 50 tok/s, is eval_count by eval_duration. Ollama starts that clock
    # when the first token's logits are there (runner.go, startGenerationTime), so that the second
    # holds 49 tokens.
    reply = ndjson(json.dumps(case("C145")))
    told = {"engine_timings": reply.engine_timings, "tokens": reply.tokens}
    trial = speed_trial().model_copy(update=told)
    rate = engine_rate(trial)
    assert rate is not None
    assert (rate.tps, rate.window_s) == (49.0, 1.0)
    assert prompt_rate(trial, Overhead(0.01, 8)) is None


def test_zero_usage_beside_text_is_unknown_c147() -> None:
    reply = body("C147")
    assert reply.text == "hello there"
    assert (reply.tokens.prompt, reply.tokens.completion) == (None, None)


def test_thinking_in_its_own_field_stays_out_of_the_answer_c007() -> None:
    reply = body("C007")
    assert (reply.text, reply.thinking) == ("18", "17? no, 18")


def test_thinking_that_was_cut_is_no_answer_c009() -> None:
    reply = body("C009")
    assert (reply.text, reply.finish_reason, reply.tokens.completion) == ("", "length", 2048)


def test_null_content_is_an_empty_answer_c011() -> None:
    assert body("C011").text == ""


def test_empty_arguments_stay_as_they_came_c057() -> None:
    (call,) = body("C057").tool_calls
    assert (call.name, call.arguments) == ("list_files", "")


def test_a_call_written_as_text_is_no_call_c061() -> None:
    reply = body("C061")
    assert (reply.tool_calls, reply.finish_reason) == ((), "stop")
