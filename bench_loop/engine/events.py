"""What a run tells while it goes on. A listener must return at once: it runs between requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench_loop.result.records import RunResult, Trial


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
    """The calibration request was measured and a speed plan chosen, which changes the total."""

    plan: str
    expected_s: float
    total: int
    seconds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Expected seconds of each trial to come, by suite; empty: nothing is known."""
    probes_s: float = 0.0
    """Expected seconds of what is asked between the speed trials and the quality trials."""


@dataclass(frozen=True, slots=True)
class SpeedExtended:
    """The headline probably needs `trials` more of `seconds` each: it varies, or is too short."""

    trials: int
    seconds: float


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


Event = (
    RunStarted
    | SuitesLeftOut
    | SpeedPlanned
    | SpeedExtended
    | Noted
    | TrialStarted
    | TrialFinished
    | RunFinished
)
Listener = Callable[[Event], None]
