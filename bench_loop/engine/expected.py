"""How long a run would take on this machine, by the speed that its newest result tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_loop.engine.budget import Outset, fit, quality_work
from bench_loop.engine.forecast import Forecast
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.speed_plans import PLANS, Rates, Timing
from bench_loop.result.records import RunHeader, RunResult, SpeedPlan
from bench_loop.result.store import readable, result_files


@dataclass(frozen=True, slots=True)
class LastSpeed:
    """The headline speed of a run on this machine."""

    rates: Rates
    run: RunHeader


def last_speed(folder: Path, machine_id: str) -> LastSpeed | None:
    """That of the newest result in `folder` of this machine's own; None: none tells its speed."""
    runs = readable(result_files(folder))
    found = [speed for run in runs if (speed := _speed_of(run, machine_id))]
    return max(found, key=lambda speed: speed.run.finished_at, default=None)


def _speed_of(run: RunResult, machine_id: str) -> LastSpeed | None:
    if run.imported is not None or run.machine.machine_id != machine_id or run.speed is None:
        return None
    prompt, generation = run.speed.prompt_tps, run.speed.generation_tps
    if prompt is None or generation is None or not (prompt.median and generation.median):
        return None
    return LastSpeed(Rates(prompt.median, generation.median), run)


def expected_s(plan: RunPlan, rates: Rates) -> float:
    """Seconds that a run of `plan` is expected to take, as its own forecast would begin."""
    if plan.speed_suite is not None:
        return fit(Outset(plan, RunOptions(), rates, plan.context_window, _schedule)).left.expected
    left = Forecast(rates, quality_work(plan, plan.context_window)).left()
    assert left is not None, "the speeds are known"
    return left.expected


def expected_of_suites(names: Sequence[str], rates: Rates) -> dict[str, float]:
    """Seconds of each suite, run alone with all its tasks."""
    return {name: expected_s(make_plan(suites=[name]), rates) for name in names}


def expected_of_profiles(names: Sequence[str], rates: Rates) -> dict[str, float]:
    """Seconds of each profile."""
    return {name: expected_s(make_plan(profile=name), rates) for name in names}


def _schedule(plan: SpeedPlan) -> list[Timing]:
    """The shapes of a speed plan; what a server without a clock of its own adds is little."""
    return [Timing(shape, 1, False) for one_round in PLANS[plan] for shape in one_round]
