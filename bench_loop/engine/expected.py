"""How long a run would take on this machine, by the speed that its newest result tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.contracts.provider import Provider
from bench_loop.engine.blocks import Block
from bench_loop.engine.budget import Outset, fit, quality_work
from bench_loop.engine.forecast import Forecast
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import FIRST_SEED, RunOptions, RunPlan, make_plan
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed import SpeedRun
from bench_loop.engine.speed_plans import PLANS, Rates, Timing, wall_limit_s
from bench_loop.result.records import RunHeader, RunResult, SpeedPlan
from bench_loop.result.store import readable, result_files


@dataclass(frozen=True, slots=True)
class LastSpeed:
    """The headline speed of a run on this machine."""

    rates: Rates
    run: RunHeader


def last_speed(folder: Path, machine_id: str, model_id: str | None = None) -> LastSpeed | None:
    """That of the newest result in `folder` of this machine's own, and of the model `model_id`,
    None: of any; None: none tells its speed."""
    runs = readable(result_files(folder))
    found = [
        speed
        for run in runs
        if model_id in (None, run.subject.model_id) and (speed := _speed_of(run, machine_id))
    ]
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


def expected_block_s(plan: RunPlan, block: Block, rates: Rates, harness: HarnessAdapter) -> float:
    """Seconds that a block of a matrix is expected to take in this harness."""
    program = harness if harness.installation is not None else None
    work = [
        one
        for one in quality_work(replace(plan, trials=1), plan.context_window, program)
        if one.suite == block.suite
    ]
    left = Forecast(rates, work[: len(block.task_ids)]).left()
    assert left is not None, "the speeds are known"
    return left.expected


def rates_now(provider: Provider, model_id: str, window: int) -> Rates:
    """How fast the model is now, by one request that is thrown away. Raises ProviderError."""
    settings = TrialSettings(
        model_id=model_id,
        sampling=Sampling(),
        seed=FIRST_SEED,
        max_tokens=0,
        context_window=window,
        wall_limit_s=wall_limit_s(None, 0, 0),
    )
    recorder = Recorder(provider)
    return SpeedRun(
        load_pack("speed"), provider, recorder, settings, lambda limit: limit
    ).calibrate()


def expected_of_suites(names: Sequence[str], rates: Rates) -> dict[str, float]:
    """Seconds of each suite, run alone with all its tasks."""
    return {name: expected_s(make_plan(suites=[name]), rates) for name in names}


def expected_of_profiles(names: Sequence[str], rates: Rates) -> dict[str, float]:
    """Seconds of each profile."""
    return {name: expected_s(make_plan(profile=name), rates) for name in names}


def _schedule(plan: SpeedPlan) -> list[Timing]:
    """The shapes of a speed plan; what a server without a clock of its own adds is little."""
    return [Timing(shape, 1, False) for one_round in PLANS[plan] for shape in one_round]
