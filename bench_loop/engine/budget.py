"""What a run may take: the largest speed plan that fits, and a refusal where its tasks do not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.context import (
    PROBE_SHARE,
    USUAL_CHARACTERS_PER_TOKEN,
    first_prompt_characters,
)
from bench_loop.engine.forecast import Forecast, TimeLeft
from bench_loop.engine.harness_work import Added, added
from bench_loop.engine.pace import Pace, Work
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.profiles import PROFILES
from bench_loop.engine.speed_plans import STREAM, Rates, Timing, curve_shapes
from bench_loop.engine.toolbox import definitions_of
from bench_loop.errors import UsageError
from bench_loop.result.records import SpeedPlan, Trial
from bench_loop.scoring.load import is_sustained, stream_id
from bench_loop.scoring.rates import Shape

Schedule = Callable[[SpeedPlan], Sequence[Timing]]
"""The trials of a speed plan in their order."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The speed plan of a run, and its forecast."""

    speed_plan: SpeedPlan
    speed_s: float
    """Expected seconds of the plan without repeats."""
    speed_budget_s: float
    """What the plan and its repeats may take."""
    forecast: Forecast
    left: TimeLeft


@dataclass(frozen=True, slots=True)
class Outset:
    """What is known when the calibration is done."""

    plan: RunPlan
    options: RunOptions
    rates: Rates
    window: int
    schedule: Schedule
    program: HarnessAdapter | None = None
    """The harness, where it is a program; None: it is none."""


def fit(outset: Outset, elapsed_s: float = 0.0) -> Fit:
    """The largest speed plan that fits the budgets of the run, of which `elapsed_s` are spent.

    A plan above the least one is taken only where everything fits even if the tasks take as long
    as they may. Raises UsageError when there is no room for the least one: tasks are never left
    out, unless the plan is one that may be cut short.
    """
    rest = _forecast_of_rest(outset)
    options, profile = outset.options, outset.plan.profile
    most_s = profile.speed_budget_s
    if options.speed_budget_s is not None:
        most_s = options.speed_budget_s
    speed_plans = (options.speed_plan,) if options.speed_plan else profile.speed_plans
    for speed_plan in speed_plans:
        is_least = speed_plan == speed_plans[-1]
        left_s = most_s
        if options.budget_s is not None:
            rest_s = rest.expected if is_least else rest.high
            left_s = min(left_s, options.budget_s - elapsed_s - rest_s)
        speed_s = plan_s(outset, speed_plan)
        if speed_s <= left_s:
            break
    needed_s = elapsed_s + speed_s + rest.expected
    is_too_long = options.budget_s is not None and needed_s > options.budget_s
    if is_too_long and not outset.plan.is_cut_short:
        raise _does_not_fit(outset, elapsed_s, needed_s)
    found = _forecast(outset, speed_plan, left_s)
    left = found.left()
    assert left is not None
    return Fit(speed_plan, speed_s, left_s, found, left)


def refit(
    outset: Outset, speed_plan: SpeedPlan, speed_budget_s: float, done: Iterable[Trial]
) -> Fit:
    """The same for a run that is resumed: its speed plan stands, and it has `done` trials.

    Of these the forecast knows what their requests took, and nothing of pauses.
    """
    found = _forecast(outset, speed_plan, speed_budget_s)
    _take_in(found, done)
    left = found.left()
    assert left is not None
    return Fit(speed_plan, plan_s(outset, speed_plan), speed_budget_s, found, left)


def unmeasured(
    plan: RunPlan, done: Iterable[Trial], program: HarnessAdapter | None = None
) -> Forecast:
    """The forecast of a run without a calibration: it learns all from its first trials."""
    found = Forecast(None, quality_work(plan, plan.context_window, program))
    _take_in(found, done)
    return found


def quality_work(
    plan: RunPlan, window: int, program: HarnessAdapter | None = None
) -> Iterator[Work]:
    """The judged trials to come; of their prompts a guess, a token for every four characters.

    Nothing will be sent where a prompt is larger than `window`, or the `program` of a harness is
    not given the task.
    """
    is_first = True
    for suite, task, _ in plan.quality_trials:
        extra: Added | None = Added()
        if program is not None:
            extra = added(task, program.capabilities, is_first=is_first)
        is_too_long = first_prompt_characters(task) / USUAL_CHARACTERS_PER_TOKEN > window
        if extra is None or is_too_long:
            yield Work(suite.pack.name, task.id, 0, 0)
            continue
        is_first = False
        prompt = most_prompt_tokens(task) / 2 + extra.prompt_tokens
        budget = plan.answer_budget(task)
        yield Work(suite.pack.name, task.id, prompt, budget, extra.seconds)


