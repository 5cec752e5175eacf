"""Where the variance of a matrix comes from: models, harnesses, tasks, and how they meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench_loop.scoring.constants import MIN_BLOCK_HARNESSES, MIN_BLOCK_MODELS, MIN_BLOCK_TASKS
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.intervals import Variance, bounded, half_width, mean

Source = Literal[
    "model",
    "harness",
    "task",
    "model x harness",
    "model x task",
    "harness x task",
    "rest",
    "trial to trial",
]
"""`task`: between tasks and so between suites. `rest`: what is left between the cells; with single
trials also what differs from trial to trial, which then is no part of its own."""

Outcomes = Sequence[Sequence[Sequence[Sequence[float]]]]
"""`[model][harness][task][trial]`: 1 for a pass, 0 for any other scored outcome."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one source has of the variance."""

    source: Source
    variance: float | None
    """Variance component of a single trial (a pass is 1), 0 where its estimate is negative; None in
    a descriptive table."""
    share: Estimate
    """Percent of the sum of all parts; n = tasks. No interval in a descriptive table."""


@dataclass(frozen=True, slots=True)
class VarianceTable:
    """The parts of the variance of one complete block."""

    is_descriptive: bool
    """The block is too small for variance components: shares are of plain sums of squares, which
    describe these very cells and estimate nothing."""
    parts: tuple[Part, ...]
    """In the order of Source; `trial to trial` only where a cell has several trials. Empty: every
    trial came out the same."""


def variance_table(outcomes: Outcomes, units: Sequence[str] | None = None) -> VarianceTable:
    """Parts of the variance = components of a crossed model of models, harnesses and tasks, by the
    method of moments; shares are percent of their sum.

    A pass is 1, every other scored outcome 0. With mean squares MS of the cells' means, of a
    models, b harnesses and c tasks, of which fresh instances of one family are one:

    - model: (MS(model) - MS(model x harness) - MS(model x task) + MS(rest)) / (b c)
    - model x harness: (MS(model x harness) - MS(rest)) / c
    - harness, task and the other two pairs: likewise
    - trial to trial: variance between the trials of a cell, the mean of all cells
    - rest: MS(rest) - (trial to trial) x (mean of 1 / number of trials of a cell)

    With single trials the rest has what differs from trial to trial in it.

    Negative estimates are 0. The interval is a jackknife over tasks: the share without each task in
    turn, negative estimates as they are, gives its standard error, with Student's t of c - 1
    degrees of freedom, clipped to 0 to 100. So it tells how sure the share is for these models and
    these harnesses, had they been given other tasks of the kind, and nothing of other models. In a
    block of fewer than MIN_BLOCK_MODELS models, MIN_BLOCK_HARNESSES harnesses or MIN_BLOCK_TASKS
    tasks the shares are of plain sums of squares, without intervals: they describe these cells and
    estimate nothing.
    """
    # `units` names for each task what counts as one; None: every task does.
    columns = _columns(outcomes, units)
    if not columns:
        return VarianceTable(is_descriptive=True, parts=())
    sums = _Sums.of(columns)
    is_estimable = (
        len(outcomes) >= MIN_BLOCK_MODELS
        and len(outcomes[0]) >= MIN_BLOCK_HARNESSES
        and len(columns) >= MIN_BLOCK_TASKS
    )
    if not is_estimable:
        return _described(sums)
    return _estimated(sums, columns)


