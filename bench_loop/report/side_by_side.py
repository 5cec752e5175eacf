"""Runs side by side as text: what differs between them, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench_loop.contracts.verifier import Outcome
from bench_loop.report import figures, plots, views
from bench_loop.report.figures import Figure
from bench_loop.report.printable import one_line
from bench_loop.report.records import Span, StackName
from bench_loop.report.stack import harness_configuration, own_way
from bench_loop.result.records import RunHeader, RunResult
from bench_loop.scoring.paired import Difference, Ratio, RunComparison, Verdict, compare_runs

LETTERS = "ABCDEF"
MOST_TASKS = 60
"""Differing tasks that are listed; the rest is counted."""
_FOREST_WIDTH = 320

WORD_KINDS: dict[Verdict, str] = {
    "better": "better",
    "worse": "worse",
    "no worse": "close",
    "equal": "close",
    "too close to call": "close",
    "floor or ceiling": "close",
    "not comparable": "not-comparable",
}
"""The shape and colour that go with a verdict's word."""


@dataclass(frozen=True, slots=True)
class Word:
    """A verdict: its fixed word and the shape that goes with it."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Head:
    """One run in the comparison. The first is the baseline and has no verdict."""

    letter: str
    number: int
    stack: StackName
    href: str
    remove: str
    word: Word | None
    note: str


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A paired difference against A, drawn and in words."""

    name: str
    letter: str
    number: int
    plot: plots.DifferencePlot
    figure: Figure
    word: Word
    tasks: str
    is_first: bool


