"""Two comparable runs, task by task: is one better, and how sure is that?"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import add
from typing import Literal

from bench_loop.result.compare import not_comparable, speed_not_comparable
from bench_loop.result.records import RunResult, Speed, Spread
from bench_loop.scoring.constants import (
    ALPHA,
    MARGIN,
    MAX_MORE_TASKS,
    MAX_TRIALS,
    MIN_DISCORDANT,
    SIGN_FLIP_SEED,
    SIGN_FLIPS,
)
from bench_loop.scoring.intervals import Variance, combined, half_width, mean, stdev
from bench_loop.scoring.speed import relative_error
from bench_loop.scoring.suites import ScoredTask, is_scored, one_by_family

Verdict = Literal[
    "better",
    "worse",
    "no worse",
    "equal",
    "too close to call",
    "not comparable",
    "floor or ceiling",
]
End = Literal["floor", "ceiling"]
"""No trial of any task passed, in neither run; or every one in both."""
SPEED_FIGURES = (
    ("generation tok/s", "generation_tps"),
    ("prompt tok/s", "prompt_tps"),
    ("TTFT", "ttft_s"),
)
"""Headline figures that are compared as ratios, and their fields."""
MOST_LOG_RATIO = 20.0
"""Half-width of a log ratio beyond which nothing at all is known."""
Pair = tuple[ScoredTask, ScoredTask]
"""One task in A and in B."""
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
    """Further tasks that would settle it, or, for a difference inside its error, narrow it to
    +-MARGIN; None: it is settled, or there is too little to estimate that from."""
    more_trials: int | None = None
    """Trials of each task that would settle it without a further one; None: none would."""
    is_inside_error: bool = False
    """The difference is smaller than its standard error: its size is not even roughly known."""
    end: End | None = None

    @property
    def advice(self) -> str | None:
        """What it would take to settle this; None when it is settled."""
        if self.verdict in ("better", "worse", "equal"):
            return None
        if self.end is not None:
            did, other = ("fail", "easier") if self.end == "floor" else ("pass", "harder")
            return f"both {did} every task, so these can't tell them apart; {other} ones might"
        if self.more_tasks is None and not self.discordant_count:
            tasks = f"none of {self.task_count} tasks"
            return f"{tasks} came out differently, so nothing says what would settle it"
        if self.more_tasks is None:
            counts = f"{self.discordant_count} of {self.task_count}"
            return f"only {counts} tasks came out differently, too few to say what would settle it"
        if self.more_tasks > MAX_MORE_TASKS:
            return "no practical number of tasks would settle it"
        tasks = f"about {_two_digits(self.more_tasks):,} more tasks"
        if self.is_inside_error:
            return (
                f"the difference is smaller than its error; {tasks} would narrow it to "
                f"{MARGIN:g} points either way"
            )
        trials = ""
        if self.more_trials is not None:
            trials = f", or about {self.more_trials} trials of each of these"
        return f"{tasks}{trials} would settle it, if the difference stays as it is"


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
    ours, theirs = scored_tasks(a), scored_tasks(b)
    common = sorted(
        task for task in ours.keys() & theirs.keys() if is_same_prompt(ours[task], theirs[task])
    )
    if not reasons:
        reasons = _without_common_tasks(a, {suite for suite, _ in common})
    if reasons:
        return RunComparison(reasons, speed_reasons, None, (), None)
    shares = [
        TaskDifference(*task, ours[task].pass_share, theirs[task].pass_share) for task in common
    ]
    by_suite: dict[str, list[Pair]] = defaultdict(list)
    for task, pair in zip(shares, ((ours[task], theirs[task]) for task in common), strict=True):
        by_suite[task.suite].append(pair)
    return RunComparison(
        reasons=(),
        speed_reasons=speed_reasons,
        quality=_difference_of("quality", by_suite),
        suites=tuple(_difference_of(suite, {suite: pairs}) for suite, pairs in by_suite.items()),
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
    inside = abs(d) < math.sqrt(variance.value)
    more = None
    if word in ("no worse", "too close to call"):
        aim = MARGIN if inside else abs(d)
        more = more_tasks(aim, reach, task_count, discordant)
    return Difference(
        name, d, low, high, p_value, word, task_count, discordant, more, is_inside_error=inside
    )


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
    sums: Iterable[float] = [0.0] * SIGN_FLIPS
    for table, signs in zip(tables, _drawn_signs(len(tables)), strict=True):
        sums = map(add, sums, map(table.__getitem__, signs))
    reached = sum(map(far.__le__, map(abs, sums)))
    return (1 + reached) / (1 + SIGN_FLIPS)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Exact two-sided McNemar test: p = 2 x P(at most the smaller count of n fair coins), n both.

    The counts are `only_a` tasks that passed in A alone and `only_b` in B alone. Printed for runs
    with one trial a task; it never gives the verdict.
    """
    n = only_a + only_b
    tail = sum(math.comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / (1 << n))


def more_tasks(aim: float, half_width: float, task_count: int, discordant: int) -> int:
    """N = n x (half-width / aim)^2 - n: tasks to add until the half-width would be the `aim`.

    The aim is the difference as it is, so that the interval would leave 0 behind. Where that is
    smaller than its standard error, it says nothing of the true one, and the aim is MARGIN. Never
    fewer than n / discordant, among which one more may be expected that differs. Above
    MAX_MORE_TASKS no practical number of tasks would do. Not told while fewer than MIN_DISCORDANT
    tasks differ.
    """
    wanted = task_count * (half_width / aim) ** 2 - task_count
    return math.ceil(max(wanted, task_count / discordant))


