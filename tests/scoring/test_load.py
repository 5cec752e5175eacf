"""Filled windows, several streams, sustained load: figures from trials, by hand."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import ArrivalGaps
from bench_loop.result.records import RequestRecord, Trial
from bench_loop.scoring.load import (
    concurrency,
    is_speed_id,
    streams_of,
    sustained,
    sustained_id,
    token_gaps,
)
from bench_loop.scoring.rates import Shape
from bench_loop.scoring.speed import measure_speed
from tests.scoring.make_trials import engine_timings, speed_trial


def sent(trial: Trial, at_s: float, task_id: str) -> Trial:
    request = RequestRecord(sent_s=at_s, latency_s=trial.latency_s or 0.0, status=200)
    return trial.model_copy(update={"task_id": task_id, "requests": (request,)})


def stream(number: int, at_s: float = 0.0, **fields: object) -> Trial:
    trial = speed_trial("p512x128", trial=number, tps=25.4, ttft_s=1.0, **fields)  # type: ignore[arg-type]
    return sent(trial, at_s, "c2-p512x128")


def test_streams_add_up_over_the_time_from_the_first_sent_to_the_last_token() -> None:
    # Each takes 1 s and 127 tokens at 25.4 tok/s, that is 5 s; the second begins 2 s later.
    found = concurrency([stream(1), stream(2, 2.0)])
    assert found is not None
    assert found[0].aggregate_tps == pytest.approx(256 / 8.0)
    assert found[0].stream_tps is not None
    assert found[0].stream_tps.median == pytest.approx(25.4)
    assert (found[0].streams, found[0].failed, found[0].queue_wait_s) == (2, 0, None)


def test_a_stream_that_failed_is_counted_and_gives_no_tokens() -> None:
    found = concurrency([stream(1), stream(2, outcome="fail")])
    assert found is not None
    assert found[0].failed == 1
    assert found[0].aggregate_tps == pytest.approx(128 / 6.0)


def test_the_wait_in_the_queue_is_what_the_engine_did_not_spend_on_the_prompt() -> None:
    timings = engine_timings(generated=128, generation_s=5.0, prompt=512, prompt_s=0.4)
    found = concurrency([stream(1, engine=timings)])
    assert found is not None
    assert found[0].queue_wait_s is not None
    assert found[0].queue_wait_s.median == pytest.approx(0.6)


def under_load(speeds: list[float]) -> list[Trial]:
    """Requests one after the other, of 1 s and 100 tokens each."""
    return [
        sent(
            speed_trial("p128x101", trial=number, tps=tps, ttft_s=10 - 100 / tps),
            10.0 * (number - 1),
            sustained_id(Shape(128, 101)),
        )
        for number, tps in enumerate(speeds, start=1)
    ]


def test_the_last_tenth_stands_against_the_first() -> None:
    # 20 requests of 10 s: the first three begin within 20 s, the last three end after 180 s.
    speeds = [40.0, 40.0, 40.0, *[30.0] * 14, 20.0, 20.0, 20.0]
    found = sustained(under_load(speeds))
    assert found is not None
    assert (found.duration_s, found.n) == (pytest.approx(200.0), 20)
    assert (found.first_tps, found.last_tps) == (pytest.approx(40.0), pytest.approx(20.0))
    assert found.ratio == pytest.approx(0.5)


@pytest.mark.parametrize(("last", "is_found"), [(35.9, True), (36.1, False)])
def test_below_nine_tenths_it_is_throttling(last: float, is_found: bool) -> None:
    trials = under_load([40.0] * 10 + [last] * 10)
    assert ("throttling" in measure_speed(trials, "headline").findings) == is_found


def test_a_single_request_is_no_load() -> None:
    assert sustained(under_load([40.0])) is None


def test_trials_of_a_group_are_in_no_headline_figure() -> None:
    speed = measure_speed([stream(1), *under_load([40.0, 40.0])], "headline")
    assert (speed.generation_tps, speed.shapes, speed.curve) == (None, (), None)


def test_percentiles_of_pauses_are_medians_over_the_trials() -> None:
    trials = []
    for number, pause in enumerate((0.01, 0.02, 0.09), start=1):
        trial = speed_trial(trial=number)
        assert trial.stream is not None
        gaps = ArrivalGaps(p50_s=pause, p95_s=2 * pause, p99_s=3 * pause)
        facts = trial.stream.model_copy(update={"gaps": gaps})
        trials.append(trial.model_copy(update={"stream": facts}))
    assert token_gaps(trials) == ArrivalGaps(p50_s=0.02, p95_s=0.04, p99_s=0.06)
    assert token_gaps([speed_trial()]) is None


@pytest.mark.parametrize(
    ("task_id", "streams", "is_known"),
    [
        ("c8-p512x128", 8, True),
        ("s-p128x256", None, True),
        ("p1024x256", None, True),
        ("c1000-p1x1", None, False),
        ("c٣-p1x1", None, False),
        ("", None, False),
    ],
)
def test_task_ids_of_speed_trials(task_id: str, streams: int | None, is_known: bool) -> None:
    assert (streams_of(task_id), is_speed_id(task_id)) == (streams, is_known)
