"""The forecast of one run: revised after every trial, and honest about what it does not know."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench_loop.contracts.chat import EngineTimings, StreamFacts, TokenCounts
from bench_loop.engine.forecast import Forecast, TimeLeft
from bench_loop.engine.pace import Work
from bench_loop.engine.repeats import trials_needed
from bench_loop.engine.speed_plans import HEADLINE, PREFILL, Rates
from bench_loop.result.records import Trial
from bench_loop.scoring.load import sustained_id
from bench_loop.scoring.rates import Shape

RATES = Rates(prompt_tps=1000.0, generation_tps=100.0)
TASKS = [Work("reasonmath", f"reasonmath.{number}", 100.0, 256.0) for number in range(10)]


def timed(shape: Shape = HEADLINE, *, prompt_tps: float = 1000.0, tps: float = 100.0) -> Trial:
    """A timed trial of all its tokens at these speeds."""
    prompt_s, generation_s = shape.prompt_tokens / prompt_tps, (shape.output_tokens - 1) / tps
    return trial(
        "speed", shape.task_id, shape.prompt_tokens, shape.output_tokens, prompt_s, generation_s
    )


def answer(work: Work, tokens: int) -> Trial:
    """A task's trial of so many tokens at the speeds of RATES."""
    prompt = int(work.prompt_tokens)
    return trial(work.suite, work.task_id, prompt, tokens, prompt / 1000, (tokens - 1) / 100)


def trial(
    suite: str, task_id: str, prompt: int, output: int, prompt_s: float, generation_s: float
) -> Trial:
    return Trial(
        suite=suite,
        task_id=task_id,
        prompt_hash=f"sha256:{0:064}",
        trial=1,
        seed=1001,
        outcome=None if suite == "speed" else "pass",
        score=None if suite == "speed" else 1.0,
        finish_reason="length",
        turns=1,
        latency_s=prompt_s + generation_s,
        t_first_byte_s=prompt_s,
        t_first_answer_s=prompt_s,
        t_last_s=prompt_s + generation_s,
        tokens=TokenCounts(
            prompt=prompt, cached=0, completion=output, reasoning=0, basis="engine_timings"
        ),
        engine_timings=EngineTimings(
            prompt_tokens=prompt,
            prompt_s=prompt_s,
            generated_tokens=output,
            generation_s=generation_s,
        ),
        stream=StreamFacts(events=output, distinct_arrivals=output),
    )


def headline(*, budget_s: float = 720.0, tasks: int = 10) -> Forecast:
    """The forecast of a run with the plan `headline`."""
    shapes = [HEADLINE, PREFILL, Shape(128, 64), HEADLINE, HEADLINE]
    work = [*map(Work.of, shapes), *TASKS[:tasks]]
    return Forecast(RATES, work, speed_plan="headline", speed_budget_s=budget_s)


def after(forecast: Forecast, trials: Iterator[Trial] | list[Trial]) -> TimeLeft:
    for one in trials:
        forecast.begin(one.suite)
        forecast.finish(one, one.latency_s or 0.0)
    left = forecast.left()
    assert left is not None
    return left


def plan_of(tps: list[float]) -> list[Trial]:
    """All trials of the plan `headline`, its headline's at these speeds."""
    first, *others = [timed(tps=one) for one in tps]
    return [first, timed(PREFILL), timed(Shape(128, 64)), *others]


@pytest.mark.parametrize(("deviation", "trials"), [(0.0, 3), (0.012, 3), (0.013, 4), (0.05, 10)])
def test_the_stopping_rule_needs_more_trials_the_more_they_vary(
    deviation: float, trials: int
) -> None:
    # t(0.975, 2) = 4.303: 3 trials are enough up to 0.03 x sqrt(3) / 4.303 = 0.0121.
    assert trials_needed(deviation) == trials


def test_repeats_are_expected_before_any_trial_is_seen() -> None:
    left = after(headline(), [])
    # A usual spread of 2 % needs 5 trials, drawn towards nothing else: 2 more than the plan's 5.
    assert left.timed_trials == 7


def test_trials_that_agree_need_no_repeat() -> None:
    assert after(headline(), plan_of([100.0, 100.5, 99.8])).timed_trials == 0


def test_trials_that_differ_are_repeated_up_to_ten() -> None:
    left = after(headline(tasks=0), plan_of([100.0, 80.0, 120.0]))
    assert left.timed_trials == 7
    each_s = sum(1.024 + 255 / tps for tps in (100.0, 80.0, 120.0)) / 3
    assert left.expected == pytest.approx(7 * each_s, rel=0.05)


def test_a_first_trial_unlike_the_calibration_foretells_repeats() -> None:
    assert after(headline(), [timed(tps=60.0)]).timed_trials == 4 + 7


