"""From trials to every score of a run: the one function that both makes and checks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.result.records import Aggregates, Profile, Speed, SpeedPlan, SuiteResult, Trial
from bench_loop.scoring.aggregates import aggregate
from bench_loop.scoring.speed import measure_speed
from bench_loop.scoring.suites import (
    SuiteKey,
    gather,
    is_warmup,
    speed_suite_result,
    suite_result,
)

__all__ = ["RunScores", "SuiteKey", "score_run"]


@dataclass(frozen=True, slots=True)
class RunScores:
    """Everything of a run result that is computed from its trials."""

    speed: Speed | None
    aggregates: Aggregates
    suites: tuple[SuiteResult, ...]
    """In the order in which the suites were given."""


def score_run(
    trials: Sequence[Trial],
    suites: Sequence[SuiteKey],
    profile: Profile,
    speed_plan: SpeedPlan | None,
    load_s: float | None = None,
    missing_suites: Sequence[str] = (),
) -> RunScores:
    """Score a run: pure, unrounded, and the same for any order of the trials.

    `suites` names every suite that was to be run with all of its tasks; trials of other suites or
    tasks are left out. `speed_plan` is None when the speed suite was not run; `load_s` is the
    seconds that loading the model took, None when not measured. `missing_suites` are suites of the
    profile that could not be run; with any, or under profile `custom`, quality, overall and value
    are None.
    """
    by_suite: dict[str, list[Trial]] = {key.suite: [] for key in suites}
    for trial in trials:
        if trial.suite in by_suite:
            by_suite[trial.suite].append(trial)
    quality = {
        key.suite: gather(key, by_suite[key.suite]) for key in suites if key.dimension == "quality"
    }
    timed = [trial for key in suites if key.dimension == "speed" for trial in by_suite[key.suite]]
    speed = None if speed_plan is None else measure_speed(timed, speed_plan, load_s)
    results = tuple(
        suite_result(quality[key.suite])
        if key.suite in quality
        else speed_suite_result(key, by_suite[key.suite])
        for key in suites
    )
    aggregates = aggregate(
        list(quality.values()),
        speed,
        is_complete=profile != "custom" and not missing_suites,
        is_clean=not any(_met_infrastructure_error(trial) for trial in trials),
    )
    return RunScores(speed, aggregates, results)


def _met_infrastructure_error(trial: Trial) -> bool:
    return trial.outcome == "infrastructure_error" and not is_warmup(trial)
