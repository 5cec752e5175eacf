"""Runs side by side, in a terminal and as JSON, and what each says about the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from string import ascii_uppercase
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import Signs, clean, in_signs, signs, width
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.report import figures, views
from bench_loop.report.figures import Figure
from bench_loop.report.marks import (
    DIFFERENCE_PLOTS,
    LABEL,
    difference_axis,
    difference_bar,
    label,
    wrapped,
)
from bench_loop.report.ranks import rank_lines, rank_runs, ranks_json
from bench_loop.result.compare import not_comparable
from bench_loop.result.records import RunResult, Spread
from bench_loop.scoring.paired import Difference, End, RunComparison, compare_runs

LETTERS = ascii_uppercase
BESIDE_PLOT = 57
"""Columns that a difference takes beside its plot: name, figures and verdict."""
FEWEST_RANKED = 2
"""So many runs are a pair; more are ranked too."""
COLUMN = 18
"""Columns of one run in the table: a value and its interval."""
VALUE = 6
"""Columns of the value in it."""

MOST_NAMES = 12
"""Tasks that are named for each run of a pair; the rest is counted."""

VERDICT_STYLES = {"better": "better", "worse": "worse"}
DIFFICULTIES: dict[End, str] = {"floor": "easy", "ceiling": "hard"}
"""Of the tasks that might tell runs apart which lie at an end of the scale."""
SCALES = (5, 10, 20, 30, 50, 100)
"""Ends of the axis of differences, in points; the first that holds all intervals is taken."""


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of every run, in the order of the runs; None where a run does not have it."""

    name: str
    cells: tuple[Figure | None, ...]
    absence: str


@dataclass(frozen=True, slots=True)
class Pair:
    """What run `letter` says about run A."""

    letter: str
    found: RunComparison
    is_same_run: bool
    other_suites: tuple[str, ...] = ()
    """Suites to ask instead, where both runs lie at an end of the scale."""
    is_harness_alone: bool = False
    """Nothing but their harnesses speaks against comparing them."""


def pairs_with_first(runs: Sequence[RunResult], *, may_harness_differ: bool = False) -> list[Pair]:
    """Every further run against the first."""
    first, *rest = runs
    return [
        _pair(letter, first, run, may_harness_differ=may_harness_differ)
        for letter, run in zip(LETTERS[1:], rest, strict=False)
    ]


def _pair(letter: str, first: RunResult, run: RunResult, *, may_harness_differ: bool) -> Pair:
    found = compare_runs(first, run, may_harness_differ=may_harness_differ)
    end = found.quality.end if found.quality else None
    others = () if end is None else tuple(_other_suites(end, (first, run)))
    is_harness_alone = bool(found.reasons) and not not_comparable(
        first, run, may_harness_differ=True
    )
    return Pair(letter, found, run.fingerprint == first.fingerprint, others, is_harness_alone)


def _other_suites(end: End, runs: Sequence[RunResult]) -> Iterator[str]:
    """Suites that ship, were not run, and have tasks that might tell the runs apart."""
    asked = {suite.suite for run in runs for suite in run.suites}
    for name in pack_names():
        tasks = () if name in asked else load_pack(name).tasks
        if any(task.difficulty == DIFFICULTIES[end] for task in tasks):
            yield name


def rows(runs: Sequence[RunResult]) -> list[list[Row]]:
    """Aggregates; raw speed; every suite that one of the runs has."""
    return [list(_aggregate_rows(runs)), list(_speed_rows(runs)), list(_suite_rows(runs))]


def _aggregate_rows(runs: Sequence[RunResult]) -> Iterator[Row]:
    overall = tuple(
        None if views.not_ranked_reason(run) else _score("overall", run) for run in runs
    )
    yield Row("overall", tuple(overall), "not ranked")
    for name in ("quality", "speed", "reliability", "value"):
        yield Row(name, tuple(_score(name, run) for run in runs), "no score")


