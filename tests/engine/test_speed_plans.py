"""Speed plans: what they cost, and which one is taken."""

from __future__ import annotations

import pytest

from bench_loop.engine.plan import make_plan
from bench_loop.engine.speed_plans import PLANS, WARMUP_ROUNDS, Rates, wall_limit_s


@pytest.mark.parametrize(
    ("plan", "prompt_tokens", "output_tokens"),
    [
        ("nine", 47_232, 9_792),
        ("five", 21_888, 4_224),
        ("headline", 7_296, 896),
        ("minimum", 3_072, 192),
    ],
)
def test_the_scored_rounds_of_a_plan_cost_what_the_methodology_says(
    plan: str, prompt_tokens: int, output_tokens: int
) -> None:
    rounds = PLANS[plan][WARMUP_ROUNDS[plan] :]  # type: ignore[index]
    shapes = [shape for one_round in rounds for shape in one_round]
    assert sum(shape.prompt_tokens for shape in shapes) == prompt_tokens
    assert sum(shape.output_tokens for shape in shapes) == output_tokens


def test_the_wall_limit_is_two_minutes_and_three_times_the_expected_time() -> None:
    assert wall_limit_s(Rates(100, 10), 1000, 200) == 120 + 3 * (10 + 20)


def test_the_wall_limit_is_ten_minutes_before_anything_is_known() -> None:
    assert wall_limit_s(None, 1000, 200) == 600


def test_the_rule_that_a_run_states_is_the_one_it_went_by() -> None:
    assert make_plan(suites=["reasonmath"]).wall_limit_rule == "600 s, as no speed was measured"
    assert make_plan(profile="smoke").wall_limit_rule.startswith("120 s + 3 x (prompt tokens")
