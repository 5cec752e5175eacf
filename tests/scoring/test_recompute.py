"""Whole runs: from trials to aggregates, worked by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import Aggregates, Profile, Trial
from bench_loop.scoring.recompute import RunScores, SuiteKey, score_run
from tests.scoring.make_trials import (
    engine_timings,
    speed_key,
    speed_trial,
    suite_key,
    suite_trials,
    task_trial,
)


def speed_trials(scale: float = 1.0) -> list[Trial]:
    """31.62 tok/s generation and 1,000 tok/s prompt at `scale` 1, TTFT 1.0954 s."""
    tps, ttft = math.sqrt(1000) * scale, math.sqrt(60 * 0.02)
    return [
        *(speed_trial(tps=tps, ttft_s=ttft, trial=number) for number in (1, 2, 3)),
        speed_trial("p4096x64", tps=tps, engine=engine_timings(prompt=4000, prompt_s=4.0)),
        speed_trial("p128x64", tps=tps),
    ]


def quality_trials(passes: int, tasks: int = 10, suites: Sequence[str] = ("a", "b")) -> list[Trial]:
    """In each suite the first `passes` of its tasks pass and the others fail."""
    outcomes: list[Outcome] = ["pass"] * passes + ["fail"] * (tasks - passes)
    return [trial for suite in suites for trial in suite_trials(suite, outcomes)]


def keys_of(trials: Sequence[Trial]) -> list[SuiteKey]:
    names = sorted({trial.suite for trial in trials} - {"speed"})
    return [speed_key(), *(suite_key(name, trials) for name in names)]


def scores_of(
    quality: Sequence[Trial],
    speed: Sequence[Trial] | None = None,
    *,
    profile: Profile = "core",
    missing: Sequence[str] = (),
) -> RunScores:
    trials = [*(speed_trials() if speed is None else speed), *quality]
    return score_run(trials, keys_of(trials), profile, "headline", missing_suites=missing)


def aggregates_of(
    quality: Sequence[Trial], speed: Sequence[Trial] | None = None, *, missing: Sequence[str] = ()
) -> Aggregates:
    return scores_of(quality, speed, missing=missing).aggregates


def test_quality_is_the_unweighted_mean_of_the_suites() -> None:
    trials = [*quality_trials(10, suites=["a"]), *suite_trials("b", ["pass", "fail"])]
    assert aggregates_of(trials).quality_score == 75.0


def test_speed_is_scored_on_logarithmic_scales() -> None:
    # Half-way on the scales of generation and TTFT; 1,000 of 10 to 100,000 is half-way too.
    assert aggregates_of(quality_trials(5)).speed_score == pytest.approx(50.0)


def test_the_ends_of_the_scales_are_clamped() -> None:
    fast = [
        *(speed_trial("p1024x2048", tps=2000.0, ttft_s=0.01, trial=n) for n in (1, 2)),
        speed_trial("p4096x64", tps=1.0, engine=engine_timings(prompt=4096, prompt_s=0.02)),
    ]
    slow = [
        *(speed_trial(tps=0.5, ttft_s=90.0, trial=n) for n in (1, 2)),
        speed_trial("p4096x64", tps=0.5, engine=engine_timings(prompt=4096, prompt_s=1000.0)),
    ]
    assert aggregates_of(quality_trials(5), speed=fast).speed_score == 100.0
    assert aggregates_of(quality_trials(5), speed=slow).speed_score == 0.0


def test_reliability_is_the_share_of_readable_outputs() -> None:
    trials = [
        task_trial("a", "t1", "pass"),
        task_trial("a", "t2", "fail"),
        task_trial("a", "t3", "fail", answer=None, reason="empty"),
        task_trial("a", "t4", "truncated"),
        task_trial("a", "t5", "harness_error"),
    ]
    assert aggregates_of(trials).reliability_score == 40.0


def test_overall_is_the_specifications_formula_from_a_fifth_of_the_tasks() -> None:
    # 0.55 x 50 + 0.20 x 50 + 0.25 x 100
    assert aggregates_of(quality_trials(5)).overall_score == pytest.approx(62.5)
    # 0.55 x 20 + 10 + 25: just enough for full credit.
    assert aggregates_of(quality_trials(2)).overall_score == pytest.approx(46.0)


def test_below_a_fifth_speed_and_reliability_earn_in_proportion() -> None:
    # 0.55 x 10 + 0.5 x (10 + 25)
    assert aggregates_of(quality_trials(1)).overall_score == pytest.approx(23.0)


def test_fast_tidy_nonsense_earns_nothing() -> None:
    aggregates = aggregates_of(quality_trials(0))
    assert aggregates.reliability_score == 100.0
    assert (aggregates.overall_score, aggregates.value_score) == (0.0, 0.0)


def test_value_multiplies_quality_generation_speed_and_reliability() -> None:
    # 50 x 0.5 x 1.0
    assert aggregates_of(quality_trials(5)).value_score == pytest.approx(25.0)


def test_answers_per_minute_counts_the_time_of_failures_too() -> None:
    trials = [task_trial("a", "t1", latency_s=10.0), task_trial("a", "t2", "fail", latency_s=20.0)]
    assert aggregates_of(trials).answers_per_minute == 2.0


def test_answers_per_minute_is_unknown_where_a_time_is() -> None:
    trials = [task_trial("a", "t1"), task_trial("a", "t2", "fail", latency_s=None)]
    assert aggregates_of(trials).answers_per_minute is None


def test_a_custom_profile_has_suites_reliability_and_rate_but_no_quality() -> None:
    scores = scores_of(quality_trials(5), profile="custom")
    got = scores.aggregates
    assert (got.quality_score, got.overall_score, got.value_score) == (None, None, None)
    assert got.reliability_score == 100.0
    assert got.answers_per_minute == 30.0
    assert [suite.score for suite in scores.suites] == [None, 50.0, 50.0]


def test_a_missing_suite_leaves_quality_unknown() -> None:
    got = aggregates_of(quality_trials(5), missing=["coding"])
    assert (got.quality_score, got.overall_score, got.value_score) == (None, None, None)
    assert got.speed_score is not None


def test_a_task_without_a_scored_trial_leaves_quality_unknown() -> None:
    trials = quality_trials(5)
    keys = keys_of(trials)
    got = score_run(trials[1:], keys, "core", None).aggregates
    assert (got.quality_score, got.overall_score) == (None, None)


def test_a_task_that_was_not_applicable_leaves_quality_unknown() -> None:
    trials = [*quality_trials(5), task_trial("a", "t00", "not_applicable", trial=2)]
    assert aggregates_of(trials).quality_score is None


def test_an_infrastructure_error_leaves_overall_unknown_and_lowers_nothing() -> None:
    trials = [*quality_trials(5), task_trial("a", "t00", "infrastructure_error", trial=2)]
    got = aggregates_of(trials)
    assert (got.quality_score, got.reliability_score) == (50.0, 100.0)
    assert (got.overall_score, got.value_score) == (None, None)


def test_an_infrastructure_error_in_the_speed_suite_leaves_overall_unknown() -> None:
    failed = speed_trial(trial=4, outcome="infrastructure_error")
    got = aggregates_of(quality_trials(5), speed=[*speed_trials(), failed])
    assert (got.quality_score, got.overall_score) == (50.0, None)


def test_without_the_speed_suite_there_is_no_speed_and_no_overall() -> None:
    trials = quality_trials(5)
    scores = score_run(trials, [suite_key("a", trials), suite_key("b", trials)], "core", None)
    assert scores.speed is None
    assert (scores.aggregates.speed_score, scores.aggregates.overall_score) == (None, None)
    assert scores.aggregates.quality_score == 50.0


def test_a_missing_headline_figure_leaves_speed_unknown() -> None:
    no_prompt = [trial for trial in speed_trials() if trial.task_id != "p4096x64"]
    assert aggregates_of(quality_trials(5), speed=no_prompt).speed_score is None


def test_plan_minimum_gives_figures_but_no_speed_score() -> None:
    engine = engine_timings(generated=64, generation_s=1.26)
    timed = [speed_trial("p1024x64", trial=number, engine=engine) for number in (1, 2, 3)]
    trials = [*timed, *quality_trials(5)]
    keys = [speed_key("p1024x64"), suite_key("a", trials), suite_key("b", trials)]
    scores = score_run(trials, keys, "smoke", "minimum")
    assert scores.speed is not None
    assert scores.speed.generation_tps is not None
    assert scores.speed.prompt_tps is not None
    assert scores.speed.ttft_s is not None
    got = scores.aggregates
    assert (got.speed_score, got.overall_score, got.value_score) == (None, None, None)
    assert got.quality_score == 50.0


def test_the_speed_suite_counts_its_shapes_and_has_no_score() -> None:
    failed = speed_trial(trial=4, outcome="infrastructure_error")
    suite = scores_of(quality_trials(5), speed=[*speed_trials(), failed]).suites[0]
    assert (suite.suite, suite.dimension, suite.task_count) == ("speed", "speed", 3)
    assert (suite.score, suite.score_interval, suite.error_count) == (None, None, 1)


def test_trials_of_suites_that_were_not_planned_are_left_out() -> None:
    trials = quality_trials(5)
    stray = suite_trials("stray", ["pass"] * 50)
    keys = [suite_key("a", trials), suite_key("b", trials)]
    assert score_run([*trials, *stray], keys, "core", None) == score_run(trials, keys, "core", None)


def test_the_quality_interval_is_stratified() -> None:
    # Each suite: means 5 of 10, s^2 = 2.5 / 9, v = 0.0277778. SE^2 = 2 v / 4 = 0.0138889, as sure
    # as 0.25 / SE^2 = 18 tasks; but there are 20. df = (2 v)^2 / (2 v^2 / 9) = 18, t = 2.100922.
    # At one half Wilson's reach is t / (2 sqrt(20 + t^2)) = 0.212599.
    low_high = aggregates_of(quality_trials(5)).quality_score_interval
    assert low_high == (pytest.approx(28.740, abs=5e-4), pytest.approx(71.260, abs=5e-4))


def test_all_wrong_and_all_right_are_not_certain() -> None:
    # Wilson's upper end of 0 of 20 is t^2 / (20 + t^2), t = 2.100922: 0.180794.
    none = aggregates_of(quality_trials(0)).quality_score_interval
    every = aggregates_of(quality_trials(10)).quality_score_interval
    assert none == (0.0, pytest.approx(18.079, abs=5e-4))
    assert every == (pytest.approx(81.921, abs=5e-4), 100.0)


def test_overall_takes_the_interval_of_quality_through_its_formula() -> None:
    # Quality is 50 -+ 21.2599, 0.55 of which is 11.6929; reliability is 20 of 20, by Wilson from
    # 83.8875 up, a quarter of which is 4.0281; speed is exact. Down: sqrt(11.6929^2 + 4.0281^2).
    got = aggregates_of(quality_trials(5))
    assert got.overall_score_interval == (
        pytest.approx(62.5 - 12.3673, abs=2e-3),
        pytest.approx(62.5 + 11.6929, abs=2e-3),
    )


def test_the_speed_interval_comes_from_the_spread_of_the_trials() -> None:
    # Generation 48, 50, 52: relative deviation 0.04; TTFT without any; the prompt, measured once,
    # is given 0.04. Slopes 100 / ln 1000 = 14.4765 and 100 / ln 10000 = 10.8574.
    # v = (0.7 x 14.4765 x 0.04)^2 / 3 + (0.15 x 10.8574 x 0.04)^2 = 0.054766 + 0.004244;
    # df = 0.059010^2 / (0.054766^2 / 2 + 0.004244^2 / 2) = 2.30808.
    timed = [
        *(speed_trial(tps=tps, trial=n) for n, tps in enumerate((48.0, 50.0, 52.0), start=1)),
        speed_trial("p4096x64", engine=engine_timings(prompt=4000, prompt_s=4.0)),
    ]
    got = aggregates_of(quality_trials(5), speed=timed)
    assert got.speed_score is not None
    assert got.speed_score_interval is not None
    low, high = got.speed_score_interval
    assert high - got.speed_score == pytest.approx(got.speed_score - low)
    # t(0.975, 2.308) = 3.79: between 4.303 at 2 and 3.182 at 3.
    assert 3.7 * math.sqrt(0.059010) < high - got.speed_score < 3.9 * math.sqrt(0.059010)


outcomes = st.sampled_from(
    ["pass", "partial", "fail", "truncated", "harness_error", "infrastructure_error"]
)
runs = st.lists(st.lists(outcomes, min_size=1, max_size=8), min_size=1, max_size=4)


def trials_of(suites: Sequence[Sequence[Outcome]]) -> list[Trial]:
    return [
        trial
        for number, suite in enumerate(suites)
        for trial in suite_trials(f"suite{number}", list(suite))
    ]


@settings(max_examples=50)
@given(runs, st.floats(0.01, 100.0), st.randoms(use_true_random=False))
def test_the_order_of_the_trials_changes_no_score(
    suites: list[list[Outcome]], scale: float, shuffler: random.Random
) -> None:
    trials = [*speed_trials(scale), *trials_of(suites)]
    keys = keys_of(trials)
    before = score_run(trials, keys, "core", "headline", 1.5)
    shuffler.shuffle(trials)
    assert score_run(trials, keys, "core", "headline", 1.5) == before


@settings(max_examples=50)
@given(runs, st.floats(0.01, 100.0))
def test_every_aggregate_is_inside_its_interval(suites: list[list[Outcome]], scale: float) -> None:
    got = aggregates_of(trials_of(suites), speed=speed_trials(scale))
    for name in ("overall", "quality", "speed", "reliability", "value"):
        score, interval = getattr(got, f"{name}_score"), getattr(got, f"{name}_score_interval")
        assert (score is None) == (interval is None)
        if score is not None:
            assert 0 <= interval[0] <= score <= interval[1] <= 100


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["pass", "fail"]), min_size=2, max_size=20),
    st.integers(0, 19),
)
def test_one_more_pass_never_lowers_an_aggregate(tasks: list[Outcome], index: int) -> None:
    better = list(tasks)
    better[index % len(tasks)] = "pass"
    before, after = aggregates_of(trials_of([tasks])), aggregates_of(trials_of([better]))
    for name in ("overall_score", "quality_score", "reliability_score", "value_score"):
        assert getattr(after, name) >= getattr(before, name) - 1e-9


@settings(max_examples=50)
@given(st.floats(0.01, 100.0), st.floats(1.0, 10.0))
def test_more_speed_never_lowers_an_aggregate(scale: float, gain: float) -> None:
    before = aggregates_of(quality_trials(5), speed=speed_trials(scale))
    after = aggregates_of(quality_trials(5), speed=speed_trials(scale * gain))
    if before.speed_score is not None and after.speed_score is not None:
        assert after.speed_score >= before.speed_score - 1e-9


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["partial", "fail", "truncated", "harness_error"]), min_size=1))
def test_who_passes_nothing_gets_nothing(tasks: list[Outcome]) -> None:
    got = aggregates_of(trials_of([tasks]))
    assert (got.quality_score, got.overall_score, got.value_score) == (0.0, 0.0, 0.0)


def test_nineteen_of_twenty_quality_intervals_hold_the_truth() -> None:
    draw = random.Random(11)
    chances = {"a": [0.2] * 6 + [0.9] * 6, "b": [0.5] * 12, "c": [0.1] * 4 + [0.8] * 8}
    truth = 100 * sum(sum(tasks) / len(tasks) for tasks in chances.values()) / len(chances)
    held, repeats = 0, 200
    for _ in range(repeats):
        trials = [
            trial
            for suite, tasks in chances.items()
            for trial in suite_trials(
                suite, ["pass" if draw.random() < chance else "fail" for chance in tasks]
            )
        ]
        keys = [suite_key(suite, trials) for suite in chances]
        interval = score_run(trials, keys, "core", None).aggregates.quality_score_interval
        assert interval is not None
        held += interval[0] <= truth <= interval[1]
    assert held / repeats >= 0.93


def test_overall_has_more_to_lose_than_to_win_just_above_a_fifth() -> None:
    """12 of 40 tasks pass and all answers are readable, at 50 speed without any spread.

    t(0.975, 39) is 2.02269; by it Wilson's interval of quality is 17.7737 to 45.9379. Overall is
    51.5 and falls by 10.6205 to the lower end, with u = 0.88869; upwards it gains 0.55 x 15.9379 =
    8.7659. Reliability, 40 of 40, is by Wilson from 91.2378 up: a quarter of 8.7622 is 2.1906.
    """
    overall = aggregates_of(quality_trials(12, tasks=40, suites=["a"])).overall_score_interval
    assert overall == pytest.approx((40.6560, 60.2659), abs=1e-3)
