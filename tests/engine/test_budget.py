"""A budget for the whole run: the largest speed plan that fits, and never a task less."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench_loop.engine.budget import Fit, Outset, fit
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.speed_plans import PLANS, Rates, Timing
from bench_loop.errors import UsageError
from bench_loop.result.records import SpeedPlan

RATES = Rates(1000.0, 100.0)
WINDOW = 8192


def schedule(plan: SpeedPlan) -> Sequence[Timing]:
    return [Timing(shape, 1, False) for one_round in PLANS[plan] for shape in one_round]


def fitted(
    plan: RunPlan | str, options: RunOptions | None = None, rates: Rates = RATES, spent: float = 0.0
) -> Fit:
    if isinstance(plan, str):
        plan = make_plan(profile=plan)
    return fit(Outset(plan, options or RunOptions(), rates, WINDOW, schedule), spent)


def least_s(profile: str) -> float:
    """Expected seconds of the profile with its least speed plan and no repeat."""
    found = fitted(profile, RunOptions(speed_budget_s=0))
    return found.left.expected


def tokens(*prompts: int) -> float:
    """Tokens of the calibration's size that take as long to read as `prompts` do.

    The calibration had 512; a token costs 0.15 more at 2,048 than at the beginning.
    """
    return sum(prompt * (1 + 0.15 * (prompt - 512) / 2048) for prompt in prompts)


def test_a_fast_machine_gets_the_largest_plan() -> None:
    found = fitted("core", rates=Rates(10_000, 1_000))
    # Four rounds of nine shapes with 3,264 output tokens.
    one_round = 3 * tokens(128, 1024, 4096) / 10_000 + 3.264
    assert (found.speed_plan, found.speed_s) == ("nine", pytest.approx(4 * one_round))


def test_a_middling_machine_gets_the_largest_plan_that_fits() -> None:
    # nine: about 63,000 / 400 + 13,056 / 20 = 810 s, more than the 720 s of the profile.
    found = fitted("core", rates=Rates(400, 20))
    one_round = tokens(128, 1024, 1024, 1024, 4096) / 400 + 1408 / 20
    assert (found.speed_plan, found.speed_s) == ("five", pytest.approx(4 * one_round))


def test_a_slow_machine_still_gets_the_headline() -> None:
    found = fitted("core", rates=Rates(20, 2))
    expected = tokens(128, 1024, 1024, 1024, 4096) / 20 + 896 / 2
    assert (found.speed_plan, found.speed_s) == ("headline", pytest.approx(expected))


def test_smoke_never_takes_more_than_the_minimum() -> None:
    assert fitted("smoke", rates=Rates(100_000, 10_000)).speed_plan == "minimum"


def test_a_budget_takes_the_largest_plan_that_leaves_time_for_every_task() -> None:
    rich = fitted("core")
    five = fitted("core", RunOptions(speed_budget_s=rich.speed_s - 1))
    budget_s = five.left.high
    found = fitted("core", RunOptions(budget_s=budget_s))
    assert (rich.speed_plan, five.speed_plan, found.speed_plan) == ("nine", "five", "five")
    assert found.left.expected <= budget_s
    tasks = make_plan(profile="core").quality_trials
    assert len(found.forecast.to_come) == len(tasks) + len(schedule("five")) + 1


def test_a_larger_plan_is_taken_only_where_slow_tasks_would_fit_as_well() -> None:
    rich = fitted("core")
    barely = rich.speed_s + least_s("core") - fitted("core", RunOptions(speed_budget_s=0)).speed_s
    assert fitted("core", RunOptions(budget_s=barely + 1)).speed_plan != "nine"
    assert fitted("core", RunOptions(budget_s=3 * barely)).speed_plan == "nine"


def test_a_profile_that_does_not_fit_is_refused_and_a_fitting_one_named() -> None:
    quick, core = least_s("quick"), least_s("core")
    assert quick < core
    with pytest.raises(UsageError, match="The profile core would take about") as refused:
        fitted("core", RunOptions(budget_s=quick + 1))
    assert refused.value.remedy == "The profile quick fits: --profile quick"


def test_where_nothing_fits_the_least_budget_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        fitted("quick", RunOptions(budget_s=1))
    assert "No profile fits; give at least --budget" in str(refused.value.remedy)


def test_what_was_spent_already_counts() -> None:
    budget = RunOptions(budget_s=least_s("quick") + 5)
    fitted("quick", budget, spent=4)
    with pytest.raises(UsageError):
        fitted("quick", budget, spent=6)


def test_a_sustained_load_and_streams_count() -> None:
    plain = fitted("smoke").left.expected
    more = RunOptions(sustained_s=600, concurrency=(1, 2))
    # Three streams of 512 prompt and 128 output tokens.
    assert fitted("smoke", more).left.expected == pytest.approx(plain + 600 + 3 * (0.512 + 1.28))


def test_long_profiles_take_the_first_point_of_the_curve_where_it_is_cheap() -> None:
    def has_point(rates: Rates) -> bool:
        return "p7680x256" in {
            work.task_id for work in fitted("core", rates=rates).forecast.to_come
        }

    assert has_point(RATES)
    assert not has_point(Rates(60.0, 100.0))  # 7,680 tokens in 128 s
