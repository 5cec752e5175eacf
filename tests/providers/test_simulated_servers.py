"""Providers against the simulator: a process of its own whose log says what it really sent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from bench_loop.contracts.chat import ChatReply, ToolCall
from bench_loop.contracts.provider import Provider
from bench_loop.errors import EngineRejectedError
from bench_loop.selftest.simulated import Sent, simulator
from bench_loop.simulator.settings import Call, CallForm, Dialect, Program, Settings
from tests.providers.replay import question

DIALECTS: tuple[Dialect, ...] = ("openai", "llama.cpp", "ollama")
EVENT_STREAMS: tuple[Dialect, ...] = ("openai", "llama.cpp")
TOOLS = ({"type": "function", "function": {"name": "clock", "parameters": {}}},)

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@contextmanager
def connected(dialect: Dialect, program: Program) -> Iterator[Provider]:
    with (
        simulator(Settings(dialect, {"sim:1b": program})) as server,
        closing(server.connect()) as provider,
    ):
        yield provider


def ask(provider: Provider, **settings: Any) -> ChatReply:
    plain = {"text": "one two three", "model_id": "sim:1b", "max_tokens": 32}
    return provider.chat(question(**plain | settings))


def answered(dialect: Dialect, program: Program, **settings: Any) -> tuple[ChatReply, Sent]:
    """The reply to one question, and what the server says it sent."""
    with (
        simulator(Settings(dialect, {"sim:1b": program})) as server,
        closing(server.connect()) as provider,
    ):
        return ask(provider, **settings), server.sent(0)


SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "without a role": {"has_role_chunk": False},
    "several tokens a chunk": {"tokens_per_chunk": 5},
    "CRLF": {"has_crlf": True},
    "byte by byte": {"piece_bytes": 1},
    "two bytes at a time": {"piece_bytes": 2},
    "three bytes at a time": {"piece_bytes": 3},
    "long pieces": {"piece_bytes": 1000},
    "thinking": {"thinking_tokens": 12},
    "thinking in chunks, byte by byte": {
        "thinking_tokens": 12,
        "tokens_per_chunk": 5,
        "piece_bytes": 1,
    },
}


@every_dialect
@pytest.mark.parametrize("shape", SHAPES)
def test_text_counts_and_reason_are_as_sent(dialect: Dialect, shape: str) -> None:
    reply, sent = answered(dialect, Program(**SHAPES[shape]))
    assert reply.thinking + reply.text == sent.text
    assert (reply.tokens.prompt, reply.tokens.completion) == (3, 32)
    assert reply.finish_reason == "length"
    assert reply.stream is not None
    assert reply.stream.events == len(sent.events)


@pytest.mark.parametrize("dialect", EVENT_STREAMS)
@pytest.mark.parametrize("habit", [{"has_comments": True}, {"has_done": False}])
def test_comments_and_a_missing_end_mark_change_nothing(
    dialect: Dialect, habit: dict[str, Any]
) -> None:
    reply, sent = answered(dialect, Program(**habit))
    assert (reply.text, reply.tokens.completion) == (sent.text, 32)
    assert reply.finish_reason == "length"


@every_dialect
def test_a_model_that_stops_by_itself_counts_its_end_token(dialect: Dialect) -> None:
    reply, _ = answered(dialect, Program(answer_tokens=9))
    assert (reply.finish_reason, reply.tokens.completion) == ("stop", 10)


@pytest.mark.parametrize("dialect", EVENT_STREAMS)
def test_a_forced_length_goes_beyond_the_answer(dialect: Dialect) -> None:
    reply, _ = answered(dialect, Program(answer_tokens=9), force_length=True)
    assert (reply.finish_reason, reply.tokens.completion) == ("length", 32)


@every_dialect
def test_marks_are_those_of_the_log(dialect: Dialect) -> None:
    program = Program(decode_tps=40.0, prefill_tps=20.0, thinking_tokens=8)
    reply, sent = answered(dialect, program, max_tokens=16)
    assert reply.t_first_thinking_s == pytest.approx(sent.ttft_s, abs=0.1)
    assert reply.t_first_answer_s == pytest.approx(sent.ttfa_s, abs=0.1)
    last_s = sent.events[-1][0] - sent.received_s
    assert reply.t_last_s == pytest.approx(last_s, abs=0.1)
    assert sent.ttft_s == pytest.approx(0.15, abs=0.1)
    assert sent.ttfa_s - sent.ttft_s == pytest.approx(0.2, abs=0.1)


@every_dialect
def test_a_queue_before_the_prompt_is_in_the_time_to_the_first_token(dialect: Dialect) -> None:
    reply, _ = answered(dialect, Program(queue_s=0.4))
    assert reply.t_first_answer_s is not None
    assert reply.t_first_answer_s >= 0.4
    if reply.engine_timings is not None:
        assert reply.engine_timings.prompt_s == pytest.approx(0.0, abs=0.1)


@every_dialect
@pytest.mark.parametrize("fault", [{"error_after": 5}, {"break_after": 5}])
def test_an_error_or_a_lost_connection_inside_a_stream_of_status_200_is_an_error(
    dialect: Dialect, fault: dict[str, int]
) -> None:
    with connected(dialect, Program(**fault)) as provider:
        with pytest.raises(EngineRejectedError) as caught:
            ask(provider)
        assert caught.value.reason == "engine_crashed"


@every_dialect
def test_a_stall_is_cut_at_the_wall_limit_with_what_had_come(dialect: Dialect) -> None:
    began = time.monotonic()
    with connected(dialect, Program(stall_after=5, stall_s=60.0)) as provider:
        reply = ask(provider, wall_limit_s=0.5)
    assert time.monotonic() - began < 10
    assert reply.finish_reason == "limit"
    assert reply.text == "the meter reads naïve 42"


@every_dialect
def test_counts_that_are_not_given_are_unknown(dialect: Dialect) -> None:
    program = Program(reports_usage=False, reports_timings=False)
    reply, sent = answered(dialect, program)
    assert reply.text == sent.text
    assert (reply.tokens.prompt, reply.tokens.completion) == (None, None)


@pytest.mark.parametrize("dialect", EVENT_STREAMS)
def test_a_reported_cache_is_counted_apart(dialect: Dialect) -> None:
    with connected(dialect, Program(cache="reported")) as provider:
        assert ask(provider).tokens.cached == 0
        assert ask(provider).tokens.cached == 2


def test_llama_cpp_is_asked_to_forget() -> None:
    with connected("llama.cpp", Program(cache="reported")) as provider:
        ask(provider)
        assert ask(provider, use_prompt_cache=False).tokens.cached == 0


def test_the_load_of_an_ollama_is_told_apart_from_the_prompt() -> None:
    with connected("ollama", Program(load_s=0.3, prefill_tps=30.0)) as provider:
        first = ask(provider).engine_timings
        second = ask(provider).engine_timings
    assert first is not None
    assert second is not None
    assert first.load_s == pytest.approx(0.3)
    assert first.prompt_s == pytest.approx(0.1, abs=0.05)
    assert second.load_s == pytest.approx(0.0)


def test_an_ollama_that_was_unloaded_loads_again() -> None:
    with connected("ollama", Program(load_s=0.1)) as provider:
        ask(provider)
        assert provider.unload("sim:1b")
        timings = ask(provider).engine_timings
    assert timings is not None
    assert timings.load_s == pytest.approx(0.1)


@every_dialect
def test_a_prompt_that_was_cut_has_fewer_tokens(dialect: Dialect) -> None:
    reply, _ = answered(dialect, Program(window=16, cuts_prompt=True), text=" ".join("x" * 50))
    assert reply.tokens.prompt == 16


def test_the_window_that_an_ollama_really_loaded_is_read_back() -> None:
    with connected("ollama", Program(window=2048, cuts_prompt=True)) as provider:
        ask(provider, context_window=8192)
        assert provider.model("sim:1b").context_loaded == 2048


CALLS = (Call("clock", '{"zone": "Europe/Zürich", "n": [1, 2]}'), Call("clock", '{"zone": "UTC"}'))


@every_dialect
@pytest.mark.parametrize("piece_bytes", [0, 1, 3])
@pytest.mark.parametrize("form", ["pieces", "whole", "object"])
def test_parallel_calls_keep_their_arguments(
    dialect: Dialect, form: CallForm, piece_bytes: int
) -> None:
    if dialect == "ollama" and form == "pieces":
        form = "whole"  # its native route has no pieces
    program = Program(calls=CALLS, call_form=form, piece_bytes=piece_bytes)
    reply, _ = answered(dialect, program, tools=TOOLS, max_tokens=200)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("clock", '{"zone": "Europe/Zürich", "n": [1, 2]}'),
        ("clock", '{"zone": "UTC"}'),
    ]
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("dialect", EVENT_STREAMS)
@pytest.mark.parametrize("form", ["pieces", "whole"])
def test_a_call_without_arguments_has_none(dialect: Dialect, form: CallForm) -> None:
    program = Program(calls=(Call("clock", ""),), call_form=form)
    reply, _ = answered(dialect, program, tools=TOOLS)
    assert reply.tool_calls == (ToolCall(id="call_0", name="clock", arguments=""),)


def test_a_call_without_arguments_is_an_empty_object_in_ollama() -> None:
    reply, _ = answered("ollama", Program(calls=(Call("clock", ""),)), tools=TOOLS)
    assert reply.tool_calls == (ToolCall(name="clock", arguments="{}"),)


@pytest.mark.parametrize("dialect", EVENT_STREAMS)
def test_a_call_in_pieces_has_a_first_token_and_a_whole_one_has_none(dialect: Dialect) -> None:
    pieces = Program(calls=CALLS[:1])
    reply, _ = answered(dialect, pieces, tools=TOOLS, max_tokens=200)
    assert reply.t_first_answer_s is not None
    whole = replace(pieces, call_form="whole")
    reply, _ = answered(dialect, whole, tools=TOOLS, max_tokens=200)
    assert reply.t_first_answer_s is None


@pytest.mark.parametrize("dialect", ["openai", "ollama"])
@pytest.mark.parametrize("tokens_per_chunk", [1, 2, 3, 8])
def test_tokens_of_the_first_event_are_told_by_its_share_of_the_text(
    dialect: Dialect, tokens_per_chunk: int
) -> None:
    program = Program(tokens_per_chunk=tokens_per_chunk)
    reply, sent = answered(dialect, program, max_tokens=240)
    assert reply.stream is not None
    assert sent.events[0][1] == tokens_per_chunk
    assert reply.stream.first_event_tokens == pytest.approx(tokens_per_chunk, abs=1)


def test_llama_cpp_says_how_many_tokens_came_first() -> None:
    reply, _ = answered("llama.cpp", Program(tokens_per_chunk=8))
    assert reply.stream is not None
    assert reply.stream.first_event_tokens == 8
