"""A budget for the whole run: the largest speed plan that fits, and never a task less."""

from __future__ import annotations

import pytest

from bench_loop.engine.forecast import forecast
from bench_loop.engine.plan import RunOptions, make_plan
from bench_loop.engine.speed_plans import Rates
from bench_loop.errors import UsageError

RATES = Rates(1000.0, 100.0)
WINDOW = 8192


def total_s(profile: str, **options: float) -> float:
    return forecast(make_plan(profile=profile), RunOptions(**options), RATES, WINDOW).total_s  # type: ignore[arg-type]


def test_without_a_budget_the_profiles_own_speed_budget_decides() -> None:
    # `nine`, warm-up included: 62,976 prompt and 13,056 output tokens, of 720 s.
    found = forecast(make_plan(profile="core"), RunOptions(), RATES, WINDOW)
    assert (found.speed_plan, found.speed_s) == ("nine", pytest.approx(62.976 + 130.56))


def test_a_budget_takes_the_largest_plan_that_leaves_time_for_every_task() -> None:
    plan = make_plan(profile="core")
    rich = forecast(plan, RunOptions(), RATES, WINDOW)
    # Less than `nine` needs, and far more than `headline` does.
    tight = RunOptions(budget_s=rich.total_s - rich.speed_s / 2)
    found = forecast(plan, tight, RATES, WINDOW)
    assert found.speed_plan in ("five", "headline")
    assert found.total_s <= rich.total_s - rich.speed_s / 2
    assert found.quality_s == rich.quality_s


def test_a_profile_that_does_not_fit_is_refused_and_a_fitting_one_named() -> None:
    quick, core = total_s("quick"), total_s("core", speed_budget_s=0)
    assert quick < core
    with pytest.raises(UsageError, match="The profile core would take about") as refused:
        forecast(make_plan(profile="core"), RunOptions(budget_s=quick + 1), RATES, WINDOW)
    assert refused.value.remedy == "The profile quick fits: --profile quick"


def test_where_nothing_fits_the_least_budget_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        forecast(make_plan(profile="quick"), RunOptions(budget_s=1), RATES, WINDOW)
    assert "No profile fits; give at least --budget" in str(refused.value.remedy)


def test_what_was_spent_already_counts() -> None:
    plan = make_plan(profile="quick")
    whole = forecast(plan, RunOptions(), RATES, WINDOW).total_s
    forecast(plan, RunOptions(budget_s=whole + 5), RATES, WINDOW, elapsed_s=4)
    with pytest.raises(UsageError):
        forecast(plan, RunOptions(budget_s=whole + 5), RATES, WINDOW, elapsed_s=6)


def test_a_sustained_load_and_streams_count() -> None:
    plan = make_plan(profile="smoke")
    plain = forecast(plan, RunOptions(), RATES, WINDOW).total_s
    more = RunOptions(sustained_s=600, concurrency=(1, 2))
    # Three streams of 512 prompt and 128 output tokens.
    assert forecast(plan, more, RATES, WINDOW).total_s == pytest.approx(
        plain + 600 + 3 * (0.512 + 1.28)
    )


def test_long_profiles_take_the_first_point_of_the_curve_where_it_is_cheap() -> None:
    plan = make_plan(profile="core")
    slow = Rates(60.0, 100.0)  # 7,680 tokens in 128 s
    fast, late = (
        forecast(plan, RunOptions(), rates, WINDOW).extras_s - determinism_s(rates)
        for rates in (RATES, slow)
    )
    assert (fast, late) == (pytest.approx(7.68 + 2.56), pytest.approx(0.0))


def determinism_s(rates: Rates) -> float:
    return 6 * (64 / rates.prompt_tps + 96 / rates.generation_tps)
