"""Two comparable runs, task by task: is one better, and how sure is that?"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench_loop.result.compare import not_comparable, speed_not_comparable
from bench_loop.result.records import RunResult, Speed, Spread
from bench_loop.scoring.constants import (
    ALPHA,
    MARGIN,
    MAX_MORE_TASKS,
    MIN_DISCORDANT,
    SIGN_FLIP_SEED,
    SIGN_FLIPS,
)
from bench_loop.scoring.intervals import Variance, combined, half_width, mean, stdev
from bench_loop.scoring.speed import relative_error
from bench_loop.scoring.suites import ScoredTask, is_scored

Verdict = Literal[
    "better",
    "worse",
    "no worse",
    "equal",
    "too close to call",
    "not comparable",
    "floor or ceiling",
]
SPEED_FIGURES = (
    ("generation tok/s", "generation_tps"),
    ("prompt tok/s", "prompt_tps"),
    ("TTFT", "ttft_s"),
)
"""Headline figures that are compared as ratios, and their fields."""
MOST_LOG_RATIO = 20.0
"""Half-width of a log ratio beyond which nothing at all is known."""
TaskShares = Mapping[str, Sequence[float]]
"""Suite -> one number for each of its tasks."""


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A in points, over one suite or over all of them (`quality`)."""

    name: str
    difference: float
    low: float
    high: float
    p_value: float
    verdict: Verdict
    """Of B against A."""
    task_count: int
    discordant_count: int
    """Tasks with another share of passes in B than in A."""
    more_tasks: int | None
    """Further tasks that would settle it; None: it is settled, or the difference is nil."""

    @property
    def advice(self) -> str | None:
        """What it would take to settle this; None when it is settled."""
        if self.verdict in ("better", "worse", "equal"):
            return None
        if self.more_tasks is None or self.more_tasks > MAX_MORE_TASKS:
            return "no practical difference would show"
        return (
            f"about {_two_digits(self.more_tasks):,} more tasks would settle it, "
            "if the difference stays as it is"
        )