def more_trials(variance: float, noise: float, needed: float, trials: int) -> int | None:
    """k = m x noise / (needed - variance + noise): trials of each task that make it `needed`.

    `noise` is the part of the variance of the difference that comes from the chance of single
    trials, with m = `trials` of each task; more of them lessen this part alone. What the tasks
    differ by themselves, only more tasks can lessen. None where no trials would be enough, or more
    than MAX_TRIALS.
    """
    room = needed - max(0.0, variance - noise)
    if noise <= 0 or room <= 0:
        return None
    wanted = math.ceil(trials * noise / room)
    return wanted if wanted <= MAX_TRIALS else None


def trial_noise(share: float, trials: int) -> float:
    """Variance of a task's share of passes by the chance of its trials: p (1 - p) / (m - 1).

    Nil for a single trial, of which that cannot be told.
    """
    return share * (1 - share) / (trials - 1) if trials > 1 else 0.0


def _paired_variance(differences: Sequence[float]) -> Variance:
    """Variance of the mean difference; where all are equal, that of n discordances out of n tasks.

    As for a single suite, no spread is not certainty: x is the sum of the absolute differences. Of
    a single task not even the direction is sure: its variance is the chance of a discordance.
    """
    n = len(differences)
    df = max(1, n - 1)
    spread = stdev(differences)
    if spread:
        return Variance(spread * spread / n, df)
    p = (math.fsum(map(abs, differences)) + 0.5) / (n + 1)
    return Variance(p if n == 1 else p * (1 - p) / (n + 1), df)


def _differences(by_suite: Mapping[str, Sequence[Pair]]) -> dict[str, list[float]]:
    """One for each task; of the fresh instances of one family, their mean."""
    return {
        suite: [
            mean([theirs.pass_share - ours.pass_share for ours, theirs in unit])
            for unit in _units(pairs)
        ]
        for suite, pairs in by_suite.items()
    }


def _units(pairs: Sequence[Pair]) -> tuple[tuple[Pair, ...], ...]:
    return one_by_family(pairs, lambda pair: pair[0])


def _difference_of(name: str, by_suite: Mapping[str, Sequence[Pair]]) -> Difference:
    """With what more trials would do, and whether both runs lie at an end of the scale."""
    found = paired_difference(name, _differences(by_suite))
    tasks = [task for pairs in by_suite.values() for pair in pairs for task in pair]
    shares = {task.pass_share for task in tasks}
    if shares in ({0.0}, {1.0}):
        return replace(found, end="ceiling" if shares == {1.0} else "floor")
    if found.more_tasks is None or found.is_inside_error:
        return found
    count = len(by_suite)
    noise = math.fsum(
        trial_noise(task.pass_share, len(task.trials)) / (len(unit) * len(units) * count) ** 2
        for units in map(_units, by_suite.values())
        for unit in units
        for pair in unit
        for task in pair
    )
    variance = combined(
        _paired_variance(differences).scaled(1 / count)
        for differences in _differences(by_suite).values()
    )
    needed = (found.difference / 100 / half_width(Variance(1.0, variance.df))) ** 2
    trials = min(len(task.trials) for task in tasks)
    return replace(found, more_trials=more_trials(variance.value, noise, needed, trials))


@lru_cache(maxsize=64)
def _drawn_signs(tables: int) -> tuple[bytes, ...]:
    """For each table of eight signs its index in every flip; always the same, so drawn once."""
    draw = random.Random(SIGN_FLIP_SEED)  # noqa: S311 - a test statistic, not a secret
    flips = [draw.randbytes(tables) for _ in range(SIGN_FLIPS)]
    return tuple(bytes(flip[table] for flip in flips) for table in range(tables))


def _signed_sums(values: Sequence[float]) -> list[float]:
    """All 256 sums of up to eight values whose signs are given by the bits of the index."""
    return [
        sum(-value if index >> bit & 1 else value for bit, value in enumerate(values))
        for index in range(256)
    ]


def scored_tasks(run: RunResult) -> dict[tuple[str, str], ScoredTask]:
    """By suite and task id, every task of the quality suites that has a scored trial."""
    quality = {suite.suite for suite in run.suites if suite.dimension == "quality"}
    by_task = defaultdict(list)
    for trial in run.trials:
        if trial.suite in quality and is_scored(trial):
            by_task[trial.suite, trial.task_id].append(trial)
    return {task: ScoredTask(task[1], tuple(trials)) for task, trials in by_task.items()}


def is_same_prompt(ours: ScoredTask, theirs: ScoredTask) -> bool:
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
    """None also where several instances of a family would count as independent tasks."""
    is_single = all(len(a.trials) == len(b.trials) == 1 for a, b in pairs)
    families = [a.family for a, _ in pairs if a.family is not None]
    if not is_single or len(families) > len(set(families)):
        return None
    return mcnemar_p(
        only_a=sum(a.pass_share > b.pass_share for a, b in pairs),
        only_b=sum(b.pass_share > a.pass_share for a, b in pairs),
    )


def _two_digits(number: int) -> int:
    """`number` rounded up to two significant digits: it is an estimate of an estimate."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
