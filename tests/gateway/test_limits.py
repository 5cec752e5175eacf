"""A trial has so many requests, tokens and seconds; what is beyond is refused and never sent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from bench_loop.gateway.limits import Limits, Used, reached, sentence, tokens_left
from bench_loop.gateway.pinning import Pins
from tests.fakes.server import FOREVER, Piece, Reply
from tests.gateway.gated import CHAT, PINS, WAIT_S, Scripted, events, gated, until

LIMITS = Limits(requests=3, tokens=100, wall_s=60.0)
EVENTS = events({"content": "yes"}, {"content": " no"})
OF_TWO_TOKENS = Reply([Piece(event) for event in EVENTS], content_type="text/event-stream")


@pytest.mark.parametrize(
    ("used", "limit"),
    [
        (Used(2, 99, 59.9), None),
        (Used(3, 0, 0.0), "turns"),
        (Used(0, 100, 0.0), "tokens"),
        (Used(0, 0, 60.0), "wall"),
    ],
)
def test_the_limit_that_forbids_one_more_request(used: Used, limit: str | None) -> None:
    assert reached(LIMITS, used) == limit


def test_without_limits_none_is_reached() -> None:
    assert reached(Limits(), Used(10**6, 10**9, 1e6)) is None


def test_the_tokens_that_are_left() -> None:
    assert tokens_left(LIMITS, Used(0, 30, 0.0)) == 70
    assert tokens_left(LIMITS, Used(0, 130, 0.0)) == 0
    assert tokens_left(Limits(), Used(0, 30, 0.0)) is None


@pytest.mark.parametrize("limit", ["turns", "tokens", "wall"])
def test_a_refusal_does_not_sound_like_a_prompt_too_long(limit: str) -> None:
    text = sentence(limit, LIMITS).lower()  # type: ignore[arg-type]
    assert not any(word in text for word in ("context", "token", "length", "long", "maximum"))


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (Limits(requests=1), "turns"),
        (Limits(tokens=2), "tokens"),
        (Limits(wall_s=0.0), "wall"),
    ],
)
def test_a_refused_request_never_reaches_the_model(limits: Limits, limit: str) -> None:
    with Scripted(OF_TWO_TOKENS) as server, gated(server.url, limits=limits) as harness:
        answers = [harness.ask() for _ in range(3)]
        records = harness.trial.requests()
        assert len(server.requests) == len([one for one in records if one.refused is None])
    refused = [record for record in records if record.refused is not None]
    assert {record.refused for record in refused} == {limit} == {harness.trial.limit}
    assert [record.retry for record in refused] == list(range(len(refused)))
    assert answers[-1].status_code == 400
    assert answers[-1].headers["x-should-retry"] == "false"
    error = answers[-1].json()["error"]
    assert (error["code"], error["type"]) == ("benchmark_limit_reached", "invalid_request_error")


def test_a_reply_may_be_as_long_as_the_trial_has_tokens_left() -> None:
    with (
        Scripted(OF_TWO_TOKENS) as server,
        gated(server.url, limits=Limits(tokens=5)) as harness,
    ):
        for _ in range(3):
            harness.ask()
        assert [body["max_tokens"] for body in server.asked(CHAT)] == [5, 3, 1]


def test_a_reply_may_be_as_long_as_the_window_has_room() -> None:
    pins = Pins("tiny", answer_tokens=64, context_window=30)
    said = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    with Scripted(OF_TWO_TOKENS) as server, gated(server.url, pins) as harness:
        harness.ask(messages=said)
        harness.ask(messages=[*said, {"role": "user", "content": "three"}])
        harness.ask(messages=[{"role": "user", "content": "something else"}])
        # The first prompt had 12 tokens, which the second begins with.
        assert [body["max_tokens"] for body in server.asked(CHAT)] == [30, 18, 30]


def test_requests_at_the_same_time_share_the_tokens_of_the_trial() -> None:
    slow = Reply([Piece(event, 0.05) for event in EVENTS], content_type="text/event-stream")
    with (
        Scripted(slow) as server,
        gated(server.url, limits=Limits(tokens=5)) as harness,
        ThreadPoolExecutor(8) as pool,
    ):
        asked = [pool.submit(harness.ask) for _ in range(8)]
        codes = sorted(one.result().status_code for one in asked)
        assert [body["max_tokens"] for body in server.asked(CHAT)] == [5, 3, 1]
    assert codes == [200] * 3 + [400] * 5


def test_requests_that_have_enough_together_do_not_wait_for_each_other() -> None:
    with (
        Scripted(Reply(pause_s=FOREVER)) as server,
        gated(server.url, limits=Limits(tokens=20)) as harness,
        ThreadPoolExecutor(2) as pool,
    ):
        for _ in range(2):
            pool.submit(harness.ask, max_tokens=10)
        until(lambda: len(server.requests) == 2)
        harness.trial.close()


def test_a_request_that_waits_is_let_go_when_the_trial_is_over() -> None:
    with (
        Scripted(Reply(pause_s=FOREVER)) as server,
        gated(server.url, limits=Limits(tokens=20)) as harness,
        ThreadPoolExecutor(2) as pool,
    ):
        asked = [pool.submit(harness.ask) for _ in range(2)]
        until(lambda: server.requests)
        harness.trial.close()
        assert all(one.exception(WAIT_S) is not None for one in asked)
        assert len(server.requests) == 1


def test_tokens_that_no_server_counts_are_counted_by_events() -> None:
    pieces = [Piece(event) for event in events({"content": "yes"}, {"content": " no"})]
    silent = Reply([*pieces[:3], pieces[4]], content_type="text/event-stream")
    with Scripted(silent) as server, gated(server.url, limits=Limits(tokens=2)) as harness:
        assert [harness.ask().status_code for _ in range(2)] == [200, 400]
        first, _ = harness.trial.requests()
    assert first.tokens.completion is None


def test_a_storm_of_refused_requests_is_counted_and_not_kept() -> None:
    with Scripted() as server, gated(server.url, PINS, Limits(requests=0)) as harness:
        for _ in range(103):
            harness.ask()
        assert harness.trial.refused_count == 103
        assert len(harness.trial.requests()) == 100