@dataclass(frozen=True, slots=True)
class _Column:
    """One task: the mean of its trials for each model and harness, and how they differ inside."""

    cells: tuple[tuple[float, ...], ...]
    """`[model][harness]`"""
    inside: float
    """Sum of squares of the trials around the means of their cells."""
    inside_df: int
    reciprocals: float
    """Sum over the cells of 1 / (their trials)."""
    cell_squares: float
    model_squares: float
    """Sum of squares of the models' means, over the harnesses."""
    harness_squares: float
    mean: float

    @classmethod
    def of(cls, trials: Sequence[Sequence[Sequence[float]]]) -> _Column:
        """`trials[model][harness]` are all trials of the task."""
        cells = tuple(tuple(mean(cell) for cell in row) for row in trials)
        pairs = [
            (one, centre)
            for row, means in zip(trials, cells, strict=True)
            for cell, centre in zip(row, means, strict=True)
            for one in cell
        ]
        return cls(
            cells=cells,
            inside=math.fsum((one - centre) ** 2 for one, centre in pairs),
            inside_df=sum(len(cell) - 1 for row in trials for cell in row),
            reciprocals=math.fsum(1 / len(cell) for row in trials for cell in row),
            cell_squares=math.fsum(cell * cell for row in cells for cell in row),
            model_squares=math.fsum(mean(row) ** 2 for row in cells),
            harness_squares=math.fsum(mean(row) ** 2 for row in zip(*cells, strict=True)),
            mean=mean([mean(row) for row in cells]),
        )


@dataclass(slots=True)
class _Sums:
    """What the mean squares are made of, added up over tasks; a task can be taken out again."""

    a: int
    b: int
    c: int
    cells: list[list[float]]
    """Sum over tasks of each `[model][harness]`."""
    inside: float
    inside_df: int
    reciprocals: float
    cell_squares: float
    model_squares: float
    harness_squares: float
    task_squares: float

    @classmethod
    def of(cls, columns: Sequence[_Column]) -> _Sums:
        first = columns[0].cells
        return cls(
            a=len(first),
            b=len(first[0]),
            c=len(columns),
            cells=[
                [math.fsum(one.cells[m][h] for one in columns) for h in range(len(first[0]))]
                for m in range(len(first))
            ],
            inside=math.fsum(one.inside for one in columns),
            inside_df=sum(one.inside_df for one in columns),
            reciprocals=math.fsum(one.reciprocals for one in columns),
            cell_squares=math.fsum(one.cell_squares for one in columns),
            model_squares=math.fsum(one.model_squares for one in columns),
            harness_squares=math.fsum(one.harness_squares for one in columns),
            task_squares=math.fsum(one.mean**2 for one in columns),
        )

    def without(self, one: _Column) -> _Sums:
        return _Sums(
            a=self.a,
            b=self.b,
            c=self.c - 1,
            cells=[
                [total - cell for total, cell in zip(totals, row, strict=True)]
                for totals, row in zip(self.cells, one.cells, strict=True)
            ],
            inside=self.inside - one.inside,
            inside_df=self.inside_df - one.inside_df,
            reciprocals=self.reciprocals - one.reciprocals,
            cell_squares=self.cell_squares - one.cell_squares,
            model_squares=self.model_squares - one.model_squares,
            harness_squares=self.harness_squares - one.harness_squares,
            task_squares=self.task_squares - one.mean**2,
        )

    def squares(self) -> dict[Source, float]:
        """Sums of squares of the cells' means; `rest` is that of all three together."""
        a, b, c = self.a, self.b, self.c
        means = [[total / c for total in row] for row in self.cells]
        centre = math.fsum(map(math.fsum, means)) / (a * b)
        all_ = a * b * c * centre * centre
        models = b * c * math.fsum(mean(row) ** 2 for row in means)
        harnesses = a * c * math.fsum(mean(row) ** 2 for row in zip(*means, strict=True))
        tasks = a * b * self.task_squares
        by_arm = c * math.fsum(one * one for row in means for one in row)
        by_model, by_harness = b * self.model_squares, a * self.harness_squares
        found: dict[Source, float] = {
            "model": models - all_,
            "harness": harnesses - all_,
            "task": tasks - all_,
            "model x harness": by_arm - models - harnesses + all_,
            "model x task": by_model - models - tasks + all_,
            "harness x task": by_harness - harnesses - tasks + all_,
            "rest": self.cell_squares - by_arm - by_model - by_harness
            + models + harnesses + tasks - all_,
        }  # fmt: skip
        noise = _NOISE * max(self.cell_squares, 1.0)
        return {source: 0.0 if value < noise else value for source, value in found.items()}

    def components(self) -> dict[Source, float]:
        """Estimates of the variance components, negative ones as they come."""
        a, b, c = self.a, self.b, self.c
        found = self.squares()
        rest = found["rest"] / ((a - 1) * (b - 1) * (c - 1))
        arm = found["model x harness"] / ((a - 1) * (b - 1))
        by_model = found["model x task"] / ((a - 1) * (c - 1))
        by_harness = found["harness x task"] / ((b - 1) * (c - 1))
        parts: dict[Source, float] = {
            "model": (found["model"] / (a - 1) - arm - by_model + rest) / (b * c),
            "harness": (found["harness"] / (b - 1) - arm - by_harness + rest) / (a * c),
            "task": (found["task"] / (c - 1) - by_model - by_harness + rest) / (a * b),
            "model x harness": (arm - rest) / c,
            "model x task": (by_model - rest) / b,
            "harness x task": (by_harness - rest) / a,
            "rest": rest,
        }
        if self.inside_df > 0:
            inside = self.inside / self.inside_df
            parts["rest"] = rest - inside * self.reciprocals / (a * b * c)
            parts["trial to trial"] = inside
        return parts


