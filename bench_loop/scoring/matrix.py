"""Models x harnesses x suites: what every cell scored, what each harness changes against raw.

Rows are models, columns are harnesses. Any runs make a matrix: the arms of one, or others that are
comparable. What is compared is always the same model in raw and in a harness, on the same tasks.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Literal

from bench_loop.result.compare import is_thinking_on, settings_beside_harness
from bench_loop.result.pinned import RAW
from bench_loop.result.records import RunHeader, RunResult
from bench_loop.scoring.against_raw import AgainstRaw, against_raw
from bench_loop.scoring.blocks import largest_block
from bench_loop.scoring.cells import Cell, CellState, Refusal, ScoredRun, cell_of
from bench_loop.scoring.estimates import Estimate, median_estimate
from bench_loop.scoring.harness_costs import Added, ArmFigures, HarnessCosts, arm_figures
from bench_loop.scoring.suites import ScoredTask
from bench_loop.scoring.variance import VarianceTable, variance_table

__all__ = [
    "AgainstRaw",
    "Cell",
    "CellState",
    "Configuration",
    "CostRow",
    "Matrix",
    "MatrixHarness",
    "MatrixModel",
    "MatrixVariance",
    "Recovery",
    "Refusal",
    "Task",
    "matrix_of",
]

Configuration = Literal["standard", "custom"]
"""`standard`: the harness as BenchLoop pins and configures it. `custom`: a person's own."""


@dataclass(frozen=True, slots=True)
class MatrixModel:
    """A row."""

    model_id: str
    """As its first run names it."""
    family: str | None
    quantization: str | None
    weights_digest: str | None
    """None: no run of it tells one; then the rows are told apart by `model_id`."""
    thinking: bool
    """Whether the model was told to think."""


@dataclass(frozen=True, slots=True)
class MatrixHarness:
    """A column."""

    name: str
    version: str | None
    config_hash: str | None
    """None for raw."""
    configuration: Configuration | None
    """As the caller tells it; None: the caller does not."""

    @property
    def is_raw(self) -> bool:
        return self.name == RAW


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a harness did with the faults that were put in. From outside."""

    by_fault: Mapping[str, bool | None]
    """Fault -> whether it recovered; None: the fault found no place in it."""

    @property
    def recovered(self) -> int:
        return sum(found is True for found in self.by_fault.values())

    @property
    def tried(self) -> int:
        """Faults that found a place."""
        return sum(found is not None for found in self.by_fault.values())


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a harness costs: medians over the models that were compared with raw in it.

    Each Estimate: value = median, n = models; no interval below six models. None: no model tells
    it. The row of raw has no differences and nothing added.
    """

    harness: MatrixHarness
    model_count: int
    """Models with an arm in this harness."""
    quality: Estimate | None
    """Paired difference, points of 100."""
    wall_s: Estimate | None
    """Seconds added a task; warm trials of tasks that both pass."""
    wall_ratio: Estimate | None
    wall_judged_s: Estimate | None
    """The same on all tasks with verdicts in both."""
    wall_judged_ratio: Estimate | None
    cold_s: Estimate | None
    """Seconds added a task; cold trials of tasks with verdicts in both."""
    first_prompt_tokens: Estimate | None
    """Tokens of the first prompt."""
    first_prompt_added: Estimate | None
    """Tokens added to raw's first prompt."""
    first_prompt_ratio: Estimate | None
    prompt_tokens: Estimate | None
    """Prompt tokens of a whole task."""
    prompt_added: Estimate | None
    prompt_ratio: Estimate | None
    requests: Estimate | None
    """Requests a task."""
    malformed: Estimate | None
    """Percent of tool calls."""
    useless: Estimate | None
    completion: Estimate | None
    """Percent of trials with a verdict."""
    pass_cubed: Estimate | None
    reliability: Estimate | None
    recovery: Recovery | None
    """None: not measured."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the block."""

    suite: str
    pack_hash: str
    task_id: str
    prompt_hash: str


