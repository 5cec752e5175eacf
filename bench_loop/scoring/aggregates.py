"""The five aggregates of a run, 0 to 100, each with its interval."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench_loop.result.records import Aggregates, Speed, Spread, Trial
from bench_loop.scoring.constants import (
    FULL_CREDIT_QUALITY,
    GENERATION_FULL_TPS,
    GENERATION_WEIGHT,
    GENERATION_ZERO_TPS,
    PROMPT_FULL_TPS,
    PROMPT_WEIGHT,
    PROMPT_ZERO_TPS,
    QUALITY_WEIGHT,
    RELIABILITY_WEIGHT,
    SPEED_WEIGHT,
    TTFT_FULL_S,
    TTFT_WEIGHT,
    TTFT_ZERO_S,
)
from bench_loop.scoring.intervals import (
    Variance,
    bounded,
    combined,
    mean,
    score_interval,
    strata_interval,
    wilson,
)
from bench_loop.scoring.speed import relative_error
from bench_loop.scoring.suites import ScoredSuite, is_readable, suite_score

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic scale from 0 (at `zero`) to 100 (at `full`), and its weight in the speed."""

    weight: float
    zero: float
    full: float

    def score(self, value: float) -> float:
        """Where `value` lies on the scale, clamped to 0 to 100."""
        if value <= 0:
            return 0.0 if self.zero < self.full else 100.0
        return bounded(100 * math.log(value / self.zero) / math.log(self.full / self.zero))

    @property
    def slope(self) -> float:
        """Points by relative change of the value."""
        return 100 / abs(math.log(self.full / self.zero))


GENERATION = Scale(GENERATION_WEIGHT, GENERATION_ZERO_TPS, GENERATION_FULL_TPS)
PROMPT = Scale(PROMPT_WEIGHT, PROMPT_ZERO_TPS, PROMPT_FULL_TPS)
TTFT = Scale(TTFT_WEIGHT, TTFT_ZERO_S, TTFT_FULL_S)


@dataclass(frozen=True, slots=True)
class SpeedScore:
    """The speed score, the part of generation speed in it, and how sure both are."""

    score: float
    generation: float
    variance: Variance | None
    """Of the score; None: no figure was measured twice."""
    generation_variance: Variance | None


def quality_score(suites: Sequence[ScoredSuite]) -> float | None:
    """Quality = unweighted mean of the suite scores of all suites but speed.

    Null when a suite of the profile was not run, one of its tasks has no scored trial or was not
    applicable, or the profile is `custom`, since a free choice of suites is no common scale.
    """
    scores = [suite_score(suite) for suite in suites]
    if not scores or not all(suite.is_complete for suite in suites):
        return None
    return bounded(mean([score for score in scores if score is not None]))


def reliability_score(suites: Sequence[ScoredSuite]) -> float | None:
    """Reliability = 100 x (scored trials with a readable answer) / (all scored trials).

    Readable: the verifier gave a verdict (pass, partial or fail) on an output from which the
    suite's answer convention could read an answer. Empty, unreadable or off-protocol output,
    truncated, harness_error and faults of the engine count 0.
    """
    trials = _all_trials(suites)
    return bounded(100 * sum(map(is_readable, trials)) / len(trials)) if trials else None


def reliability_interval(suites: Sequence[ScoredSuite]) -> Interval | None:
    """Reliability interval = Wilson on x of n: n = number of tasks, of which fresh instances of one
    family are one; x = n x the share.
    """
    score = reliability_score(suites)
    if score is None:
        return None
    n = sum(len(suite.units) for suite in suites)
    low, high = wilson(score / 100 * n, n)
    return bounded(min(100 * low, score)), bounded(max(100 * high, score))


def reliability_losses(trials: Sequence[Trial]) -> dict[str, float]:
    """What reliability lost to: reason -> share of these scored trials in percent, sorted."""
    lost = Counter(trial.reason or str(trial.outcome) for trial in trials if not is_readable(trial))
    ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    return {reason: 100 * count / len(trials) for reason, count in ordered}


