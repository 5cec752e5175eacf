"""What a single trial may say about speed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.contracts.chat import StreamFacts, TokenCounts
from bench_loop.scoring.rates import (
    Overhead,
    Shape,
    client_rate,
    engine_rate,
    generation_rate,
    is_cold,
    prompt_rate,
    ttfa_s,
    ttft_s,
)
from tests.scoring.make_trials import engine_timings, speed_trial

TENTH = Overhead(0.1, 8.0)


def test_a_shape_is_read_from_its_task_id() -> None:
    assert Shape.parse("p4096x64") == Shape(4096, 64)
    assert Shape(1024, 256).task_id == "p1024x256"


@pytest.mark.parametrize("text", ["", "p1024", "1024x256", "p1024x256 ", "p-1x5", "p٣x٣", "px"])
def test_anything_else_is_no_shape(text: str) -> None:
    assert Shape.parse(text) is None


def test_ttft_is_the_first_token_of_any_kind_and_ttfa_that_of_the_answer() -> None:
    trial = speed_trial(ttft_s=2.0).model_copy(update={"t_first_thinking_s": 0.5})
    assert (ttft_s(trial), ttfa_s(trial)) == (0.5, 2.0)


def test_a_stream_without_an_answer_has_no_ttfa() -> None:
    thought = {"t_first_thinking_s": 0.5, "t_first_answer_s": None}
    trial = speed_trial().model_copy(update=thought)
    assert (ttft_s(trial), ttfa_s(trial)) == (0.5, None)


def test_without_streaming_there_is_no_ttft() -> None:
    assert ttft_s(speed_trial().model_copy(update={"stream": None})) is None


def test_a_ttft_of_zero_is_no_measurement() -> None:
    assert ttft_s(speed_trial().model_copy(update={"t_first_answer_s": 0.0})) is None


def test_a_long_answer_in_one_piece_has_no_ttft() -> None:
    assert ttft_s(speed_trial(arrivals=1)) is None


def test_a_short_answer_in_one_piece_has_a_ttft() -> None:
    assert ttft_s(speed_trial("p8x1", ttft_s=0.05)) == 0.05


def test_the_client_counts_tokens_two_to_the_last() -> None:
    # 256 tokens, 255 of them in the 5.1 s after the first.
    rate = client_rate(speed_trial(tps=50.0))
    assert rate is not None
    assert (rate.tps, rate.window_s) == (pytest.approx(50.0), pytest.approx(5.1))
    assert rate.basis == "usage"


def test_tokens_of_the_first_event_are_not_in_the_window() -> None:
    trial = speed_trial(tps=50.0).model_copy(
        update={"stream": StreamFacts(events=64, distinct_arrivals=64, first_event_tokens=4)}
    )
    rate = client_rate(trial)
    assert rate is not None
    assert rate.tps == pytest.approx(252 / 5.1)


def test_the_end_token_is_not_counted_after_a_stop() -> None:
    rate = client_rate(speed_trial(tps=50.0, finish_reason="stop"))
    assert rate is not None
    assert rate.tps == pytest.approx(254 / 5.1)


def test_a_tokenizers_count_has_no_end_token_to_take_off() -> None:
    counts = TokenCounts(prompt=1024, completion=256, basis="tokenizer")
    trial = speed_trial(tps=50.0, finish_reason="stop").model_copy(update={"tokens": counts})
    rate = client_rate(trial)
    assert rate is not None
    assert (rate.tps, rate.basis) == (pytest.approx(50.0), "tokenizer")


def test_the_engines_first_token_is_outside_its_window() -> None:
    # A count over a time, 64 / 1.26, would be 1.6 % too high.
    rate = engine_rate(speed_trial(engine=engine_timings(generated=64, generation_s=1.26)))
    assert rate is not None
    assert rate.tps == pytest.approx(50.0)


def test_one_token_in_a_microsecond_is_no_speed() -> None:
    trial = speed_trial(
        completion=1, engine=engine_timings(generated=1, generation_s=1e-6), arrivals=1
    )
    assert engine_rate(trial) is None
    assert generation_rate(trial) is None


def test_missing_or_empty_engine_timings_are_no_speed() -> None:
    assert engine_rate(speed_trial(engine=None)) is None
    assert engine_rate(speed_trial(engine=engine_timings(generation_s=0.0))) is None


def test_the_engines_clock_is_preferred_to_the_clients() -> None:
    rate = generation_rate(speed_trial(tps=49.0, engine=engine_timings(generation_s=5.1)))
    assert rate is not None
    assert (rate.tps, rate.basis) == (pytest.approx(50.0), "engine_timings")


def test_without_a_usable_engine_time_the_clients_clock_is_taken() -> None:
    rate = generation_rate(speed_trial(tps=49.0, engine=engine_timings(generated=1)))
    assert rate is not None
    assert (rate.tps, rate.basis) == (pytest.approx(49.0), "usage")


def test_sixty_four_tokens_are_needed() -> None:
    assert generation_rate(speed_trial(completion=64)) is not None
    assert generation_rate(speed_trial(completion=63)) is None


def test_sixteen_arrival_times_are_needed() -> None:
    assert generation_rate(speed_trial(arrivals=16)) is not None
    assert generation_rate(speed_trial(arrivals=15)) is None
    assert generation_rate(speed_trial(arrivals=15, engine=engine_timings())) is None


def test_a_tenth_of_a_second_is_needed() -> None:
    # 63 tokens in 0.105 s and in 0.09 s.
    assert generation_rate(speed_trial(completion=64, tps=600.0)) is not None
    assert generation_rate(speed_trial(completion=64, tps=700.0)) is None


def test_a_last_token_before_the_first_is_no_speed() -> None:
    assert generation_rate(speed_trial().model_copy(update={"t_last_s": 1.0})) is None


def test_unknown_counts_are_no_speed() -> None:
    assert generation_rate(speed_trial().model_copy(update={"tokens": TokenCounts()})) is None


def test_prompt_speed_is_the_engines_where_it_has_one() -> None:
    rate = prompt_rate(speed_trial(engine=engine_timings(prompt=1024, prompt_s=2.0)), None)
    assert rate is not None
    assert (rate.tps, rate.basis) == (512.0, "engine_timings")


def test_prompt_speed_of_the_client_takes_the_overhead_off() -> None:
    # 1,024 tokens in 2.1 s, of which 0.1 s are overhead with the time of 24 tokens in it.
    rate = prompt_rate(speed_trial(ttft_s=2.1), Overhead(0.1, 24.0))
    assert rate is not None
    assert (rate.tps, rate.basis) == (pytest.approx(500.0), "usage")


@given(
    st.floats(100.0, 10_000.0),
    st.floats(0.0, 0.05),
    st.sampled_from([512, 1024, 4096]),
    st.integers(1, 64),
)
def test_prompt_speed_of_a_server_of_known_speed_is_that_speed(
    tps: float, fixed_s: float, tokens: int, template: int
) -> None:
    """Any fixed time a request, any template: TTFT is linear in the tokens, and so is exact."""
    little = 8 + template
    known = Overhead(fixed_s + little / tps, little)
    ttft_s = fixed_s + (tokens + template) / tps
    rate = prompt_rate(speed_trial(prompt=tokens + template, ttft_s=ttft_s), known)
    assert rate is None or rate.tps == pytest.approx(tps, rel=1e-9)
    assert rate is not None or ttft_s < 5 * known.seconds


def test_prompt_speed_of_the_client_needs_to_know_the_overhead() -> None:
    assert prompt_rate(speed_trial(), None) is None


def test_ttft_must_be_five_times_the_overhead() -> None:
    assert prompt_rate(speed_trial(ttft_s=0.5), TENTH) is not None
    assert prompt_rate(speed_trial(ttft_s=0.49), TENTH) is None


def test_prompt_speed_needs_512_uncached_tokens() -> None:
    enough = engine_timings(prompt=512)
    assert prompt_rate(speed_trial(engine=enough), None) is not None
    assert prompt_rate(speed_trial(engine=engine_timings(prompt=511)), None) is None
    assert prompt_rate(speed_trial("p512x64", cached=1), TENTH) is None


def test_a_prompt_in_no_time_has_no_speed() -> None:
    assert prompt_rate(speed_trial(engine=engine_timings(prompt_s=1e-6)), None) is None


def test_a_trial_that_loaded_the_model_has_no_prompt_speed_by_ttft() -> None:
    loading = engine_timings(load_s=2.0).model_copy(update={"prompt_tokens": None})
    assert prompt_rate(speed_trial(engine=loading), TENTH) is None


@pytest.mark.parametrize(
    ("prompt", "cached", "expected"),
    [
        (1024, 32, True),
        (1024, 33, False),
        (4096, 81, True),
        (4096, 82, False),
        (1024, None, True),
    ],
)
def test_a_prompt_is_warm_above_32_tokens_and_two_percent(
    prompt: int, cached: int | None, expected: bool
) -> None:
    trial = speed_trial(prompt=prompt, cached=cached)
    assert is_cold(trial) is expected
    assert (prompt_rate(trial, TENTH) is not None) is expected


def test_a_prompt_sent_again_to_a_server_that_hides_its_cache_is_warm() -> None:
    again = {"retries": 1}
    assert is_cold(speed_trial(cached=None))
    assert not is_cold(speed_trial(cached=None).model_copy(update=again))
    assert is_cold(speed_trial(cached=0).model_copy(update=again))
