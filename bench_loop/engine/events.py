"""What a run tells while it goes on. A listener must return at once: it runs between requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench_loop.engine.forecast import TimeLeft
from bench_loop.engine.speed_plans import Rates
from bench_loop.result.records import RunResult, SpeedPlan, Trial


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The server answered and the plan stands. `total` counts trials, speed trials included."""

    run_id: str
    model_id: str
    total: int
    kept: tuple[Trial, ...] = ()
    """Of a run that is resumed: the trials that are done."""


@dataclass(frozen=True, slots=True)
class SuitesLeftOut:
    """Suites of the plan that are not run, why, and what would have them run."""

    suites: tuple[str, ...]
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SpeedPlanned:
    """A speed plan was chosen by the calibration, which changes the total of trials."""

    plan: SpeedPlan
    expected_s: float
    """Of the plan's trials, without repeats."""
    total: int
    rates: Rates | None = None
    """Rough speeds from the calibration, which the forecast starts from."""


@dataclass(frozen=True, slots=True)
class Forecasted:
    """What is left of the run from now on; sent after the speed plan and after every trial."""

    left: TimeLeft


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that goes on outside of any trial, or was found there, as a sentence."""

    sentence: str


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """Trial number `number` of the run begins."""

    number: int
    suite: str
    task_id: str
    is_timed: bool


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has its record. `generation_tps` is its decode speed, or None when not measurable."""

    number: int
    trial: Trial
    generation_tps: float | None


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The result stands and is on disk at `file`."""

    result: RunResult
    file: Path


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """An arm of a matrix has the model now, for all tasks of one suite and one trial."""

    number: int
    count: int
    model_id: str
    harness: str
    suite: str
    trial: int
    left_s: tuple[float, float] | None
    """Seconds that this model's blocks will probably still take, at least and at most."""


Event = (
    RunStarted
    | SuitesLeftOut
    | SpeedPlanned
    | Forecasted
    | Noted
    | TrialStarted
    | TrialFinished
    | RunFinished
    | BlockStarted
)
Listener = Callable[[Event], None]
