"""Interval estimates: Wilson, Student's t, and strata combined by Satterthwaite's rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

from bench_loop.scoring.constants import CONFIDENCE

TWO_SIDED = (1 + CONFIDENCE) / 2
"""Quantile of a two-sided interval: 0.975."""
Z = NormalDist().inv_cdf(TWO_SIDED)
"""The normal quantile of a two-sided interval: 1.96."""


class Variance(NamedTuple):
    """The variance of an estimate, and the degrees of freedom that it was estimated with."""

    value: float
    df: float

    def scaled(self, factor: float) -> Variance:
        """The variance of `factor` times the estimate."""
        return Variance(self.value * factor * factor, self.df)


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean; exactly the same for any order of the values, which are not empty."""
    return math.fsum(values) / len(values)


def stdev(values: Sequence[float]) -> float | None:
    """Sample standard deviation; None below two values, 0 where only rounding parts them."""
    if len(values) < 2:
        return None
    if math.isclose(min(values), max(values), rel_tol=1e-12):
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def bounded(score: float) -> float:
    """The score inside 0 to 100, whatever rounding noise did to it."""
    return min(100.0, max(0.0, score))


def wilson(x: float, n: float) -> tuple[float, float]:
    """Wilson's score interval of x out of n, as shares (Wilson 1927).

    x is the sum of the task means and may be fractional; n is the number of tasks, never of trials,
    since trials of one task are not independent. Never empty, not even for none or all of n.
    """
    return _score_test_interval(x / n, n, Z)


def strata_interval(strata: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Interval of the mean of the strata's means, as shares: Wilson's, for a stratified sample.

    With the standard error SE of that mean (`stratum_variance`, `combined`), n* = p~ (1 - p~) /
    SE^2 is the number of independent tasks that would be as sure (Korn and Graubard 1998), and
    never fewer than n = S^2 / (sum of 1 / n_s), since a task with several trials tells no less than
    one with a single trial. p~ = (x + 0.5) / (n + 1), x = n times the mean. Wilson's interval of n*
    tasks is taken with Student's t at Satterthwaite's degrees of freedom in place of the normal
    quantile (Franco, Little, Louis and Slud 2019). `strata` has one list of task means a suite.
    """
    share = mean([mean(means) for means in strata])
    variance = combined(stratum_variance(means).scaled(1 / len(strata)) for means in strata)
    n = len(strata) ** 2 / math.fsum(1 / len(means) for means in strata)
    smoothed = (n * share + 0.5) / (n + 1)
    effective = max(n, smoothed * (1 - smoothed) / variance.value)
    return _score_test_interval(share, effective, t_quantile(TWO_SIDED, variance.df))


def _score_test_interval(share: float, n: float, quantile: float) -> tuple[float, float]:
    """All p for which |share - p| <= quantile x sqrt(p (1 - p) / n)."""
    share = min(1.0, max(0.0, share))
    square = quantile * quantile
    centre = share + square / (2 * n)
    reach = quantile * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    shrink = 1 + square / n
    low, high = (centre - reach) / shrink, (centre + reach) / shrink
    return max(0.0, min(low, share)), min(1.0, max(high, share))


def stratum_variance(means: Sequence[float]) -> Variance:
    """Variance of the mean of one suite's task means (shares, 0 to 1).

    s^2 / n of the task means. Where all task means are equal, or there is only one, that would
    claim certainty; then it is p (1 - p) / (n + 1) with p = (x + 0.5) / (n + 1), x the sum of the
    task means.
    """
    n = len(means)
    df = max(1, n - 1)
    spread = stdev(means)
    if spread:
        return Variance(spread * spread / n, df)
    p = (math.fsum(means) + 0.5) / (n + 1)
    return Variance(p * (1 - p) / (n + 1), df)


def combined(parts: Iterable[Variance]) -> Variance:
    """The variance of a sum of independent estimates; degrees of freedom by Satterthwaite (1946).

    df = (sum of v)^2 / sum of (v^2 / df).
    """
    known = [part for part in parts if part.value > 0]
    total = math.fsum(part.value for part in known)
    if not total:
        return Variance(0.0, 1.0)
    # Shares of the total, not the variances themselves: their squares could underflow.
    squares = math.fsum((part.value / total) ** 2 / part.df for part in known)
    return Variance(total, 1 / squares)


def half_width(variance: Variance) -> float:
    """Half the width of the t interval of an estimate with this variance."""
    return t_quantile(TWO_SIDED, variance.df) * math.sqrt(variance.value)


def score_interval(score: float, variance: Variance) -> tuple[float, float]:
    """The t interval of a score, clipped to 0 to 100 and never without the score itself."""
    reach = half_width(variance)
    return bounded(score - reach), bounded(score + reach)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """The quantile of Student's t distribution; `probability` in (0, 1), `df` above 0.

    Newton's method from the normal quantile, which lies below: the distribution function is
    concave there, so that every step comes nearer from the same side.
    """
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    quantile = NormalDist().inv_cdf(probability)
    while True:
        step = (probability - t_cdf(quantile, df)) / _t_density(quantile, df)
        if step <= 1e-14 * quantile:
            return quantile
        quantile += step


def _t_density(t: float, df: float) -> float:
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return math.exp(log_scale - (df + 1) / 2 * math.log1p(t * t / df))


def t_cdf(t: float, df: float) -> float:
    """The distribution function of Student's t, by way of the incomplete beta function."""
    upper = incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2
    return 1 - upper if t > 0 else upper


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b); NIST DLMF 8.17.

    The continued fraction 8.17.22 converges quickly below the mean of the distribution; above it
    the symmetry I_x(a, b) = 1 - I_{1-x}(b, a) leads there.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_front = a * math.log(x) + b * math.log1p(-x) - math.log(a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(log_front - log_beta) / _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)) of DLMF 8.17.22, evaluated forwards by Lentz's method."""
    tiny = 1e-300
    value, numerator, denominator = 1.0, 1.0, 0.0
    for step in range(1, 100_000):
        m = step // 2
        if step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / ((1 + d * denominator) or tiny)
        numerator = (1 + d / numerator) or tiny
        change = numerator * denominator
        value *= change
        if abs(change - 1) < 1e-15:
            break
    return value
