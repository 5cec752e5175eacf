"""A run with a budget, on a clock that goes on only while the scripted server works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.commands._benchmark import incomplete
from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.engine.events import Event, Forecasted, TrialFinished
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.run import Run
from bench_loop.engine.stopping import OUT_OF_TIME
from bench_loop.errors import SetupError, UsageError
from bench_loop.result.records import RunResult
from tests.engine.doubles import ScriptedProvider
from tests.engine.test_speed_suite import steady

SUITES = ("instructfollow", "loop_schema", "reasonmath", "speed")
"""What of the profile is run: nothing that needs a sandbox."""


def quick() -> RunPlan:
    """The profile `quick` without the suites that take long."""
    plan = make_plan(profile="quick")
    return replace(plan, suites=tuple(one for one in plan.suites if one.pack.name in SUITES))


TASKS = len(quick().quality_trials)
ANSWER_TOKENS = 60

Pace = Callable[[ChatRequest, int], float]
"""Tokens a second for a request, of which so many came before."""


def run(
    folder: Path, budget_s: float | None, pace: Pace, events: list[Event] | None = None
) -> tuple[RunResult, float]:
    """`quick` at this pace; its result and the seconds it took."""
    now = asked = 0.0

    def answer(request: ChatRequest) -> ChatReply:
        nonlocal now, asked
        if not request.force_length:
            request = request.model_copy(
                update={"max_tokens": min(request.max_tokens, ANSWER_TOKENS)}
            )
        reply = steady(request, pace(request, int(asked)))
        if reply.latency_s > request.wall_limit_s:
            reply = reply.model_copy(
                update={"latency_s": request.wall_limit_s, "finish_reason": "limit"}
            )
        now, asked = now + reply.latency_s, asked + 1
        return reply

    setup = prepare(ScriptedProvider(default=answer), "tiny", load_harness("raw"))
    listen = (events if events is not None else []).append
    options = RunOptions(budget_s=budget_s)
    result = Run(quick(), setup, folder, listen, options, clock=lambda: now).go()
    return result, now


def even(request: ChatRequest, asked: int) -> float:
    return 20.0


def uneven(request: ChatRequest, asked: int) -> float:
    """So different from trial to trial that the headline is measured ten times."""
    return 20.0 * (1 + 0.4 * (asked % 2))


def throttled(request: ChatRequest, asked: int) -> float:
    """A tenth of the speed as soon as the speed suite is over."""
    return 20.0 if request.force_length else 2.0


def stalled(request: ChatRequest, asked: int) -> float:
    """Nearly no speed from the fourth task on."""
    return 20.0 if asked < 2 + 5 + 6 + 3 else 0.01


def headlines(result: RunResult) -> int:
    return sum(trial.task_id == "p1024x256" for trial in result.trials)


def tasks(result: RunResult) -> int:
    return sum(trial.suite != "speed" for trial in result.trials)


def test_a_rich_budget_changes_nothing(tmp_path: Path) -> None:
    result, _ = run(tmp_path, 3600, uneven)
    assert (result.status, headlines(result), tasks(result)) == ("complete", 10, TASKS)


def test_repeats_give_way_and_no_task_does(tmp_path: Path) -> None:
    _, least_s = run(tmp_path, None, even)
    result, took_s = run(tmp_path, 1.6 * least_s, uneven)
    assert took_s <= 1.6 * least_s
    assert (result.status, tasks(result)) == ("complete", TASKS)
    assert 3 <= headlines(result) < 10


def test_a_run_that_cannot_fit_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task is left out to fit"):
        run(tmp_path, 60, even)
    assert not list(tmp_path.glob("*.json"))


def test_a_machine_that_becomes_slower_is_stopped_at_its_budget_and_says_so(
    tmp_path: Path,
) -> None:
    budget_s = 400.0
    result, took_s = run(tmp_path, budget_s, throttled)
    assert took_s <= budget_s
    assert result.status == "incomplete"
    assert result.status_reason is not None
    assert result.status_reason.startswith(OUT_OF_TIME)
    assert "reasonmath" in result.status_reason
    assert 0 < tasks(result) < TASKS
    error = incomplete(result, lacks_sandbox=False)
    assert isinstance(error, SetupError)
    assert f"run --resume {result.run_id}" in str(error.remedy)


def test_an_answer_that_the_budget_cut_is_not_held_against_the_model(tmp_path: Path) -> None:
    events: list[Event] = []
    result, took_s = run(tmp_path, 200.0, stalled, events)
    assert took_s == pytest.approx(200.0)
    assert (result.status, tasks(result)) == ("incomplete", 3)
    assert all(trial.finish_reason != "limit" for trial in result.trials)


def test_a_machine_that_stalls_in_the_speed_suite_is_stopped_as_well(tmp_path: Path) -> None:
    result, _ = run(tmp_path, 400.0, lambda request, asked: 20.0 if asked < 4 else 1.0)
    assert (result.status, tasks(result)) == ("incomplete", 0)
    assert result.status_reason is not None
    assert result.status_reason.startswith(OUT_OF_TIME)


def test_what_is_left_is_told_after_every_trial_and_ends_at_nothing(tmp_path: Path) -> None:
    events: list[Event] = []
    run(tmp_path, None, even, events)
    told = [event.left for event in events if isinstance(event, Forecasted)]
    finished = [event for event in events if isinstance(event, TrialFinished)]
    assert len(told) == len(finished) + 1
    assert told[-1].expected == told[-1].high == 0
    assert all(left.low <= left.expected <= left.high for left in told)