@dataclass(frozen=True, slots=True)
class Ratio:
    """A speed of B by that of A; both ends None where one was measured only once."""

    name: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """A task that did not come out the same: its share of passed trials in A and in B."""

    suite: str
    task_id: str
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What two runs say about each other."""

    reasons: tuple[str, ...]
    """Why their quality is not comparable; then there are no differences."""
    speed_reasons: tuple[str, ...]
    """Why their speed is not comparable."""
    quality: Difference | None
    suites: tuple[Difference, ...]
    mcnemar_p: float | None
    """For runs with one trial a task: shown, and never the ground of a verdict."""
    differing: tuple[TaskDifference, ...] = ()
    """The tasks that did not come out the same, by suite and name."""
    unpaired_count: int = 0
    """Tasks left out: scored in one run only, or asked in other words."""
    speed: tuple[Ratio, ...] = ()
    """Speeds of B by those of A; none where they are not comparable."""

    @property
    def verdict(self) -> Verdict:
        """Of B's quality against A's."""
        return "not comparable" if self.quality is None else self.quality.verdict


def compare_runs(a: RunResult, b: RunResult, *, may_harness_differ: bool = False) -> RunComparison:
    """Compare B with A over the tasks that were scored in both."""
    reasons = not_comparable(a, b, may_harness_differ=may_harness_differ)
    speed_reasons = speed_not_comparable(a, b)
    ours, theirs = _scored_tasks(a), _scored_tasks(b)
    common = sorted(
        task for task in ours.keys() & theirs.keys() if _is_same_prompt(ours[task], theirs[task])
    )
    if not reasons:
        reasons = _without_common_tasks(a, {suite for suite, _ in common})
    if reasons:
        return RunComparison(reasons, speed_reasons, None, (), None)
    shares = [
        TaskDifference(*task, ours[task].pass_share, theirs[task].pass_share) for task in common
    ]
    by_suite: dict[str, list[float]] = defaultdict(list)
    for task in shares:
        by_suite[task.suite].append(task.b - task.a)
    return RunComparison(
        reasons=(),
        speed_reasons=speed_reasons,
        quality=paired_difference("quality", by_suite),
        suites=tuple(
            paired_difference(suite, {suite: differences})
            for suite, differences in by_suite.items()
        ),
        mcnemar_p=_mcnemar_of_single_trials([(ours[task], theirs[task]) for task in common]),
        differing=tuple(task for task in shares if task.a != task.b),
        unpaired_count=len(ours.keys() | theirs.keys()) - len(common),
        speed=() if speed_reasons else tuple(_speed_ratios(a.speed, b.speed)),
    )


def speed_ratio(name: str, a: Spread, b: Spread) -> Ratio:
    """Ratio of two speeds or times = median of B / median of A.

    Its interval is Student's t on the logarithm: SE^2 is the sum of the squared relative standard
    errors of both means, with Satterthwaite's degrees of freedom. Null where one of the two was
    measured only once.
    """
    value = b.median / a.median
    if a.stdev is None or b.stdev is None:
        return Ratio(name, value, None, None)
    errors = combined(Variance(relative_error(each) ** 2, each.n - 1) for each in (a, b))
    reach = min(half_width(errors), MOST_LOG_RATIO)
    return Ratio(name, value, value / math.exp(reach), value * math.exp(reach))


def paired_difference(name: str, by_suite: TaskShares) -> Difference:
    """Difference d = mean over suites of the suite's mean task difference, as a t interval.

    SE^2 = (1 / S^2) x sum over the S suites of the paired variance of the suite's mean; degrees of
    freedom by Satterthwaite; p from `sign_flip_p`.
    """
    count = len(by_suite)
    task_count = sum(len(differences) for differences in by_suite.values())
    d = 100 * mean([mean(differences) for differences in by_suite.values()])
    variance = combined(
        _paired_variance(differences).scaled(100 / count) for differences in by_suite.values()
    )
    reach = half_width(variance)
    discordant = sum(diff != 0 for differences in by_suite.values() for diff in differences)
    low, high = max(-100.0, d - reach), min(100.0, d + reach)
    p_value = sign_flip_p(by_suite)
    word = verdict(d, low, high, p_value, discordant)
    is_settled = word in ("better", "worse", "equal")
    more = None if is_settled else more_tasks(d, reach, task_count)
    return Difference(name, d, low, high, p_value, word, task_count, discordant, more)


def verdict(d: float, low: float, high: float, p_value: float, discordant: int) -> Verdict:
    """Of B against A, in fixed words; the first that fits.

    - `not comparable`: the core settings differ; the reasons are sentences.
    - `floor or ceiling`: fewer than MIN_DISCORDANT tasks differ between the two runs.
    - `better`, `worse`: p < ALPHA.
    - `equal`: the whole interval is inside +-MARGIN points.
    - `no worse`: the whole interval is above -MARGIN points.
    - `too close to call`: none of these.
    """
    if discordant < MIN_DISCORDANT:
        return "floor or ceiling"
    if p_value < ALPHA:
        return "better" if d > 0 else "worse"
    if low > -MARGIN and high < MARGIN:
        return "equal"
    return "no worse" if low > -MARGIN else "too close to call"


def sign_flip_p(by_suite: TaskShares) -> float:
    """p = (1 + flips at least as far from 0 as d) / (1 + SIGN_FLIPS).

    If the runs were equal, each task's difference could as well have the other sign: SIGN_FLIPS
    times, all signs are drawn anew (seed SIGN_FLIP_SEED, so that p is always the same, and the same
    for A against B and B against A).
    """
    d = math.fsum(mean(differences) for differences in by_suite.values())
    weighted = sorted(
        abs(diff) / len(differences)
        for differences in by_suite.values()
        for diff in differences
        if diff != 0
    )
    far = abs(d) * (1 - 1e-9)
    tables = [_signed_sums(weighted[start : start + 8]) for start in range(0, len(weighted), 8)]
    draw = random.Random(SIGN_FLIP_SEED)  # noqa: S311 - a test statistic, not a secret
    reached = 0
    for _ in range(SIGN_FLIPS):
        signs = draw.randbytes(len(tables))
        reached += abs(sum(table[byte] for table, byte in zip(tables, signs, strict=True))) >= far
    return (1 + reached) / (1 + SIGN_FLIPS)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Exact two-sided McNemar test: p = 2 x P(at most the smaller count of n fair coins), n both.

    The counts are `only_a` tasks that passed in A alone and `only_b` in B alone. Printed for runs
    with one trial a task; it never gives the verdict.
    """
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << n))


