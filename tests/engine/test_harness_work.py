"""The forecast of a run in a harness: its own prompts, its start, and what it is not given."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench_loop.commands._setup import load_harness
from bench_loop.engine.budget import Outset, fit, quality_work
from bench_loop.engine.forecast import Forecast
from bench_loop.engine.harness_work import NOT_CACHED, OWN_PROMPT_TOKENS, OWN_S
from bench_loop.engine.plan import RunOptions, make_plan
from bench_loop.engine.speed_plans import Rates
from bench_loop.result.records import HarnessTrial, Trial
from tests.engine.test_budget import schedule
from tests.engine.test_forecast import RATES, answer

GOOSE, AIDER = load_harness("goose"), load_harness("aider")
PLAN = make_plan(suites=["reasonmath"])


def in_program(trial: Trial, own_s: float) -> Trial:
    """`trial` in a program that took so long itself."""
    assert trial.latency_s is not None
    wall_s = trial.latency_s + own_s
    times = HarnessTrial(way="question", wall_s=wall_s, model_s=trial.latency_s, harness_s=own_s)
    return trial.model_copy(update={"latency_s": wall_s, "harness": times})


def test_a_program_adds_its_start_and_its_own_prompt_which_the_server_keeps() -> None:
    alone, inside = (list(quality_work(PLAN, 8192, one)) for one in (None, GOOSE))
    more = [b.prompt_tokens - a.prompt_tokens for a, b in zip(alone, inside, strict=True)]
    assert more[0] == pytest.approx(OWN_PROMPT_TOKENS)
    assert more[1:] == pytest.approx([NOT_CACHED * OWN_PROMPT_TOKENS] * (len(more) - 1))
    assert {work.program_s for work in inside} == {OWN_S}
    assert {work.program_s for work in alone} == {0.0}


def test_a_task_that_a_program_is_not_given_takes_no_time() -> None:
    plan = make_plan(suites=["toolcall", "reasonmath"])
    works = list(quality_work(plan, 8192, AIDER))
    assert {(work.suite, work.output_tokens > 0) for work in works} == {
        ("toolcall", False),
        ("reasonmath", True),
    }
    assert {work.program_s for work in works if work.suite == "toolcall"} == {0.0}


def test_the_time_of_a_program_is_not_taken_for_a_slow_model() -> None:
    works = list(quality_work(PLAN, 8192, GOOSE))
    forecast = Forecast(RATES, works)
    for work in works[:8]:
        forecast.begin(work.suite)
        trial = in_program(answer(work, 100), own_s=20.0)
        forecast.finish(trial, trial.latency_s or 0.0)
    left = forecast.left()
    assert left is not None
    rest = [in_program(answer(work, 100), 20.0).latency_s or 0.0 for work in works[8:]]
    assert left.expected == pytest.approx(sum(rest), rel=0.1)
    # A suite that is yet to come starts as long, and its model is as quick.
    other = make_plan(suites=["dataextract"])
    both = Forecast(RATES, [*works[:8], *quality_work(other, 8192, GOOSE)])
    for work in works[:8]:
        both.begin(work.suite)
        trial = in_program(answer(work, 100), own_s=20.0)
        both.finish(trial, trial.latency_s or 0.0)
    found = both.left()
    assert found is not None
    assert found.expected > 19.0 * len(other.quality_trials)
    assert found.expected < 25.0 * len(other.quality_trials)


def test_a_run_in_a_program_is_said_to_take_longer_before_it_begins() -> None:
    plan = make_plan(profile="quick")
    left = [
        fit(Outset(plan, RunOptions(), Rates(1000.0, 100.0), 8192, schedule, one)).left.expected
        for one in (None, GOOSE)
    ]
    assert all(b > a + 100.0 for a, b in pairwise(left))
