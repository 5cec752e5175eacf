"""What the gateway counts is what the server says that it did, request by request."""

from __future__ import annotations

import httpx
import pytest

from bench_loop.gateway.trial import GatedTrial
from bench_loop.selftest.simulated import Sent, Simulated, simulator
from bench_loop.simulator.settings import Call, Dialect, Program, Settings
from tests.gateway.gated import Harness, gated, question, until

CALLS = (Call("read", '{"path": "calc.py"}'),)
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
SLACK_S = 0.15
"""What a busy machine may add."""
PROMPTS = ("one", "one two three", "one two three four five")

PROGRAMS = {
    "quick": Program(answer_tokens=7),
    "cut off": Program(),
    "thinking": Program(answer_tokens=7, thinking_tokens=5),
    "cached": Program(answer_tokens=7, cache="reported"),
    "in lumps": Program(answer_tokens=20, tokens_per_chunk=4, has_mixed_chunks=True),
    "in crumbs": Program(answer_tokens=7, piece_bytes=5, has_crlf=True, has_comments=True),
    "calling": Program(answer_tokens=7, calls=CALLS),
    "calling whole": Program(answer_tokens=7, calls=CALLS, call_form="whole"),
    "without an end": Program(answer_tokens=7, has_done=False),
}


def ask_all(harness: Harness) -> None:
    for text in PROMPTS:
        harness.ask(messages=question(text)["messages"], model="sim", tools=TOOLS)


def in_order(server: Simulated) -> list[Sent]:
    server.sent(len(PROMPTS) - 1)
    return sorted(server.all_sent(), key=lambda sent: sent.received_s)


@pytest.mark.parametrize("dialect", ["openai", "llama.cpp"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tokens_texts_and_calls_are_those_of_the_server_s_log(name: str, dialect: Dialect) -> None:
    program = PROGRAMS[name]
    with simulator(Settings(dialect, {"tiny": program})) as server, gated(server.url) as harness:
        ask_all(harness)
        log = in_order(server)
        trial: GatedTrial = harness.trial
    assert [sent.ended for sent in log] == ["done"] * 3
    for record, reply, sent in zip(trial.requests(), trial.replies(), log, strict=True):
        assert record.tokens.prompt == sent.prompt_tokens
        assert record.tokens.completion == sent.completion_tokens
        assert record.tokens.basis == ("usage" if dialect == "openai" else "engine_timings")
        if program.cache == "reported":
            assert record.tokens.cached == sent.cached_tokens
        assert reply.thinking + reply.text == sent.text
        assert len(record.tool_calls) == len(program.calls)
        assert record.status == 200


def test_streams_without_counts_are_told_as_unknown() -> None:
    program = Program(answer_tokens=7, reports_usage=False)
    with simulator(Settings("openai", {"tiny": program})) as server, gated(server.url) as harness:
        ask_all(harness)
        assert [record.tokens.completion for record in harness.trial.requests()] == [None] * 3


def test_an_error_inside_a_stream_is_that_of_the_server_s_log() -> None:
    program = Program(answer_tokens=7, error_after=3)
    with simulator(Settings("openai", {"tiny": program})) as server, gated(server.url) as harness:
        harness.ask()
        assert server.sent(0).ended == "error"
        (exchange,) = harness.trial.exchanges()
    assert exchange.failure is not None
    assert exchange.record.error == (
        "The engine stopped in the middle of the answer: the simulated runner was killed"
    )


def test_a_stream_that_breaks_off_is_that_of_the_server_s_log() -> None:
    program = Program(answer_tokens=7, break_after=3)
    with simulator(Settings("openai", {"tiny": program})) as server, gated(server.url) as harness:
        with pytest.raises(httpx.RemoteProtocolError):
            harness.ask()
        sent = server.sent(0)
        until(harness.trial.exchanges)
        (exchange,) = harness.trial.exchanges()
    assert exchange.failure is not None
    assert exchange.cut is not None
    assert (sent.ended, sent.text) == ("broken", exchange.cut.text)


def test_times_are_those_of_the_server_s_log() -> None:
    program = Program(answer_tokens=20, prefill_tps=20.0, decode_tps=100.0)
    with simulator(Settings("openai", {"tiny": program})) as server, gated(server.url) as harness:
        ask_all(harness)
        log = in_order(server)
        records = harness.trial.requests()
    for record, sent in zip(records, log, strict=True):
        assert record.t_first_answer_s is not None
        assert 0 <= record.t_first_answer_s - sent.ttfa_s < SLACK_S
        assert 0 <= record.latency_s - (sent.events[-1][0] - sent.received_s) < SLACK_S