@dataclass(frozen=True, slots=True)
class MatrixVariance:
    """Where the variance comes from, on the largest complete block, which is named."""

    models: tuple[MatrixModel, ...]
    harnesses: tuple[MatrixHarness, ...]
    tasks: tuple[Task, ...]
    trial_count: int
    """Scored trials in it."""
    other_settings: tuple[str, ...]
    """Run ids that are not in it, since their settings are not those of the most."""
    table: VarianceTable


@dataclass(frozen=True, slots=True)
class Matrix:
    """The whole matrix. Models, harnesses and suites are in the order in which the runs name them,
    but raw is the first harness."""

    models: tuple[MatrixModel, ...]
    harnesses: tuple[MatrixHarness, ...]
    suites: tuple[str, ...]
    cells: Mapping[tuple[MatrixModel, MatrixHarness, str], Cell]
    """Every model x harness x suite."""
    arms: Mapping[tuple[MatrixModel, MatrixHarness], ArmFigures]
    """Only what was run."""
    against_raw: Mapping[tuple[MatrixModel, MatrixHarness], AgainstRaw]
    """Only where both arms were run; none for raw itself."""
    costs: tuple[CostRow, ...]
    """One for each harness."""
    variance: MatrixVariance | None
    """None: no block of two models or harnesses and two tasks is complete."""
    left_out: tuple[str, ...]
    """Run ids that are in no cell: imported from other tools, or without quality suites."""


def matrix_of(
    runs: Sequence[RunResult],
    *,
    configuration_of: Callable[[RunHeader], Configuration | None] | None = None,
    refusals: Sequence[Refusal] = (),
    recoveries: Mapping[tuple[str, str | None], Recovery] | None = None,
) -> Matrix:
    """The matrix of `runs`: pure, and the same for any order of trials inside a run.

    `recoveries` are by name and version of the harness. Of several runs for one cell, a complete
    one goes before others, then the latest.
    """
    usable = [
        ScoredRun.of(run)
        for run in runs
        if run.imported is None and any(one.dimension == "quality" for one in run.suites)
    ]
    grid = _Grid.of(usable, configuration_of or _untold, refusals)
    suites = tuple(dict.fromkeys(suite for run in usable for suite in run.suites))
    chosen = {
        (*arm, suite): run
        for arm in grid.runs
        for suite in suites
        if (run := grid.run_of(arm, suite)) is not None
    }
    arms = {arm: arm_figures(own[0].result) for arm, own in grid.runs.items()}
    against = {arm: pair for arm in grid.runs if (pair := grid.pair_of(arm)) is not None}
    recovered = recoveries or {}
    return Matrix(
        models=grid.models,
        harnesses=grid.harnesses,
        suites=suites,
        cells={
            (*arm, suite): cell_of(suite, chosen.get((*arm, suite)), grid.refusal_of(*arm))
            for arm in product(grid.models, grid.harnesses)
            for suite in suites
        },
        arms=arms,
        against_raw=against,
        costs=tuple(
            _cost_row(one, arms, against, recovered.get((one.name, one.version)))
            for one in grid.harnesses
        ),
        variance=_variance(grid, chosen),
        left_out=tuple(run.run_id for run in runs if all(run is not one.result for one in usable)),
    )


