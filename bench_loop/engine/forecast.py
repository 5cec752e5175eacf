"""How long a run will take, from the calibration and before anything else is measured."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.context import PROBE_SHARE
from bench_loop.engine.determinism import DETERMINISM_REQUESTS, DETERMINISM_TOKENS
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.profiles import PROFILES
from bench_loop.engine.speed_plans import STREAM, Rates, curve_shapes, expected_s, plan_s
from bench_loop.engine.toolbox import definitions_of
from bench_loop.errors import UsageError
from bench_loop.result.records import SpeedPlan
from bench_loop.scoring.rates import Shape

EXPECTED_ANSWER_SHARE = 0.35
"""Share of the answer budget that an answer is expected to take, before any was seen."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected seconds of a run after its calibration."""

    speed_plan: SpeedPlan
    speed_s: float
    extras_s: float
    """What belongs to no plan: curve, streams, sustained load, probes."""
    determinism_s: float
    """Of these, what asking the same things twice takes."""
    speed_budget_s: float
    """What the speed plan and its repeats may take."""
    quality_s: Mapping[str, tuple[float, ...]]
    """Of each quality trial to come, by suite."""

    @property
    def total_s(self) -> float:
        return self.speed_s + self.extras_s + sum(map(sum, self.quality_s.values()))


def forecast(
    plan: RunPlan, options: RunOptions, rates: Rates, window: int, elapsed_s: float = 0.0
) -> Forecast:
    """What the run will take, with the largest speed plan that fits its budgets.

    Raises UsageError when `options.budget_s`, of which `elapsed_s` are spent, has no room for the
    run: tasks of a profile are never left out.
    """
    quality = quality_seconds(plan, rates)
    quality_s = sum(map(sum, quality.values()))
    extras = extras_s(plan, options, rates, window)
    if options.probes_context:
        extras += PROBE_SHARE * (extras + quality_s)
    left_s = plan.profile.speed_budget_s
    if options.speed_budget_s is not None:
        left_s = options.speed_budget_s
    if options.budget_s is not None:
        left_s = min(left_s, options.budget_s - elapsed_s - extras - quality_s)
    for speed_plan in plan.profile.speed_plans:
        speed_s = plan_s(rates, speed_plan)
        if speed_s <= left_s:
            break
    found = Forecast(
        speed_plan, speed_s, extras, determinism_s(plan, options, rates), left_s, quality
    )
    if options.budget_s is not None and elapsed_s + found.total_s > options.budget_s:
        raise _does_not_fit(plan, options.budget_s, elapsed_s, found, rates, window)
    return found


def quality_seconds(plan: RunPlan, rates: Rates) -> dict[str, tuple[float, ...]]:
    """Expected seconds of every quality trial, by suite in the order of running."""
    found: dict[str, list[float]] = {suite.pack.name: [] for suite in plan.quality_suites}
    for suite, task, _ in plan.quality_trials:
        output = EXPECTED_ANSWER_SHARE * plan.answer_budget(task)
        found[suite.pack.name].append(rates.seconds(most_prompt_tokens(task) // 2, output))
    return {name: tuple(seconds) for name, seconds in found.items()}


def extras_s(plan: RunPlan, options: RunOptions, rates: Rates, window: int) -> float:
    """Expected seconds of what belongs to no plan; streams at once as if one after another."""
    streams = sum(options.concurrency)
    shapes: Sequence[Shape] = (*wanted_curve(plan, options, rates, window), *[STREAM] * streams)
    seconds = expected_s(rates, shapes) + (options.sustained_s or 0.0)
    return seconds + determinism_s(plan, options, rates)


def determinism_s(plan: RunPlan, options: RunOptions, rates: Rates) -> float:
    """Expected seconds of the determinism probe; 0 where this run makes none."""
    if not (plan.profile.is_ranked or options.probes_determinism):
        return 0.0
    return DETERMINISM_REQUESTS * rates.seconds(64, DETERMINISM_TOKENS)


def wanted_curve(
    plan: RunPlan, options: RunOptions, rates: Rates, window: int
) -> tuple[Shape, ...]:
    """The points of the context curve that this run takes."""
    if options.has_context_curve:
        return curve_shapes(window, rates, is_asked=True)
    is_long = plan.profile.name in ("core", "full")
    return curve_shapes(window, rates, is_asked=False) if is_long else ()


def most_prompt_tokens(task: BenchmarkTask) -> int:
    """A generous guess at the prompt tokens of all turns: one for every two characters."""
    shown = sum(len(message.content) for message in task.messages)
    if not task.tools:
        return shown // 2
    shown += len(json.dumps(definitions_of(task))) + sum(map(len, task.files.values()))
    return task.turn_limit * shown // 2


def _does_not_fit(
    plan: RunPlan, budget_s: float, elapsed_s: float, found: Forecast, rates: Rates, window: int
) -> UsageError:
    name = plan.profile.name
    fitting = []
    for other in PROFILES:
        shorter = forecast(make_plan(profile=other), RunOptions(speed_budget_s=0), rates, window)
        if elapsed_s + shorter.total_s <= budget_s:
            fitting.append(other)
    least = elapsed_s + found.total_s
    what = "These suites" if name == "custom" else f"The profile {name}"
    remedy = (
        f"The profile {fitting[-1]} fits: --profile {fitting[-1]}"
        if fitting
        else f"No profile fits; give at least --budget {math.ceil(least)}s, or leave options out."
    )
    return UsageError(
        f"{what} would take about {_words(least)} on this machine, more than the budget of "
        f"{_words(budget_s)}; no task of it is left out to fit.",
        remedy=remedy,
    )


def _words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"
