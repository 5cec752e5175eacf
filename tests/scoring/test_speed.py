"""Speed of a run: headline figures, spreads, validity and findings."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.contracts.chat import EngineTimings, TokenCounts
from bench_loop.result.records import Spread, Trial
from bench_loop.scoring.rates import Overhead
from bench_loop.scoring.speed import half_width, known_overhead, measure_speed, reach, spread
from tests.scoring.make_trials import engine_timings, speed_trial


def headline(*speeds: float) -> list[Trial]:
    return [speed_trial(tps=tps, trial=number) for number, tps in enumerate(speeds, start=1)]


def overhead(ttft: float = 0.1, count: int = 5) -> list[Trial]:
    return [speed_trial("p8x1", ttft_s=ttft, trial=number + 1) for number in range(count)]


def test_a_spread_has_peak_mean_median_and_sample_deviation() -> None:
    assert spread([2.0, 4.0, 3.0, 7.0], "usage") == Spread(
        peak=7.0, mean=4.0, median=3.5, stdev=(14 / 3) ** 0.5, n=4, basis="usage"
    )


def test_a_single_measurement_has_no_deviation() -> None:
    assert spread([2.0]) == Spread(peak=2.0, mean=2.0, median=2.0, stdev=None, n=1)


def test_half_width_is_students() -> None:
    # 48, 50, 52: s = 2, t(0.975, 2) = 4.302653, h = 4.302653 x 2 / (sqrt(3) x 50).
    assert half_width(spread([48.0, 50.0, 52.0])) == pytest.approx(0.0993655, abs=5e-7)


def test_reach_is_the_half_width_in_the_unit_of_the_values() -> None:
    # t(0.975, 2) = 4.30265, s = 2, n = 3: 4.30265 x 2 / sqrt(3).
    assert reach(spread([48.0, 50.0, 52.0])) == pytest.approx(4.96827, abs=5e-5)
    assert reach(spread([48.0])) is None
    assert reach(None) is None


def test_half_width_needs_two_trials() -> None:
    assert half_width(spread([50.0])) is None
    assert half_width(None) is None


def test_generation_speed_is_the_median_of_the_headline_shape() -> None:
    other = [speed_trial("p1024x768", tps=10.0), speed_trial("p4096x64", tps=10.0)]
    speed = measure_speed([*headline(51.0, 69.5, 70.0), *other], "five")
    assert speed.generation_tps is not None
    assert speed.generation_tps.median == pytest.approx(69.5)
    assert (speed.generation_tps.n, speed.generation_tps.basis) == (3, "usage")


def test_machines_too_fast_for_256_tokens_are_rated_on_2048() -> None:
    trials = [speed_trial("p1024x2048", tps=4000.0, trial=number) for number in (1, 2)]
    speed = measure_speed(trials, "headline")
    assert speed.generation_tps is not None
    assert speed.generation_tps.median == pytest.approx(4000.0)


def test_prompt_speed_comes_from_the_4k_prompt_and_ttft_from_the_1k_prompt() -> None:
    trials = [
        *headline(50.0),
        speed_trial("p4096x64", ttft_s=4.188),
        speed_trial("p128x64", ttft_s=0.3),
        *overhead(0.1),
    ]
    speed = measure_speed(trials, "headline")
    assert speed.prompt_tps is not None
    assert speed.ttft_s is not None
    assert speed.prompt_tps.median == pytest.approx(1000.0)
    assert speed.ttft_s.median == 2.0


def test_the_overhead_needs_five_short_prompts() -> None:
    assert known_overhead(overhead(0.1)) == Overhead(0.1, 8)
    assert known_overhead(overhead(0.1, count=4)) is None


def test_the_tokens_of_the_overhead_are_what_the_server_read_anew() -> None:
    # A chat template of 30 tokens, of which the cache knew 20.
    counts = TokenCounts(prompt=38, cached=20, completion=1, basis="usage")
    trials = [trial.model_copy(update={"tokens": counts}) for trial in overhead(0.1)]
    assert known_overhead(trials) == Overhead(0.1, 18)


def test_an_overhead_without_counts_has_the_tokens_that_it_aims_at() -> None:
    trials = [trial.model_copy(update={"tokens": TokenCounts()}) for trial in overhead(0.1)]
    assert known_overhead(trials) == Overhead(0.1, 8)


def test_under_plan_minimum_everything_comes_from_its_one_shape() -> None:
    trials = [
        speed_trial(
            "p1024x64",
            trial=number,
            engine=engine_timings(generated=64, generation_s=1.26, prompt=1024, prompt_s=2.0),
        )
        for number in (1, 2, 3)
    ]
    speed = measure_speed(trials, "minimum")
    assert speed.generation_tps is not None
    assert speed.prompt_tps is not None
    assert speed.ttft_s is not None
    assert speed.ttfa_s is not None
    assert speed.generation_tps.median == pytest.approx(50.0)
    assert speed.prompt_tps.median == 512.0
    assert (speed.ttft_s.median, speed.ttfa_s.median) == (2.0, 2.0)
    assert speed.findings == ()


def test_warm_ups_and_failed_trials_are_left_out() -> None:
    spoiled = [
        speed_trial(tps=900.0, trial=0, is_warmup=True),
        speed_trial(tps=900.0, trial=2, outcome="infrastructure_error"),
    ]
    speed = measure_speed([*headline(50.0), *spoiled], "headline")
    assert speed.generation_tps is not None
    assert (speed.generation_tps.n, speed.generation_tps.peak) == (1, pytest.approx(50.0))


def test_a_broken_stream_is_dropped_and_told() -> None:
    broken = speed_trial(tps=900.0, trial=2, finish_reason="error")
    speed = measure_speed([*headline(50.0), broken], "headline")
    assert speed.generation_tps is not None
    assert speed.generation_tps.n == 1
    assert "broken_stream" in speed.findings


def test_a_million_tokens_a_second_is_too_short_to_rate() -> None:
    absurd = EngineTimings(generated_tokens=1, generation_s=1e-6)
    trial = speed_trial(completion=1, arrivals=1, engine=absurd)
    speed = measure_speed([trial], "headline")
    assert speed.generation_tps is None
    assert "too_short_to_rate" in speed.findings


def test_a_dropped_trial_is_told() -> None:
    speed = measure_speed([*headline(50.0, 50.0), speed_trial(completion=5, trial=3)], "headline")
    assert speed.generation_tps is not None
    assert speed.generation_tps.n == 2
    assert "too_short_to_rate" in speed.findings


def test_all_windows_together_must_last_a_second() -> None:
    # 255 tokens at 800 tok/s last 0.31875 s: three are 0.96 s, four are 1.28 s.
    assert measure_speed(headline(*[800.0] * 3), "headline").generation_tps is None
    assert measure_speed(headline(*[800.0] * 4), "headline").generation_tps is not None


def test_without_trials_there_are_no_figures_but_a_finding() -> None:
    speed = measure_speed([], "headline")
    assert (speed.generation_tps, speed.prompt_tps, speed.ttft_s) == (None, None, None)
    assert speed.findings == ("no_trials",)


def test_warm_prompts_are_dropped_and_told() -> None:
    warm = speed_trial("p4096x64", ttft_s=0.05, cached=4095)
    speed = measure_speed([*headline(50.0), *overhead(0.01), warm], "headline")
    assert speed.prompt_tps is None
    assert "warm" in speed.findings


def test_a_server_that_hides_its_cache_must_agree_with_itself() -> None:
    # The second prompt was remembered: 759 tokens in 32 ms look like 23,719 tok/s.
    cold = engine_timings(prompt=759, prompt_s=4.85)
    remembered = engine_timings(prompt=759, prompt_s=0.032)
    pair = [
        speed_trial("p4096x64", trial=1, cached=None, engine=cold),
        speed_trial("p4096x64", trial=2, cached=None, engine=remembered),
    ]
    speed = measure_speed(pair, "five")
    assert speed.prompt_tps is None
    assert "warm" in speed.findings


def test_a_server_that_hides_its_cache_may_vary_by_a_quarter() -> None:
    pair = [
        speed_trial("p4096x64", trial=number, cached=None, engine=engine_timings(prompt_s=seconds))
        for number, seconds in ((1, 2.0), (2, 2.4))
    ]
    assert measure_speed(pair, "five").prompt_tps is not None


def test_one_prompt_cannot_show_that_a_hidden_cache_was_cold() -> None:
    trial = speed_trial("p4096x64", cached=None, engine=engine_timings())
    speed = measure_speed([*headline(50.0), trial], "headline")
    assert speed.prompt_tps is not None
    assert "cache_hidden" in speed.findings


def test_a_prompt_too_quick_for_its_overhead_is_told() -> None:
    trial = speed_trial("p4096x64", ttft_s=0.4)
    speed = measure_speed([*headline(50.0), trial, *overhead(0.1)], "headline")
    assert speed.prompt_tps is None
    assert "too_close_to_overhead" in speed.findings


def test_a_prompt_speed_that_cannot_be_told_has_its_reason() -> None:
    blind = measure_speed([speed_trial("p4096x64")], "headline")
    short = measure_speed([speed_trial("p4096x64", engine=engine_timings(prompt=99))], "headline")
    assert (blind.prompt_tps, blind.findings) == (None, ("overhead_unknown",))
    assert (short.prompt_tps, short.findings) == (None, ("too_short_to_rate",))


def test_loading_the_model_is_not_part_of_ttft() -> None:
    loading = speed_trial(ttft_s=9.0, trial=1, engine=engine_timings(load_s=7.0))
    speed = measure_speed([loading, speed_trial(trial=2)], "headline", load_s=7.0)
    assert speed.ttft_s is not None
    assert (speed.ttft_s.median, speed.ttft_s.n) == (2.0, 1)
    assert "loaded_in_trial" in speed.findings
    assert speed.load_s == Spread(peak=7.0, mean=7.0, median=7.0, stdev=None, n=1)


def test_a_gap_between_the_clocks_above_three_percent_is_a_finding() -> None:
    def findings(client_tps: float) -> tuple[str, ...]:
        trial = speed_trial(tps=client_tps, engine=engine_timings(generation_s=5.1))
        return measure_speed([trial], "headline").findings

    assert "engine_client_gap" not in findings(49.0)
    assert "engine_client_gap" in findings(48.0)


def test_estimated_tokens_are_a_finding() -> None:
    trial = speed_trial()
    counts = trial.tokens.model_copy(update={"basis": "estimated"})
    speed = measure_speed([trial.model_copy(update={"tokens": counts})], "headline")
    assert speed.generation_tps is not None
    assert speed.generation_tps.basis == "estimated"
    assert "estimated_tokens" in speed.findings


def test_a_server_that_counts_no_tokens_is_not_called_too_fast() -> None:
    counts = TokenCounts(prompt=None, completion=None)
    silent = [trial.model_copy(update={"tokens": counts}) for trial in headline(50.0, 50.0)]
    speed = measure_speed(silent, "headline")
    assert speed.generation_tps is None
    assert speed.findings == ("tokens_unknown",)


def test_above_two_thousand_tokens_a_second_the_long_trials_give_the_headline() -> None:
    short = headline(3000.0, 3000.0, 3000.0)
    long = [speed_trial("p1024x2048", tps=2900.0, trial=number) for number in (1, 2, 3)]
    speed = measure_speed([*short, *long], "headline")
    assert speed.generation_tps is not None
    assert (round(speed.generation_tps.median), speed.generation_tps.n) == (2900, 3)
    assert speed.ttft_s is not None
    assert speed.ttft_s.n == 6
    assert "too_short_to_rate" not in speed.findings


def test_a_spread_names_its_least_trusted_basis() -> None:
    trials = [speed_trial(trial=1, engine=engine_timings()), speed_trial(trial=2)]
    speed = measure_speed(trials, "headline")
    assert speed.generation_tps is not None
    assert speed.generation_tps.basis == "usage"


def test_five_trials_that_only_fall_are_drifting() -> None:
    assert "drifting" in measure_speed(headline(54, 53, 52, 51, 50), "nine").findings
    assert "drifting" not in measure_speed(headline(54, 53, 52, 51), "nine").findings
    assert "drifting" not in measure_speed(headline(54, 53, 52, 50, 51), "nine").findings


def test_trials_far_apart_are_a_finding() -> None:
    # h is 9.9 % for 48, 50, 52 and 10.4 % for 47.9, 50, 52.1.
    assert "wide_spread" not in measure_speed(headline(48.0, 50.0, 52.0), "headline").findings
    assert "wide_spread" in measure_speed(headline(47.9, 50.0, 52.1), "headline").findings


def test_every_shape_has_its_own_figures() -> None:
    trials = [*headline(50.0), speed_trial("p128x64", tps=60.0, ttft_s=0.3)]
    small, large = measure_speed(trials, "headline").shapes
    assert (small.prompt_tokens, small.output_tokens) == (128, 64)
    assert (large.prompt_tokens, large.output_tokens) == (1024, 256)
    assert small.generation_tps is not None
    assert small.generation_tps.median == pytest.approx(60.0)
    assert small.latency_s is not None
    assert small.latency_s.median == pytest.approx(0.3 + 63 / 60)


def test_trials_of_no_shape_are_left_out() -> None:
    odd = speed_trial().model_copy(update={"task_id": "warm"})
    assert measure_speed([odd], "headline").shapes == ()


@given(
    st.lists(st.floats(0.5, 5000.0), min_size=1, max_size=8),
    st.floats(1e-3, 100.0),
    st.randoms(use_true_random=False),
)
def test_the_order_of_speed_trials_changes_nothing(
    speeds: list[float], ttft: float, shuffler: random.Random
) -> None:
    trials = [
        *headline(*speeds),
        *overhead(0.01),
        *(
            speed_trial("p4096x64", ttft_s=ttft * number, trial=number)
            for number in range(1, len(speeds) + 1)
        ),
    ]
    before = measure_speed(trials, "nine")
    shuffler.shuffle(trials)
    assert measure_speed(trials, "nine") == before