Arm = tuple[MatrixModel, MatrixHarness]
Chosen = Mapping[tuple[MatrixModel, MatrixHarness, str], ScoredRun]
"""The run of each cell that has one."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Rows, columns, and the runs of each pair of them, the best one first."""

    models: tuple[MatrixModel, ...]
    harnesses: tuple[MatrixHarness, ...]
    runs: Mapping[Arm, Sequence[ScoredRun]]
    refusals: Sequence[Refusal]

    @classmethod
    def of(
        cls,
        runs: Sequence[ScoredRun],
        configuration_of: Callable[[RunHeader], Configuration | None],
        refusals: Sequence[Refusal],
    ) -> _Grid:
        digests = _known_digests(runs)
        models: dict[tuple[str, bool], MatrixModel] = {}
        by_arm: dict[Arm, list[ScoredRun]] = defaultdict(list)
        harnesses: dict[MatrixHarness, None] = {}
        for run in runs:
            subject = run.result.subject
            digest = subject.weights_digest or digests.get(subject.model_id)
            key = (digest or subject.model_id, is_thinking_on(run.result))
            model = models.setdefault(key, _model(run.result, digest))
            harness = MatrixHarness(
                name=subject.harness,
                version=subject.harness_version,
                config_hash=subject.harness_config_hash,
                configuration=configuration_of(run.result),
            )
            harnesses.setdefault(harness)
            by_arm[model, harness].append(run)
        for refusal in refusals:
            if all(harness.name != refusal.harness for harness in harnesses):
                harnesses.setdefault(MatrixHarness(refusal.harness, None, None, None))
        return cls(
            models=tuple(models.values()),
            harnesses=tuple(sorted(harnesses, key=lambda one: not one.is_raw)),
            runs={arm: _best_first(own) for arm, own in by_arm.items()},
            refusals=refusals,
        )

    def run_of(self, arm: Arm, suite: str) -> ScoredRun | None:
        """The run that fills the cell, rather one that came to it; None: none has the suite."""
        having = [run for run in self.runs[arm] if suite in run.suites]
        return next((run for run in having if run.suites[suite].is_begun), next(iter(having), None))

    def pair_of(self, arm: Arm) -> AgainstRaw | None:
        """The arm beside the same model in raw; None for raw itself, and where one was not run."""
        model, harness = arm
        if harness.is_raw:
            return None
        raws = [self.runs.get((model, one), ()) for one in self.harnesses if one.is_raw]
        return against_raw(_best_first(chain.from_iterable(raws)), self.runs[arm])

    def refusal_of(self, model: MatrixModel, harness: MatrixHarness) -> Refusal | None:
        own = (one for one in self.refusals if one.harness == harness.name)
        return next((one for one in own if _is_of(one, model)), None)


def _untold(_: RunHeader) -> None:
    """Of no run it is told whether its harness is configured as BenchLoop does."""


def _known_digests(runs: Sequence[ScoredRun]) -> dict[str, str]:
    """Model id -> digest of the first run of it that tells one: others are taken for the same."""
    known: dict[str, str] = {}
    for run in runs:
        subject = run.result.subject
        if subject.weights_digest is not None:
            known.setdefault(subject.model_id, subject.weights_digest)
    return known


def _model(run: RunResult, digest: str | None) -> MatrixModel:
    subject = run.subject
    return MatrixModel(
        model_id=subject.model_id,
        family=subject.model_family,
        quantization=subject.quantization,
        weights_digest=digest,
        thinking=is_thinking_on(run),
    )


def _is_of(refusal: Refusal, model: MatrixModel) -> bool:
    if refusal.weights_digest is not None and model.weights_digest is not None:
        return refusal.weights_digest == model.weights_digest
    return refusal.model_id == model.model_id


def _best_first(runs: Iterable[ScoredRun]) -> list[ScoredRun]:
    latest = sorted(runs, key=lambda run: (run.result.started_at, run.result.run_id), reverse=True)
    return sorted(latest, key=lambda run: run.result.status != "complete")


# What a harness costs


def _cost_row(
    harness: MatrixHarness,
    arms: Mapping[Arm, ArmFigures],
    against: Mapping[Arm, AgainstRaw],
    recovery: Recovery | None,
) -> CostRow:
    own = [arm for (_, column), arm in arms.items() if column == harness]
    pairs = [pair for (_, column), pair in against.items() if column == harness]
    costs = [pair.costs for pair in pairs if pair.costs is not None]

    def of_arms(read: Callable[[ArmFigures], Estimate | None]) -> Estimate | None:
        return _median(map(read, own))

    def amount(read: Callable[[HarnessCosts], Added | None]) -> Estimate | None:
        return _median(added.amount for added in map(read, costs) if added is not None)

    def ratio(read: Callable[[HarnessCosts], Added | None]) -> Estimate | None:
        return _median(added.ratio for added in map(read, costs) if added is not None)

    qualities = [pair.quality.difference for pair in pairs if pair.quality is not None]
    return CostRow(
        harness=harness,
        model_count=len(own),
        quality=median_estimate(qualities),
        wall_s=amount(lambda one: one.both_pass.warm),
        wall_ratio=ratio(lambda one: one.both_pass.warm),
        wall_judged_s=amount(lambda one: one.both_judged.warm),
        wall_judged_ratio=ratio(lambda one: one.both_judged.warm),
        cold_s=amount(lambda one: one.both_judged.cold),
        first_prompt_tokens=of_arms(lambda one: one.first_prompt_tokens),
        first_prompt_added=amount(lambda one: one.first_prompt),
        first_prompt_ratio=ratio(lambda one: one.first_prompt),
        prompt_tokens=of_arms(lambda one: one.prompt_tokens),
        prompt_added=amount(lambda one: one.prompt),
        prompt_ratio=ratio(lambda one: one.prompt),
        requests=of_arms(lambda one: one.requests),
        malformed=of_arms(lambda one: one.malformed),
        useless=of_arms(lambda one: one.useless),
        completion=of_arms(lambda one: one.completion),
        pass_cubed=of_arms(lambda one: one.pass_cubed),
        reliability=of_arms(lambda one: one.reliability),
        recovery=recovery,
    )