def test_repeats_stay_within_the_speed_budget() -> None:
    spent_s = sum(one.latency_s or 0 for one in plan_of([100.0, 80.0, 120.0]))
    left = after(headline(budget_s=spent_s + 6, tasks=0), plan_of([100.0, 80.0, 120.0]))
    assert left.expected == pytest.approx(6)


def test_no_repeat_comes_when_the_stopping_rule_is_content_or_a_task_has_begun() -> None:
    for suite in (None, "reasonmath"):
        forecast = headline(tasks=0)
        after(forecast, plan_of([100.0, 80.0, 120.0]))
        if suite:
            forecast.begin(suite)
        else:
            forecast.end_repeats()
        assert after(forecast, []).expected == 0


def test_answers_as_long_as_their_budget_lengthen_all_that_is_to_come() -> None:
    forecast = Forecast(RATES, TASKS)
    before = after(forecast, []).expected
    left = after(forecast, [answer(work, 256) for work in TASKS[:5]])
    # 0.35 of the budget were expected; five full ones against three trials at that are 0.76.
    share = (5 + 3 * 0.35) / 8
    prompt_s = 0.1 * (1 + 0.15 * (100 - 512) / 2048)
    assert before == pytest.approx(10 * (prompt_s + 0.35 * 2.56))
    assert left.expected == pytest.approx(5 * (prompt_s + share * 2.56), rel=0.02)


def test_other_suites_are_judged_by_those_seen_but_less_surely() -> None:
    other = [Work("loop_schema", work.task_id, 100.0, 256.0) for work in TASKS[5:]]
    same = Forecast(RATES, TASKS)
    mixed = Forecast(RATES, [*TASKS[:5], *other])
    seen = [answer(work, 256) for work in TASKS[:5]]
    own, foreign = after(same, seen), after(mixed, seen)
    assert after(Forecast(RATES, other), []).expected < foreign.expected < own.expected * 1.001
    assert foreign.high / foreign.expected > own.high / own.expected


def test_a_machine_that_has_become_slower_is_followed() -> None:
    forecast = headline()
    before = after(forecast, []).expected
    slow = [timed(prompt_tps=500.0, tps=50.0), timed(PREFILL, prompt_tps=500.0, tps=50.0)]
    tasks_s = after(headline(tasks=10), []).expected - after(headline(tasks=0), []).expected
    left = after(forecast, slow)
    assert left.expected > before
    forecast.end_repeats()
    rest = after(forecast, [timed(one, prompt_tps=500.0, tps=50.0) for one in (HEADLINE, HEADLINE)])
    assert rest.expected - (0.064 + 1.28) * 2 == pytest.approx(2 * tasks_s, rel=0.15)


def test_the_range_narrows_as_trials_agree() -> None:
    def width(forecast: Forecast) -> float:
        left = after(forecast, [])
        return (left.high - left.low) / left.expected

    seen = Forecast(RATES, TASKS)
    after(seen, [answer(work, 90) for work in TASKS[:6]])
    assert width(seen) < width(Forecast(RATES, TASKS[6:]))


def test_probes_count_until_the_first_task_begins() -> None:
    plain, probed = (Forecast(RATES, TASKS, is_probed=probed) for probed in (False, True))
    more = after(probed, []).expected - after(plain, []).expected
    # Six requests of 64 prompt and 96 output tokens.
    assert more == pytest.approx(6 * (0.064 * (1 - 0.15 * 448 / 2048) + 0.96))
    probed.begin("reasonmath")
    assert after(probed, []).expected == after(plain, []).expected


def test_a_sustained_load_counts_down() -> None:
    forecast = Forecast(RATES, [], sustained_s=60.0)
    assert after(forecast, []).expected == 60
    first = timed(Shape(128, 64)).model_copy(update={"task_id": sustained_id(Shape(128, 64))})
    forecast.finish(first, 20.0)
    assert after(forecast, []).expected == 40


def test_without_a_calibration_nothing_is_said_before_three_trials() -> None:
    forecast = Forecast(None, TASKS)
    for number, work in enumerate(TASKS[:3], start=1):
        assert forecast.left() is None, number
        forecast.finish(answer(work, 90), 0.99)
    left = after(forecast, [])
    assert left.low < 7 * 0.99 < left.high


def test_time_to_repeat_leaves_time_for_every_task() -> None:
    forecast = headline()
    with_repeats = after(forecast, plan_of([100.0, 80.0, 120.0]))
    tasks = after(headline(), plan_of([100.0, 100.0, 100.0]))
    assert forecast.has_time_to_repeat(None)
    assert forecast.has_time_to_repeat(with_repeats.high)
    assert not forecast.has_time_to_repeat(tasks.expected + 3)


def test_a_late_trial_is_expected_to_take_half_its_delay_more() -> None:
    left = TimeLeft(80.0, 100.0, 120.0, next_s=10.0)
    assert left.after(4.0).expected == 96
    # 10 s of it are over; it is 20 s late, so 10 s more are expected of it.
    assert left.after(30.0).expected == 100