def _score(name: str, run: RunResult) -> Figure | None:
    scores = run.aggregates
    return views.score_figure(
        getattr(scores, f"{name}_score"), getattr(scores, f"{name}_score_interval")
    )


def _speed_rows(runs: Sequence[RunResult]) -> Iterator[Row]:
    rates = [run.aggregates.answers_per_minute for run in runs]
    answers = tuple(None if rate is None else figures.rate(rate, None) for rate in rates)
    yield Row("right a minute", answers, figures.NOT_RUN)
    speeds = [run.speed for run in runs]
    yield Row("tok/s", tuple(map(views.generation_figure, speeds)), figures.NOT_RUN)
    prompts = tuple(_median(speed.prompt_tps) if speed else None for speed in speeds)
    yield Row("prompt tok/s", prompts, figures.NOT_RUN)
    yield Row("TTFT s", tuple(map(views.ttft_figure, speeds)), figures.NOT_RUN)


def _suite_rows(runs: Sequence[RunResult]) -> Iterator[Row]:
    by_run = [
        {suite.suite: suite for suite in run.suites if suite.dimension == "quality"} for run in runs
    ]
    for name in dict.fromkeys(name for suites in by_run for name in suites):
        own = [suites.get(name) for suites in by_run]
        cells = [
            views.score_figure(suite.score, suite.score_interval) if suite else None
            for suite in own
        ]
        yield Row(name, tuple(cells), figures.NOT_RUN)


def _median(spread: Spread | None) -> Figure | None:
    return views.spread_figure(spread) if spread else None


def print_comparison(
    runs: Sequence[RunResult], names: Sequence[str], pairs: Sequence[Pair], screen: Console
) -> None:
    """Print the runs side by side, then each further one against the first.

    `names` are the files the runs came from.
    """
    drawn = signs(screen)
    sections = [_heads(runs, names, screen), *_tables(runs, drawn, screen)]
    sections += [_pair_lines(pair, drawn, screen) for pair in pairs]
    if len(runs) > FEWEST_RANKED:
        sections.append(
            rank_lines(runs, rank_runs(runs), LETTERS, [_title(run) for run in runs], screen)
        )
    for section in sections:
        for line in section:
            screen.print(in_signs(line, drawn), soft_wrap=True)
        screen.print()


def _title(run: RunResult) -> str:
    """A run in one line: `qwen3:8b Q4_K_M in raw, RTX 4090 24 GB`."""
    stack = views.stack_name(run)
    model = " ".join(filter(None, (stack.model, stack.quantization)))
    custom = " (custom)" if stack.custom else ""
    return clean(f"{model} in {stack.harness}{custom}, {stack.device}")


def _heads(runs: Sequence[RunResult], names: Sequence[str], screen: Console) -> Iterator[Text]:
    for letter, run, name in zip(LETTERS, runs, names, strict=False):
        title = _title(run)
        yield from wrapped(Text.assemble((letter, "accent"), f"  {title}"), screen)
        state = "" if run.status == "complete" else f"{run.status}, "
        how = "imported" if run.imported else views.profile(run.profile)
        facts = f"{how}, {state}{figures.moment(run.started_at)}, {clean(name)}"
        yield from wrapped(Text(facts, style="basis"), screen, indent=3)


