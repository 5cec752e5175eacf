"""The plan of a simulated answer: pure, so every time and count can be written down."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench_loop.simulator.answer import Asked, Prompt, Step, steps, stops, take_prompt
from bench_loop.simulator.settings import Call, Program, Settings


def plan(
    max_tokens: int = 4, age_s: float = 0.0, has_tools: bool = False, **program: object
) -> list[Step]:
    made = Program(**{"decode_tps": 10.0, "has_role_chunk": False} | program)  # type: ignore[arg-type]
    return list(steps(made, Asked("sim", "a b", max_tokens, has_tools=has_tools), age_s))


def due(plan: list[Step]) -> list[float]:
    return [round(step.due_s, 6) for step in plan]


def test_the_first_token_is_there_when_the_prompt_is_done() -> None:
    assert due(plan()) == [0.0, 0.1, 0.2, 0.3]


def test_an_event_of_several_tokens_leaves_with_its_last_one() -> None:
    answer = plan(max_tokens=8, tokens_per_chunk=3)
    assert [step.tokens for step in answer] == [3, 3, 2]
    assert due(answer) == [0.2, 0.5, 0.7]


def test_events_of_mixed_size_hold_one_token_to_the_most() -> None:
    answer = plan(max_tokens=200, tokens_per_chunk=8, has_mixed_chunks=True)
    sizes = [step.tokens for step in answer]
    assert sum(sizes) == 200
    assert set(sizes) == set(range(1, 9))
    assert due(answer)[0] == pytest.approx((sizes[0] - 1) / 10)
    assert sizes == [
        step.tokens for step in plan(max_tokens=200, tokens_per_chunk=8, has_mixed_chunks=True)
    ]


def test_a_role_comes_first_and_is_no_token() -> None:
    role, first, *_ = plan(has_role_chunk=True)
    assert (role.kind, role.tokens, first.kind, first.tokens) == ("role", 0, "text", 1)


def test_thinking_and_answer_share_no_event() -> None:
    answer = plan(max_tokens=6, thinking_tokens=3, tokens_per_chunk=2)
    assert [(step.kind, step.tokens) for step in answer] == [
        ("thinking", 2),
        ("thinking", 1),
        ("text", 2),
        ("text", 1),
    ]


def test_a_model_stops_after_the_tokens_that_it_has() -> None:
    assert sum(step.tokens for step in plan(max_tokens=100, answer_tokens=7)) == 7


@pytest.mark.parametrize(("can_force", "tokens"), [(True, 100), (False, 7)])
def test_a_request_that_ignores_the_end_gets_its_length_where_the_server_can(
    can_force: bool, tokens: int
) -> None:
    program = Program(answer_tokens=7, can_force_length=can_force)
    asked = Asked("sim", "a b", 100, ignores_end=True)
    assert sum(step.tokens for step in steps(program, asked, 0.0)) == tokens
    assert stops(program, asked) is not can_force


def test_a_stall_delays_everything_after_it() -> None:
    assert due(plan(stall_after=2, stall_s=5.0)) == [0.0, 0.1, 5.2, 5.3]


def test_jitter_keeps_the_order_and_the_mean() -> None:
    moments = due(plan(max_tokens=2001, jitter=0.5))
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert min(pauses) > 0.049
    assert max(pauses) < 0.151
    assert moments[-1] == pytest.approx(200.0, rel=0.02)


def test_the_same_seed_gives_the_same_jitter() -> None:
    assert due(plan(jitter=0.5, seed=7)) == due(plan(jitter=0.5, seed=7))
    assert due(plan(jitter=0.5, seed=7)) != due(plan(jitter=0.5, seed=8))


@pytest.mark.parametrize(
    ("age_s", "pause_s"), [(0.0, 0.1), (30.0, 1 / 7.5), (60.0, 0.2), (900.0, 0.2)]
)
def test_speed_decays_evenly_to_its_share(age_s: float, pause_s: float) -> None:
    first, second, *_ = plan(age_s=age_s, decay_to=0.5, decay_s=60.0)
    assert second.due_s - first.due_s == pytest.approx(pause_s)


def test_a_call_is_made_only_where_tools_are_offered() -> None:
    call = Call("clock", '{"zone":"UTC"}')
    assert {step.kind for step in plan(calls=(call,))} == {"text"}
    pieces = [step.piece for step in plan(max_tokens=99, calls=(call,), has_tools=True)]
    assert "".join(piece.arguments for piece in pieces if piece) == '{"zone":"UTC"}'


def test_a_prompt_seen_before_is_remembered_but_for_one_token() -> None:
    program = Program(cache="reported")
    assert take_prompt(program, Asked("sim", "a b c d", 1), "") == Prompt(4, 0)
    assert take_prompt(program, Asked("sim", "a b c d", 1), "a b x y") == Prompt(4, 2)
    assert take_prompt(program, Asked("sim", "a b c d", 1), "a b c d") == Prompt(4, 3)
    unwanted = Asked("sim", "a b c d", 1, is_cacheable=False)
    assert take_prompt(program, unwanted, "a b c d") == Prompt(4, 0)


def test_a_server_that_cuts_keeps_the_end_of_a_prompt() -> None:
    program = Program(window=3, cuts_prompt=True)
    assert take_prompt(program, Asked("sim", "a b c d e", 1), "") == Prompt(3)


def test_settings_go_through_json() -> None:
    settings = Settings("ollama", {"sim": Program(jitter=0.1, calls=(Call("a", "{}"),))}, "log")
    assert Settings.from_json(settings.to_json()) == settings
