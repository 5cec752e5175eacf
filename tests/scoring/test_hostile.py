"""Numbers that no honest run holds, but a file can: scoring stays finite and never raises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_loop.contracts.chat import EngineTimings, StreamFacts, TokenCounts
from bench_loop.result.records import RequestRecord, SpeedPlan, Trial
from bench_loop.scoring.matrix import matrix_of
from bench_loop.scoring.recompute import score_run
from tests.scoring.make_matrix import arm_run, call
from tests.scoring.make_trials import HASH, speed_key, suite_key

seconds = st.none() | st.sampled_from([0.0, 5e-324, 1e-9, 0.1, 2.0, 1e9]) | st.floats(0, 1e9)
counts = st.none() | st.sampled_from([0, 1, 63, 64, 4096, 2**53 - 1])
whole = st.sampled_from([0, 1, 16, 64, 2**53 - 1])
SHAPES = ("p1024x256", "p4096x64", "p1024x64", "p8x1")

timings = st.none() | st.builds(
    EngineTimings,
    prompt_tokens=counts,
    prompt_s=seconds,
    generated_tokens=counts,
    generation_s=seconds,
    load_s=seconds,
)
bases = st.sampled_from([None, "engine_timings", "usage", "tokenizer", "estimated"])
speed_trials = st.builds(
    Trial,
    suite=st.just("speed"),
    task_id=st.sampled_from(SHAPES),
    prompt_hash=st.just(HASH),
    trial=st.integers(0, 10),
    outcome=st.none(),
    latency_s=seconds,
    t_first_thinking_s=seconds,
    t_first_answer_s=seconds,
    t_last_s=seconds,
    tokens=st.builds(
        TokenCounts, prompt=counts, cached=counts, completion=counts, reasoning=counts, basis=bases
    ),
    engine_timings=timings,
    stream=st.none()
    | st.builds(StreamFacts, events=whole, distinct_arrivals=whole, first_event_tokens=whole),
    finish_reason=st.sampled_from([None, "stop", "length", "error"]),
)
task_trials = st.builds(
    Trial,
    suite=st.just("a"),
    task_id=st.sampled_from(["a.1", "a.2"]),
    prompt_hash=st.just(HASH),
    trial=st.integers(0, 10),
    outcome=st.sampled_from([None, "pass", "partial", "fail", "truncated", "not_applicable"]),
    score=st.none() | st.floats(0, 1),
    answer=st.sampled_from([None, "", "42"]),
    latency_s=seconds,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(speed_trials, max_size=8),
    st.lists(task_trials, max_size=6),
    st.sampled_from(["nine", "headline", "minimum"]),
)
def test_any_numbers_give_finite_scores_in_any_order(
    speed: list[Trial], tasks: list[Trial], plan: SpeedPlan
) -> None:
    keys = [speed_key(*SHAPES), suite_key("a", task_ids=["a.1", "a.2"])]
    trials = [*speed, *tasks]
    # The records refuse NaN, infinity and anything out of bounds.
    scores = score_run(trials, keys, "core", plan)
    assert score_run(trials[::-1], keys, "core", plan) == scores


calls = st.builds(
    call,
    arguments=st.sampled_from(["", "{}", "[[["]),
    is_well_formed=st.sampled_from([None, True, False]),
    is_offered=st.sampled_from([None, True, False]),
    is_useful=st.sampled_from([None, True, False]),
)
requests = st.builds(
    RequestRecord,
    sent_s=st.sampled_from([0.0, 1e9]),
    latency_s=st.just(0.0),
    finish_reason=st.sampled_from([None, "stop"]),
    tokens=st.builds(TokenCounts, prompt=counts),
    tools_offered=counts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    refused=st.sampled_from([None, "wall"]),
)
arm_trials = st.lists(
    st.builds(
        Trial,
        suite=st.sampled_from(["a", "b"]),
        task_id=st.sampled_from(["1", "2"]),
        prompt_hash=st.sampled_from([HASH, "sha256:" + "1" * 64]),
        trial=st.integers(0, 3),
        family=st.sampled_from([None, "one"]),
        outcome=st.sampled_from(
            [None, "pass", "partial", "fail", "truncated", "not_applicable", "infrastructure_error"]
        ),
        latency_s=seconds,
        is_cold=st.sampled_from([None, True, False]),
        requests=st.none() | st.lists(requests, max_size=3).map(tuple),
    ),
    max_size=8,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(arm_trials, arm_trials)
def test_any_trials_make_a_finite_matrix(raw: list[Trial], harness: list[Trial]) -> None:
    runs = [
        arm_run(trials, name, model=model)
        for model in ("one", "two")
        for name, trials in (("raw", raw), ("aider", harness))
    ]
    matrix = matrix_of(runs)
    for figure in _figures(matrix):
        assert math.isfinite(figure)
    for row in matrix.costs:
        for share in (row.malformed, row.useless, row.completion, row.pass_cubed):
            assert share is None or 0 <= share.value <= 100


def _figures(record: object) -> Iterator[float]:
    if isinstance(record, float):
        yield record
    elif is_dataclass(record):
        for field in fields(record):
            yield from _figures(getattr(record, field.name))
    elif isinstance(record, dict):
        for value in record.values():
            yield from _figures(value)
    elif isinstance(record, list | tuple):
        for value in record:
            yield from _figures(value)