def _tables(runs: Sequence[RunResult], drawn: Signs, screen: Console) -> Iterator[Iterator[Text]]:
    """The table, in as many pieces as its columns need; what no run has is left out."""
    table = [[row for row in group if any(row.cells)] for group in rows(runs)]
    table = [group for group in table if group]
    at_once = max((width(screen) - LABEL) // COLUMN, 1)
    for start in range(0, len(runs), at_once):
        yield _table(table, range(start, min(start + at_once, len(runs))), drawn)


def _table(table: Sequence[Sequence[Row]], columns: range, drawn: Signs) -> Iterator[Text]:
    head = Text(" " * LABEL)
    for column in columns:
        head.append(f"{LETTERS[column]:>{VALUE}}{'':{COLUMN - VALUE}}", style="accent")
    yield _rstripped(head)
    for number, group in enumerate(table):
        if number:
            yield Text()
        for row in group:
            line = label(row.name)
            for column in columns:
                line.append_text(_table_cell(row.cells[column], row.absence, drawn))
            yield _rstripped(line)


def _table_cell(figure: Figure | None, absence: str, drawn: Signs) -> Text:
    """Value to the right, its interval after it; or the word for what is not there."""
    cell = Text()
    if figure is None:
        cell.append(absence, style="basis")
    else:
        cell.append(f"{figure.value:>{VALUE}} ", style="figure")
        cell.append(figure.interval or "", style="basis")
    cell = in_signs(cell, drawn)
    cell.pad_right(COLUMN - cell.cell_len)
    return cell


def _rstripped(line: Text) -> Text:
    line.rstrip()
    return line


def _pair_lines(pair: Pair, drawn: Signs, screen: Console) -> Iterator[Text]:
    """One run against the first: the reasons why not, or the differences with their verdicts."""
    found = pair.found
    if pair.is_same_run:
        yield Text(f"{pair.letter} and A are the same run.", style="partial")
        return
    if found.quality is None:
        yield Text(f"{pair.letter} against A: not comparable", style="figure")
        for reason in found.reasons:
            yield from wrapped(Text(clean(reason)), screen, indent=3)
        if pair.is_harness_alone:
            hint = "To compare just that: bench-loop compare --across-harnesses"
            yield from wrapped(Text(hint, style="basis"), screen, indent=3)
    else:
        yield from _forest(pair.letter, found.quality, found.suites, drawn, screen)
        yield from _advice(pair, screen)
        yield from _differing_lines(pair.letter, found, screen)
        yield from _ratio_lines(pair.letter, found, screen)
    if found.speed_reasons and found.speed_reasons != found.reasons:
        yield Text("Speed is not comparable:", style="basis")
        for reason in found.speed_reasons:
            yield from wrapped(Text(clean(reason), style="basis"), screen, indent=3)


def _forest(
    letter: str,
    quality: Difference,
    suites: Sequence[Difference],
    drawn: Signs,
    screen: Console,
) -> Iterator[Text]:
    head = Text.assemble((f"{letter} against A", "figure"), ": quality ")
    head.append(quality.verdict, style=VERDICT_STYLES.get(quality.verdict, "figure"))
    basis = f"   {letter} minus A in points, {quality.task_count} tasks, 95 %"
    yield from wrapped(head.append(basis, style="basis"), screen)
    differences = (quality, *suites)
    reach = max(max(abs(each.low), abs(each.high)) for each in differences)
    scale = next(end for end in SCALES if end >= reach)
    fitting = [columns for columns in DIFFERENCE_PLOTS if BESIDE_PLOT + columns <= width(screen)]
    columns = max(fitting, default=None)
    if columns:
        yield difference_axis(scale, columns)
    for each in differences:
        line = label(each.name)
        figure = figures.difference(each.difference, (each.low, each.high))
        if columns:
            ends = each.difference, each.low, each.high
            line.append_text(difference_bar(*ends, scale, columns, drawn)).append("  ")
        line.append(f"{figure.value:>6}", style="figure")
        line.append(f" {f'({figure.interval})':<15}", style="basis")
        yield line.append(_word(each), style=VERDICT_STYLES.get(each.verdict, "undecided"))


def _word(each: Difference) -> str:
    """The verdict; of a suite in whose middle too few tasks differ, how many do."""
    if each.verdict != "floor or ceiling" or each.end is not None or each.name == "quality":
        return each.verdict
    return f"{each.discordant_count} of {each.task_count} differ"


def _advice(pair: Pair, screen: Console) -> Iterator[Text]:
    """What it would take to settle the quality, and the test that is shown beside it."""
    found = pair.found
    assert found.quality is not None
    parts = []
    if found.quality.advice:
        parts.append(f"Quality: {found.quality.advice}.")
    if pair.other_suites:
        names = ",".join(pair.other_suites)
        wanted = DIFFICULTIES[found.quality.end or "floor"]
        parts.append(f"Suites that were not asked have tasks marked {wanted}: --suites {names}.")
    if found.mcnemar_p is not None:
        parts.append(f"Exact McNemar p {figures.significant(found.mcnemar_p, 2)}.")
    if parts:
        yield from wrapped(Text(" ".join(parts), style="basis"), screen)


def _differing_lines(letter: str, found: RunComparison, screen: Console) -> Iterator[Text]:
    """Which tasks came out better in which run, and how many could not be paired."""
    for name, tasks in (
        (letter, [task for task in found.differing if task.b > task.a]),
        ("A", [task for task in found.differing if task.a > task.b]),
    ):
        if not tasks:
            continue
        named = [clean(task.task_id) for task in tasks[:MOST_NAMES]]
        if len(tasks) > MOST_NAMES:
            named.append(f"and {len(tasks) - MOST_NAMES} more")
        head = f"{len(tasks)} {_plural(len(tasks), 'task')} better in {name}: "
        yield from wrapped(Text.assemble(head, (", ".join(named), "basis")), screen)
    if found.unpaired_count:
        count = found.unpaired_count
        text = f"{count} {_plural(count, 'task')} left out: not scored in both, or asked otherwise."
        yield from wrapped(Text(text, style="basis"), screen)


def _ratio_lines(letter: str, found: RunComparison, screen: Console) -> Iterator[Text]:
    if not found.speed:
        return
    text = Text(f"Speed, {letter} by A: ")
    for number, each in enumerate(found.speed):
        figure = figures.ratio(each.value, each.low, each.high)
        interval = f" ({figure.interval})" if figure.interval else ""
        text.append(f"{', ' if number else ''}{each.name} ")
        text.append(figure.value, style="figure").append(interval, style="basis")
    yield from wrapped(text, screen)


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def comparison_json(
    runs: Sequence[RunResult], names: Sequence[str], pairs: Sequence[Pair]
) -> dict[str, Any]:
    """The comparison for a program to read, nothing rounded."""
    return {
        "runs": [
            _run_json(letter, run, name)
            for letter, run, name in zip(LETTERS, runs, names, strict=False)
        ],
        "pairs": [_pair_json(pair) for pair in pairs],
        "ranks": ranks_json(rank_runs(runs), LETTERS),
    }


def _run_json(letter: str, run: RunResult, name: str) -> dict[str, Any]:
    return {
        "letter": letter,
        "file": name,
        "run_id": run.run_id,
        "title": _title(run),
        "profile": run.profile,
        "status": run.status,
        "scoring_version": run.scoring_version,
        "not_ranked": views.not_ranked_reason(run),
        "aggregates": run.aggregates.model_dump(mode="json"),
        "speed": run.speed.model_dump(mode="json") if run.speed else None,
        "suites": [suite.model_dump(mode="json") for suite in run.suites],
    }


def _pair_json(pair: Pair) -> dict[str, Any]:
    found = pair.found
    return {
        "a": "A",
        "b": pair.letter,
        "is_same_run": pair.is_same_run,
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "speed_reasons": list(found.speed_reasons),
        "quality": _difference_json(found.quality) if found.quality else None,
        "suites": [_difference_json(each) for each in found.suites],
        "mcnemar_p": found.mcnemar_p,
        "differing_tasks": [asdict(task) for task in found.differing],
        "unpaired_count": found.unpaired_count,
        "speed": [asdict(ratio) for ratio in found.speed],
    }


def _difference_json(each: Difference) -> dict[str, Any]:
    return {**asdict(each), "advice": each.advice}