_NOISE = 1e-12
"""Share of the squares that is only rounding."""


def _columns(outcomes: Outcomes, units: Sequence[str] | None) -> list[_Column]:
    """One for each unit, with the trials of all of its tasks."""
    count = len(outcomes[0][0]) if outcomes and outcomes[0] else 0
    tasks: dict[str, list[int]] = {}
    for task in range(count):
        tasks.setdefault(str(task) if units is None else units[task], []).append(task)
    return [
        _Column.of([[[one for t in own for one in cell[t]] for cell in row] for row in outcomes])
        for own in tasks.values()
    ]


def _described(sums: _Sums) -> VarianceTable:
    """Shares of plain sums of squares, those of the cells' means in the size of single trials."""
    trials = sums.a * sums.b * sums.c / sums.reciprocals
    parts = {source: value * trials for source, value in sums.squares().items()}
    if sums.inside_df > 0:
        parts["trial to trial"] = sums.inside
    total = math.fsum(parts.values())
    if not total:
        return VarianceTable(is_descriptive=True, parts=())
    return VarianceTable(
        is_descriptive=True,
        parts=tuple(
            Part(source, None, Estimate(100 * value / total, None, None, sums.c))
            for source, value in parts.items()
        ),
    )


def _estimated(sums: _Sums, columns: Sequence[_Column]) -> VarianceTable:
    parts = sums.components()
    shares = _shares(parts)
    if not shares:
        return VarianceTable(is_descriptive=False, parts=())
    raw = _raw_shares(parts)
    without = [_raw_shares(sums.without(column).components()) for column in columns]
    return VarianceTable(
        is_descriptive=False,
        parts=tuple(
            Part(
                source,
                max(0.0, parts[source]),
                _jackknifed(share, raw[source], [one.get(source, 0.0) for one in without]),
            )
            for source, share in shares.items()
        ),
    )


def _shares(parts: dict[Source, float]) -> dict[Source, float]:
    """Percent of the sum, negative parts counted as 0; empty where nothing varies."""
    total = math.fsum(max(0.0, part) for part in parts.values())
    return {source: 100 * max(0.0, part) / total for source, part in parts.items()} if total else {}


def _raw_shares(parts: dict[Source, float]) -> dict[Source, float]:
    """The same with negative parts as they are: cut off at 0, they would hide their error."""
    total = math.fsum(parts.values())
    return {source: 100 * part / total for source, part in parts.items()} if total > 0 else {}


def _jackknifed(share: float, raw: float, without: Sequence[float]) -> Estimate:
    """Around the raw share, and never without the one that is told."""
    n = len(without)
    centre = mean(without)
    squares = math.fsum((one - centre) ** 2 for one in without)
    reach = half_width(Variance(squares * (n - 1) / n, n - 1))
    low, high = bounded(raw - reach), bounded(raw + reach)
    return Estimate(share, min(low, share), max(high, share), n)