def speed_score(speed: Speed | None) -> SpeedScore | None:
    """Speed = GENERATION_WEIGHT x G + PROMPT_WEIGHT x P + TTFT_WEIGHT x L.

    Each on a logarithmic scale clamped to 0 to 100, from the medians of the headline figures:
    G generation tok/s (GENERATION_ZERO_TPS gives 0, GENERATION_FULL_TPS gives 100), P prompt tok/s
    (PROMPT_ZERO_TPS gives 0, PROMPT_FULL_TPS gives 100), L TTFT (TTFT_ZERO_S s gives 0,
    TTFT_FULL_S s gives 100). Null when one of the three is missing, and under plan `minimum`.
    """
    if speed is None or speed.plan == "minimum":
        return None
    if speed.generation_tps is None or speed.prompt_tps is None or speed.ttft_s is None:
        return None
    figures = (speed.generation_tps, speed.prompt_tps, speed.ttft_s)
    scales = (GENERATION, PROMPT, TTFT)
    points = [scale.score(f.median) for scale, f in zip(scales, figures, strict=True)]
    score = bounded(math.fsum(s.weight * p for s, p in zip(scales, points, strict=True)))
    relative = _relative_variances(figures)
    if relative is None:
        return SpeedScore(score, points[0], None, None)
    variances = [v.scaled(scale.slope) for scale, v in zip(scales, relative, strict=True)]
    variance = combined(v.scaled(s.weight) for s, v in zip(scales, variances, strict=True))
    return SpeedScore(score, points[0], variance, variances[0])


def overall_score(quality: float, speed: float, reliability: float) -> float:
    """Overall = QUALITY_WEIGHT x quality + u x (SPEED_WEIGHT x speed + RELIABILITY_WEIGHT x
    reliability), u = min(1, quality / FULL_CREDIT_QUALITY).

    From FULL_CREDIT_QUALITY points of quality on, speed and reliability count in full; fast, tidy
    nonsense earns nothing. Only for a complete profile without infrastructure errors, else null.
    """
    u = min(1.0, quality / FULL_CREDIT_QUALITY)
    rest = SPEED_WEIGHT * speed + RELIABILITY_WEIGHT * reliability
    return bounded(QUALITY_WEIGHT * quality + u * rest)


def value_score(quality: float, generation: float, reliability: float) -> float:
    """Value = quality x (G / 100) x (reliability / 100). Null where overall is null."""
    return bounded(quality * (generation / 100) * (reliability / 100))


def answers_per_minute(suites: Sequence[ScoredSuite]) -> float | None:
    """Answers per minute = passed trials / minutes of model and tool time of all scored trials.

    Failed trials cost time too; verification and waiting in a queue do not. Null when the time of
    a scored trial is unknown.
    """
    trials = _all_trials(suites)
    times = [trial.latency_s for trial in trials if trial.latency_s is not None]
    total_s = math.fsum(times)
    if len(times) < len(trials) or total_s <= 0:
        return None
    rate = 60 * sum(trial.outcome == "pass" for trial in trials) / total_s
    return rate if math.isfinite(rate) else None


def aggregate(
    suites: Sequence[ScoredSuite], speed: Speed | None, *, is_complete: bool, is_clean: bool
) -> Aggregates:
    """All aggregates of a run with these quality suites.

    `is_complete`: a named profile of which no suite is missing. `is_clean`: no trial of the run met
    an infrastructure error.
    """
    quality = quality_score(suites) if is_complete else None
    reliability = reliability_score(suites)
    rated = speed_score(speed)
    overall = value = _UNKNOWN
    if quality is not None and reliability is not None and rated is not None and is_clean:
        overall = _estimate(
            overall_score, suites, quality, reliability, rated.score, rated.variance
        )
        value = _estimate(
            value_score, suites, quality, reliability, rated.generation, rated.generation_variance
        )
    return Aggregates(
        overall_score=overall.score,
        overall_score_interval=overall.interval,
        quality_score=quality,
        quality_score_interval=None if quality is None else quality_interval(suites, quality),
        speed_score=None if rated is None else rated.score,
        speed_score_interval=None if rated is None else speed_interval(rated),
        reliability_score=reliability,
        reliability_score_interval=reliability_interval(suites),
        value_score=value.score,
        value_score_interval=value.interval,
        answers_per_minute=answers_per_minute(suites),
    )


def quality_interval(suites: Sequence[ScoredSuite], quality: float) -> Interval:
    """Quality interval = Wilson's for a stratified sample: suites are strata of task means."""
    low, high = strata_interval([suite.pass_shares for suite in suites])
    return bounded(min(100 * low, quality)), bounded(max(100 * high, quality))