def most_prompt_tokens(task: BenchmarkTask) -> int:
    """A generous guess at the prompt tokens of all turns: one for every two characters."""
    shown = sum(len(message.content) for message in task.messages)
    if not task.tools:
        return shown // 2
    shown += len(json.dumps(definitions_of(task))) + sum(map(len, task.files.values()))
    return task.turn_limit * shown // 2


def wanted_curve(
    plan: RunPlan, options: RunOptions, rates: Rates, window: int
) -> tuple[Shape, ...]:
    """The points of the context curve that this run takes."""
    if options.has_context_curve:
        return curve_shapes(window, rates, is_asked=True)
    is_long = plan.profile.name in ("core", "full")
    return curve_shapes(window, rates, is_asked=False) if is_long else ()


def plan_s(outset: Outset, speed_plan: SpeedPlan) -> float:
    """Expected seconds of a speed plan without repeats."""
    pace = Pace(outset.rates)
    return sum(pace.seconds(Work.of(timing.shape)) for timing in outset.schedule(speed_plan))


def _forecast_of_rest(outset: Outset) -> TimeLeft:
    """All but the speed plan."""
    found = _forecast(outset, None, 0.0).left()
    assert found is not None
    return found


def _forecast(outset: Outset, speed_plan: SpeedPlan | None, speed_budget_s: float) -> Forecast:
    """With the trials of `speed_plan` and their repeats; None: with all but these."""
    plan, options = outset.plan, outset.options
    timings = outset.schedule(speed_plan) if speed_plan else ()
    found = Forecast(
        outset.rates,
        [
            *(Work.of(timing.shape) for timing in timings),
            *_beside_the_plan(outset),
            *quality_work(plan, outset.window, outset.program),
        ],
        speed_plan=speed_plan,
        speed_budget_s=speed_budget_s,
        is_probed=plan.profile.is_ranked or options.probes_determinism,
        sustained_s=options.sustained_s or 0.0,
    )
    if options.probes_context and (left := found.left()):
        found.add_before(PROBE_SHARE * left.expected)
    return found


def _take_in(found: Forecast, done: Iterable[Trial]) -> None:
    for trial in done:
        if not is_sustained(trial.task_id):
            found.begin(trial.suite)
            found.finish(trial, trial.latency_s or 0.0)


def _beside_the_plan(outset: Outset) -> Iterator[Work]:
    """Points of the curve, and streams at once as if they came one after another."""
    options = outset.options
    yield from map(Work.of, wanted_curve(outset.plan, options, outset.rates, outset.window))
    for streams in options.concurrency:
        prompt, output = STREAM.prompt_tokens, STREAM.output_tokens
        task_id = stream_id(streams, STREAM)
        yield from [Work("speed", task_id, prompt, output)] * streams


def _does_not_fit(outset: Outset, elapsed_s: float, least_s: float) -> UsageError:
    """Why the run was not begun, and the largest profile with a look at speed that would fit."""
    name, budget_s = outset.plan.profile.name, outset.options.budget_s
    assert budget_s is not None
    others = {
        other: replace(outset, plan=make_plan(profile=other), options=RunOptions())
        for other, rules in PROFILES.items()
        if rules.speed_plans
    }
    fitting = [name for name, one in others.items() if elapsed_s + _least_s(one) <= budget_s]
    what = "These suites" if name == "custom" else f"The profile {name}"
    remedy = (
        f"The profile {fitting[-1]} fits: --profile {fitting[-1]}"
        if fitting
        else f"No profile fits; give at least --budget {math.ceil(least_s)}s, or leave options out."
    )
    return UsageError(
        f"{what} would take about {_words(least_s)} on this machine, more than the budget of "
        f"{_words(budget_s)}; no task is left out to fit.",
        remedy=remedy,
    )


def _least_s(outset: Outset) -> float:
    """Expected seconds of a run with its least speed plan and no repeat."""
    return plan_s(outset, outset.plan.profile.speed_plans[-1]) + _forecast_of_rest(outset).expected


def _words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"