@dataclass(frozen=True, slots=True)
class SideRow:
    """One quantity, a figure for each run."""

    label: str
    unit: str
    cells: tuple[Figure | None, ...]
    absence: str = "not known"


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting that is not the same everywhere; `odd` marks what differs from A."""

    name: str
    values: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task that did not come out the same, with the outcomes of its trials in each run."""

    task: str
    outcomes: tuple[tuple[Outcome, ...], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that the compare page prints."""

    lede: tuple[Span, ...]
    heads: tuple[Head, ...]
    forest: tuple[ForestRow, ...]
    forest_ticks: tuple[plots.Tick, ...]
    sides: tuple[SideRow, ...]
    settings: tuple[SettingRow, ...]
    tasks: tuple[TaskRow, ...]
    tasks_basis: str


def side_by_side(runs: Sequence[tuple[str, RunResult]]) -> Comparison:
    """Compare 2 to 6 runs, each with its address, against the first."""
    results = [result for _, result in runs]
    found = [compare_runs(results[0], other, may_harness_differ=True) for other in results[1:]]
    axis = _axis(found)
    differing = _differing_tasks(results)
    return Comparison(
        lede=_lede(results, found),
        heads=_heads(runs, found),
        forest=_forest(found, axis),
        forest_ticks=axis.ticks,
        sides=_sides(results),
        settings=_settings(results),
        tasks=tuple(differing[:MOST_TASKS]),
        tasks_basis=f"{min(len(differing), MOST_TASKS)} of {len(differing)} that differ",
    )


def _lede(results: Sequence[RunResult], found: Sequence[RunComparison]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for letter, result, compared in zip(LETTERS[1:], results[1:], found, strict=False):
        name = views.stack_name(result)
        label = " ".join(filter(None, (name.model, name.quantization)))
        spans += [Span(f"{letter}, {label} in {name.harness}, against A: ")]
        spans.append(Span(compared.verdict, "strong"))
        if compared.quality:
            spans += [Span(" "), Span(str(_figure(compared.quality)), "interval")]
        spans.append(Span(". "))
    return tuple(spans)


def _heads(
    runs: Sequence[tuple[str, RunResult]], found: Sequence[RunComparison]
) -> tuple[Head, ...]:
    ids = [href.strip("/").rsplit("/", 1)[-1] for href, _ in runs]
    heads = []
    for place, (href, result) in enumerate(runs):
        compared = found[place - 1] if place else None
        others = ",".join(one for index, one in enumerate(ids) if index != place)
        heads.append(
            Head(
                letter=LETTERS[place],
                number=place + 1,
                stack=views.stack_name(result),
                href=href,
                remove=f"?runs={others}",
                word=_word(compared.verdict) if compared else None,
                note=_note(result, compared),
            )
        )
    return tuple(heads)


def _note(result: RunResult, compared: RunComparison | None) -> str:
    """What to know of a run in the comparison; that it stopped early comes first."""
    early = "" if result.status == "complete" else f"The run is {result.status}. "
    return f"{early}{_against_first(compared)}"


def _against_first(compared: RunComparison | None) -> str:
    if compared is None:
        return "baseline: differences are measured against A, on the same tasks"
    if compared.quality is None:
        return " ".join(one_line(reason, 400) for reason in compared.reasons[:3])
    parts = [f"quality {_figure(compared.quality)}", compared.quality.advice]
    if compared.mcnemar_p is not None:
        parts.append(f"McNemar p = {figures.significant(compared.mcnemar_p, 2)}")
    if compared.unpaired_count:
        parts.append(f"{compared.unpaired_count} tasks could not be paired")
    parts += [f"{each.name} {_ratio(each)} of A's" for each in compared.speed]
    note = ", ".join(filter(None, parts))
    if not compared.speed_reasons:
        return note
    reasons = " ".join(one_line(reason, 400) for reason in compared.speed_reasons)
    return f"{note}. Speed is not comparable: {reasons}"


def _word(verdict: Verdict) -> Word:
    return Word(verdict, WORD_KINDS[verdict])


def _figure(difference: Difference) -> Figure:
    return figures.difference(difference.difference, (difference.low, difference.high))


def _ratio(each: Ratio) -> Figure:
    return figures.ratio(each.value, each.low, each.high)


def _axis(found: Sequence[RunComparison]) -> plots.DifferenceAxis:
    """The axis of the forest: it holds every interval."""
    ends = [
        end
        for compared in found
        for one in (compared.quality, *compared.suites)
        if one is not None
        for end in (one.low, one.high)
    ]
    return plots.difference_axis(ends, _FOREST_WIDTH)


def _forest(found: Sequence[RunComparison], axis: plots.DifferenceAxis) -> tuple[ForestRow, ...]:
    names = dict.fromkeys(one.name for compared in found for one in compared.suites)
    rows: list[ForestRow] = []
    for name in ("quality", *names):
        first = len(rows)
        for place, compared in enumerate(found, start=2):
            rows += [
                _forest_row(one, place, axis, is_first=len(rows) == first)
                for one in (compared.quality, *compared.suites)
                if one is not None and one.name == name
            ]
    return tuple(rows)


def _forest_row(
    one: Difference, number: int, axis: plots.DifferenceAxis, *, is_first: bool
) -> ForestRow:
    return ForestRow(
        name="quality, all suites" if one.name == "quality" else one_line(one.name),
        letter=LETTERS[number - 1],
        number=number,
        plot=plots.difference_plot(axis, one.difference, (one.low, one.high)),
        figure=_figure(one),
        word=_word(one.verdict),
        tasks=f"{one.discordant_count} of {one.task_count}",
        is_first=is_first,
    )


def _sides(results: Sequence[RunResult]) -> tuple[SideRow, ...]:
    ranked = tuple(
        None if views.not_ranked_reason(result) else _score(result, "overall") for result in results
    )
    scores = [
        SideRow(name.capitalize(), "0 to 100", tuple(_score(result, name) for result in results))
        for name in ("quality", "speed", "reliability", "value")
    ]
    return (
        SideRow("Overall", "0 to 100", ranked, absence="not ranked"),
        *scores,
        SideRow("Generation", "tok/s", tuple(views.generation_figure(r.speed) for r in results)),
        SideRow("TTFT", "s", tuple(views.ttft_figure(r.speed) for r in results)),
        SideRow(
            "Right answers",
            "per minute",
            tuple(_plain(result.aggregates.answers_per_minute) for result in results),
        ),
    )


def _score(result: RunResult, name: str) -> Figure | None:
    scores = result.aggregates
    return views.score_figure(
        getattr(scores, f"{name}_score"), getattr(scores, f"{name}_score_interval")
    )


def _plain(value: float | None) -> Figure | None:
    return None if value is None else figures.rate(value, None)


def _own_ways(run: RunHeader) -> str:
    """The suites that have trials or sampling of their own, with both."""
    return "; ".join(f"{own.suite} {own_way(own)}" for own in run.settings.by_suite)


_SETTINGS: tuple[tuple[str, Callable[[RunHeader], object]], ...] = (
    ("profile", lambda run: run.profile),
    ("engine", lambda run: run.subject.provider_version or run.subject.provider),
    ("harness", lambda run: f"{run.subject.harness} {run.subject.harness_version}"),
    ("configuration of the harness", harness_configuration),
    ("place of the harness", lambda run: run.settings.harness and run.settings.harness.place),
    ("device class", lambda run: run.machine.device_class),
    ("backend", lambda run: run.machine.backend),
    ("window loaded", lambda run: run.subject.context.loaded if run.subject.context else None),
    ("thinking", lambda run: {True: "on", False: "off", None: "none"}[run.subject.thinking]),
    ("trials", lambda run: run.settings.trials),
    ("suites run in another way", lambda run: _own_ways(run) or "none"),
    ("temperature", lambda run: run.settings.sampling and run.settings.sampling.temperature),
    ("KV cache", lambda run: run.subject.kv_cache_type),
    ("flash attention", lambda run: run.settings.flash_attention),
    ("parallel slots", lambda run: run.settings.parallel_slots),
    ("threads", lambda run: run.settings.threads),
    ("speed plan", lambda run: run.speed.plan if run.speed else "not run"),
    ("scoring", lambda run: run.scoring_version),
    ("bench-loop", lambda run: run.benchmark_version),
)


def _settings(results: Sequence[RunResult]) -> tuple[SettingRow, ...]:
    rows = []
    for name, read in _SETTINGS:
        values = [read(result) for result in results]
        if any(value != values[0] for value in values):
            texts = ["unknown" if value is None else one_line(str(value)) for value in values]
            rows.append(SettingRow(name, tuple((text, text != texts[0]) for text in texts)))
    return tuple(rows)


def _differing_tasks(results: Sequence[RunResult]) -> list[TaskRow]:
    runs = [_outcomes(result) for result in results]
    common = [task for task in runs[0] if all(task in run for run in runs[1:])]
    rows = [TaskRow(one_line(task), tuple(tuple(run[task]) for run in runs)) for task in common]
    return [row for row in rows if any(one != row.outcomes[0] for one in row.outcomes[1:])]


def _outcomes(result: RunResult) -> dict[str, list[Outcome]]:
    tasks: dict[str, list[Outcome]] = {}
    for trial in result.trials:
        if trial.outcome and trial.suite != "speed" and not trial.is_warmup:
            tasks.setdefault(trial.task_id, []).append(trial.outcome)
    return tasks