def speed_interval(rated: SpeedScore) -> Interval | None:
    """Speed interval = t, from the trials' relative standard errors on the logarithmic scales.

    A figure measured only once is given the widest relative deviation of the others. Null when
    none was measured twice.
    """
    return None if rated.variance is None else score_interval(rated.score, rated.variance)


@dataclass(frozen=True, slots=True)
class Part:
    """One ingredient of a formula with its interval."""

    value: float
    low: float
    high: float


Formula = Callable[[float, float, float], float]
"""A score from quality, speed and reliability; it never falls when one of them rises."""


def formula_interval(
    formula: Formula, quality: Part, speed: Part, reliability: Part, correlation: float
) -> Interval:
    """Interval of overall and of value, from the intervals of their ingredients.

    Each arm is sqrt(q^2 + s^2 + r^2 + 2 c q r): q, s and r are how far the score moves when
    quality, speed or reliability alone moves to that end of its interval, and c is the correlation
    of quality and reliability, which come from the same tasks (`task_correlation`). This is the
    method of variance estimates recovery (Zou and Donner 2008); it follows the bend in overall's
    formula, which slopes would not. For value, speed is G. Null where speed has no interval.
    """
    score = formula(quality.value, speed.value, reliability.value)

    def arm(q_end: float, s_end: float, r_end: float) -> float:
        q = formula(q_end, speed.value, reliability.value) - score
        s = formula(quality.value, s_end, reliability.value) - score
        r = formula(quality.value, speed.value, r_end) - score
        return math.sqrt(max(0.0, q * q + s * s + r * r + 2 * correlation * q * r))

    low = score - arm(quality.low, speed.low, reliability.low)
    return bounded(low), bounded(score + arm(quality.high, speed.high, reliability.high))


def task_correlation(suites: Sequence[ScoredSuite]) -> float:
    """Correlation of the estimates of quality and reliability, -1 to 1; 0 where one has no spread.

    From the task means inside the suites, each suite with its weight in both.
    """
    trial_count = sum(len(suite.trials) for suite in suites)
    covariance = passed = readable = 0.0
    for suite in suites:
        n = len(suite.units)
        share, weight = 1 / len(suites), len(suite.trials) / trial_count
        covariance += share * weight * _covariance(suite.pass_shares, suite.readable_shares) / n
        passed += share**2 * _covariance(suite.pass_shares, suite.pass_shares) / n
        readable += weight**2 * _covariance(suite.readable_shares, suite.readable_shares) / n
    if not passed or not readable:
        return 0.0
    return min(1.0, max(-1.0, covariance / math.sqrt(passed * readable)))


@dataclass(frozen=True, slots=True)
class _Estimate:
    score: float | None
    interval: Interval | None


_UNKNOWN = _Estimate(None, None)


def _estimate(
    formula: Formula,
    suites: Sequence[ScoredSuite],
    quality: float,
    reliability: float,
    speed: float,
    speed_variance: Variance | None,
) -> _Estimate:
    """Overall or value; for value, `speed` is the generation part of the speed score."""
    score = formula(quality, speed, reliability)
    readable = reliability_interval(suites)
    if speed_variance is None or readable is None:
        return _Estimate(score, None)
    interval = formula_interval(
        formula,
        Part(quality, *quality_interval(suites, quality)),
        Part(speed, *score_interval(speed, speed_variance)),
        Part(reliability, *readable),
        task_correlation(suites),
    )
    return _Estimate(score, interval)


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    """Sample covariance of pairs; 0 for a single pair."""
    if len(first) < 2:
        return 0.0
    a, b = mean(first), mean(second)
    pairs = zip(first, second, strict=True)
    return math.fsum((x - a) * (y - b) for x, y in pairs) / (len(first) - 1)


def _relative_variances(figures: Sequence[Spread]) -> list[Variance] | None:
    """Squared relative standard errors of the means of these figures.

    A figure measured once is given the widest relative deviation of the others. None when there is
    no other: then nothing is known of the spread.
    """
    repeated = [figure for figure in figures if figure.n > 1]
    if not repeated:
        return None
    deviations = [Variance(relative_error(f) ** 2 * f.n, f.n - 1) for f in repeated]
    widest = max(deviations)
    return [Variance(relative_error(f) ** 2, f.n - 1) if f.n > 1 else widest for f in figures]


def _all_trials(suites: Iterable[ScoredSuite]) -> list[Trial]:
    return [trial for suite in suites for trial in suite.trials]