def more_tasks(d: float, reach: float, task_count: int) -> int | None:
    """N = n x (half-width / d)^2 - n: tasks to add until the interval would leave 0 behind.

    Above MAX_MORE_TASKS no practical difference would show. Null for a difference of nil.
    """
    if abs(d) < 1e-9:
        return None
    return max(1, math.ceil(task_count * (reach / d) ** 2 - task_count))


def _paired_variance(differences: Sequence[float]) -> Variance:
    """Variance of the mean difference; where all are equal, that of n discordances out of n tasks.

    As for a single suite, no spread is not certainty: x is the sum of the absolute differences.
    """
    n = len(differences)
    df = max(1, n - 1)
    spread = stdev(differences)
    if spread:
        return Variance(spread * spread / n, df)
    p = (math.fsum(map(abs, differences)) + 0.5) / (n + 1)
    return Variance(p * (1 - p) / (n + 1), df)


def _signed_sums(values: Sequence[float]) -> list[float]:
    """All 256 sums of up to eight values whose signs are given by the bits of the index."""
    return [
        sum(-value if index >> bit & 1 else value for bit, value in enumerate(values))
        for index in range(256)
    ]


def _scored_tasks(run: RunResult) -> dict[tuple[str, str], ScoredTask]:
    quality = {suite.suite for suite in run.suites if suite.dimension == "quality"}
    by_task = defaultdict(list)
    for trial in run.trials:
        if trial.suite in quality and is_scored(trial):
            by_task[trial.suite, trial.task_id].append(trial)
    return {task: ScoredTask(task[1], tuple(trials)) for task, trials in by_task.items()}


def _is_same_prompt(ours: ScoredTask, theirs: ScoredTask) -> bool:
    """Whether both runs asked the same: one name may hide two prompts in files from elsewhere."""
    return {trial.prompt_hash for trial in ours.trials} == {
        trial.prompt_hash for trial in theirs.trials
    }


def _speed_ratios(a: Speed | None, b: Speed | None) -> Iterator[Ratio]:
    for name, field in SPEED_FIGURES:
        ours, theirs = getattr(a, field, None), getattr(b, field, None)
        if ours is not None and theirs is not None and ours.median > 0 and theirs.median > 0:
            yield speed_ratio(name, ours, theirs)


def _without_common_tasks(run: RunResult, common: Collection[str]) -> tuple[str, ...]:
    """Why the mean over the suites cannot be formed: a suite left out would change its meaning."""
    suites = [suite.suite for suite in run.suites if suite.dimension == "quality"]
    if not suites or not common:
        return ("No task was scored in both.",)
    return tuple(f"No task of {name} was scored in both." for name in suites if name not in common)


def _mcnemar_of_single_trials(pairs: Sequence[tuple[ScoredTask, ScoredTask]]) -> float | None:
    if any(len(a.trials) > 1 or len(b.trials) > 1 for a, b in pairs):
        return None
    return mcnemar_p(
        only_a=sum(a.pass_share > b.pass_share for a, b in pairs),
        only_b=sum(b.pass_share > a.pass_share for a, b in pairs),
    )


def _two_digits(number: int) -> int:
    """`number` rounded up to two significant digits: it is an estimate of an estimate."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