def _median(found: Iterable[Estimate | None]) -> Estimate | None:
    return median_estimate([one.value for one in found if one is not None])


# Where the variance comes from


def _variance(grid: _Grid, chosen: Chosen) -> MatrixVariance | None:
    """Of the largest complete block, among the runs with the settings of most tasks."""
    kept, others = _with_usual_settings(chosen)
    tasks: dict[Task, int] = {}
    found: dict[tuple[Arm, Task], ScoredTask] = {}
    for (model, harness, suite), run in kept.items():
        for task in run.suites[suite].tasks:
            hashes = {trial.prompt_hash for trial in task.trials}
            if len(hashes) == 1:
                pack_hash = run.suites[suite].key.pack_hash
                name = Task(suite, pack_hash, task.task_id, hashes.pop())
                tasks.setdefault(name, len(tasks))
                found[(model, harness), name] = task
    masks = [[0] * len(grid.harnesses) for _ in grid.models]
    rows = {model: place for place, model in enumerate(grid.models)}
    columns = {harness: place for place, harness in enumerate(grid.harnesses)}
    for (model, harness), name in found:
        masks[rows[model]][columns[harness]] |= 1 << tasks[name]
    block = largest_block(masks)
    if block is None or len(block.tasks) < 2 or len(block.models) * len(block.harnesses) < 2:
        return None
    names = list(tasks)
    models = tuple(grid.models[place] for place in block.models)
    harnesses = tuple(grid.harnesses[place] for place in block.harnesses)
    own = tuple(names[place] for place in block.tasks)
    outcomes = [
        [[_passes(found[(model, harness), task]) for task in own] for harness in harnesses]
        for model in models
    ]
    units = [_unit(task, found[(models[0], harnesses[0]), task]) for task in own]
    return MatrixVariance(
        models=models,
        harnesses=harnesses,
        tasks=own,
        trial_count=sum(len(cell) for row in outcomes for arm in row for cell in arm),
        other_settings=others,
        table=variance_table(outcomes, units),
    )


def _passes(task: ScoredTask) -> list[float]:
    return [float(trial.outcome == "pass") for trial in task.trials]


def _unit(task: Task, found: ScoredTask) -> str:
    """Names what counts as one task."""
    is_fresh = found.family is not None
    return json.dumps([task.suite, is_fresh, found.family if is_fresh else task.task_id])


def _with_usual_settings(chosen: Chosen) -> tuple[Chosen, tuple[str, ...]]:
    """The runs that share their settings with the most scored tasks, and the ids of the others."""
    settings = {
        run: json.dumps(settings_beside_harness(run.result), sort_keys=True)
        for run in dict.fromkeys(chosen.values())
    }
    tasks: Counter[str] = Counter()
    for (_, _, suite), run in chosen.items():
        tasks[settings[run]] += len(run.suites[suite].tasks)
    usual = max(tasks, key=lambda one: tasks[one], default=None)
    kept = {cell: run for cell, run in chosen.items() if settings[run] == usual}
    return kept, tuple(run.result.run_id for run, own in settings.items() if own != usual)
