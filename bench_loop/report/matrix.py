"""A matrix as text: models x harnesses x suites, for terminal, report and site alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from bench_loop.report import figures, plots
from bench_loop.report.figures import EN_DASH
from bench_loop.report.matrix_costs import cost_table, table_of_each_model
from bench_loop.report.matrix_lede import matrix_lede
from bench_loop.report.matrix_means import (
    CHANGE_MEANS,
    CONDUCT_COLUMNS,
    COST_COLUMNS,
    QUALITY_COLUMN,
    SCORE_MEANS,
    SOURCE_MEANS,
    SURE_MEANS,
)
from bench_loop.report.matrix_names import (
    CUSTOM,
    harness_heads,
    harness_labels,
    interval_of,
    model_names,
)
from bench_loop.report.matrix_records import (
    HeatCell,
    HeatRow,
    HeatTable,
    MatrixView,
    VarianceRow,
    VarianceView,
    Why,
)
from bench_loop.report.printable import one_line
from bench_loop.report.records import Notice
from bench_loop.scoring.against_raw import SURE
from bench_loop.scoring.constants import CENSORED_SHARE
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.matrix import (
    AgainstRaw,
    Cell,
    CellState,
    Matrix,
    MatrixHarness,
    MatrixModel,
    MatrixVariance,
)
from bench_loop.scoring.paired import Difference
from bench_loop.scoring.variance import Part, Source

SCORE_STEPS = (20.0, 35.0, 50.0, 65.0, 80.0)
CHANGE_STEPS = (3.0, 8.0, 14.0)
"""Where a field takes the next step of its colour, in points."""

SIGNS: dict[CellState, tuple[str, str]] = {
    "not_applicable": ("n/a", "not applicable"),
    "window_too_small": ("win", "window too small"),
    "not_run": ("·", "not run"),
    "incomplete": ("*", "incomplete"),
}
"""What stands where there is no score, and what it says."""

SOURCE_WORDS: dict[Source, str] = {
    "model": "model",
    "harness": "harness",
    "task": "task",
    "model x harness": "model × harness",
    "model x task": "model × task",
    "harness x task": "harness × task",
    "rest": "rest of cells",
    "trial to trial": "trial to trial",
}
MODELS_NAMED = 3
"""Models that a reason names; more are counted."""
LONGEST_REASON = 400
CUSTOM_MEANS = (
    "Configured by who ran it, not as BenchLoop pins it: its figures do not speak for the standard"
    " configuration."
)

Fill = Callable[[MatrixModel, MatrixHarness, str], HeatCell]


def matrix_view(matrix: Matrix) -> MatrixView:
    """Everything that is shown of `matrix`."""
    programs = [harness for harness in matrix.harnesses if not harness.is_raw]
    change = (
        _heat(matrix, programs, _change(matrix), _change_basis(matrix), CHANGE_MEANS)
        if programs
        else None
    )
    has_one_model = len(matrix.models) < 2
    each = table_of_each_model(matrix)
    return MatrixView(
        title="Model × harness × suite",
        counts=_counts(matrix),
        lede=matrix_lede(matrix),
        notices=tuple(_notices(matrix)),
        change=change,
        sure_means=SURE_MEANS,
        scores=_heat(matrix, matrix.harnesses, _score(matrix), _score_basis(matrix), SCORE_MEANS),
        whys=_whys(matrix),
        costs=each if has_one_model else cost_table(matrix),
        each=None if has_one_model else each,
        quality_column=QUALITY_COLUMN,
        cost_columns=COST_COLUMNS,
        conduct_columns=CONDUCT_COLUMNS,
        variance=_variance(matrix.variance, harness_labels(matrix)),
    )


def _counts(matrix: Matrix) -> tuple[str, ...]:
    trials = sum(arm.trial_count for arm in matrix.arms.values())
    return (
        figures.counted(len(matrix.models), "model"),
        figures.counted(len(matrix.harnesses), "harness", "harnesses"),
        figures.counted(len(matrix.suites), "suite"),
        figures.counted(len(matrix.arms), "run"),
        f"{figures.counted(trials, 'trial')} scored",
    )


def _notices(matrix: Matrix) -> Iterator[Notice]:
    """What limits the whole matrix."""
    pairs = matrix.against_raw.values()
    apart = sum(not pair.is_one_matrix for pair in pairs)
    if apart:
        yield Notice(
            "information",
            f"{figures.counted(apart, 'pair')} of {len(pairs)} did not take turns on one server:"
            " their quality can be compared. Their times were measured at different times, when"
            " heat and other load may have differed: they stand in the tables, and not in the"
            " answer.",
        )
    labels = harness_labels(matrix)
    lost: Counter[str] = Counter()
    for (_, harness), arm in matrix.arms.items():
        lost[labels[harness]] += arm.infrastructure_count
    if total := lost.total():
        named = ", ".join(f"{label} {count}" for label, count in lost.items() if count)
        yield Notice(
            "limit",
            f"{figures.counted(total, 'trial')} left out, since the server failed ({named}). An arm"
            " that loses its hard tasks scores too high; differences are of the tasks that both"
            " have.",
        )
    if cut := _much_cut(matrix):
        yield Notice(
            "information",
            f"Trials were cut by a limit of tokens, turns, requests or time ({cut}). They count as"
            " failed, though more of it might have been enough; a program has other limits of"
            " turns and time than raw.",
        )
    if unlike := _with_unlike_tasks(matrix):
        yield Notice(
            "information",
            f"Not all harnesses were scored on the same tasks ({unlike}). Differences, seconds"
            " added and × are of the tasks that both have; the other figures of a line are of its"
            " own tasks, and lines are compared only as far as their tasks are the same.",
        )
    if matrix.left_out:
        yield Notice(
            "information",
            f"{figures.counted(len(matrix.left_out), 'run')} left out: imported from another tool,"
            " or without suites of quality.",
        )


def _much_cut(matrix: Matrix) -> str:
    """The harnesses of which a model had so much cut that a score says less; else empty."""
    labels = harness_labels(matrix)
    most: dict[str, float] = {}
    for (_, harness), arm in matrix.arms.items():
        if arm.truncated and arm.truncated.value >= 100 * CENSORED_SHARE:
            most[labels[harness]] = max(most.get(labels[harness], 0.0), arm.truncated.value)
    upto = "" if len(matrix.models) == 1 else "up to "
    return ", ".join(
        f"{label} {upto}{figures.number(share, 0)}{figures.NARROW_SPACE}%"
        for label, share in most.items()
    )


def _with_unlike_tasks(matrix: Matrix) -> str:
    """The counts of tasks of the harnesses, where those of one model differ; else empty."""
    counts: dict[MatrixModel, set[tuple[tuple[str, int], ...]]] = {}
    for model, harness in matrix.arms:
        cells = [(suite, matrix.cells[model, harness, suite].task_count) for suite in matrix.suites]
        counts.setdefault(model, set()).add(tuple(cells))
    if all(len(kinds) == 1 for kinds in counts.values()):
        return ""
    labels = harness_labels(matrix)
    tasks: dict[str, list[int]] = {}
    for (_, harness), arm in matrix.arms.items():
        tasks.setdefault(labels[harness], []).append(arm.task_count)
    return ", ".join(f"{label} {_range(found, 'task')}" for label, found in tasks.items())


# --- The maps -------------------------------------------------------------------------------------


def _heat(
    matrix: Matrix, harnesses: Sequence[MatrixHarness], fill: Fill, basis: str, means: str
) -> HeatTable:
    heads, names = harness_heads(matrix), model_names(matrix)
    return HeatTable(
        suites=tuple(map(one_line, matrix.suites)),
        heads=tuple(heads[harness] for harness in harnesses),
        rows=tuple(
            HeatRow(
                names[model],
                tuple(
                    tuple(fill(model, harness, suite) for harness in harnesses)
                    for suite in matrix.suites
                ),
            )
            for model in matrix.models
        ),
        basis=basis,
        means=means,
    )


def _change(matrix: Matrix) -> Fill:
    names, labels = model_names(matrix), harness_labels(matrix)
    raw = next((h for h in matrix.harnesses if h.is_raw), None)

    def fill(model: MatrixModel, harness: MatrixHarness, suite: str) -> HeatCell:
        cell = matrix.cells[model, harness, suite]
        base = matrix.cells[model, raw, suite] if raw else Cell("not_run")
        pair = matrix.against_raw.get((model, harness))
        where = f"{names[model].text} in {labels[harness]}, {one_line(suite)}"
        if pair and suite in pair.suites:
            return _difference_cell(pair.suites[suite], cell, base, where)
        if cell.score is None and cell.state in SIGNS:
            return _absent(cell, where)
        return _dash(_why_no_difference(pair, base, suite), where)

    return fill


def _difference_cell(found: Difference, cell: Cell, base: Cell, where: str) -> HeatCell:
    figure = figures.difference(found.difference, (found.low, found.high))
    step = sum(abs(found.difference) >= limit for limit in CHANGE_STEPS)
    side = "plus" if found.difference > 0 else "minus"
    doubts = [*_doubts(cell), *(f"raw: {doubt}" for doubt in _doubts(base))]
    said = (
        f"{where}: {figure.exact} points, {found.verdict},"
        f" {found.discordant_count} of {figures.counted(found.task_count, 'task')}"
        " came out differently"
    )
    return HeatCell(
        kind=f"change-{side}-{step}" if step else "change-0",
        text=figure.value,
        below=figure.interval or "",
        title=". ".join([said, *doubts]),
        is_sure=found.verdict in SURE and (found.low > 0 or found.high < 0),
        mark="*" if doubts else "",
    )


def _why_no_difference(pair: AgainstRaw | None, base: Cell, suite: str) -> str:
    if pair and suite in pair.left_out:
        return one_line(pair.left_out[suite], LONGEST_REASON)
    if pair and pair.reasons:
        return one_line(" ".join(pair.reasons), LONGEST_REASON)
    if base.score is None:
        return f"Raw has no score there: {SIGNS[base.state][1] if base.state in SIGNS else 'none'}."
    return "There is nothing to compare it with."


def _score(matrix: Matrix) -> Fill:
    names, labels = model_names(matrix), harness_labels(matrix)

    def fill(model: MatrixModel, harness: MatrixHarness, suite: str) -> HeatCell:
        cell = matrix.cells[model, harness, suite]
        where = f"{names[model].text} in {labels[harness]}, {one_line(suite)}"
        return _absent(cell, where) if cell.score is None else _score_cell(cell, cell.score, where)

    return fill


def _score_cell(cell: Cell, score: Estimate, where: str) -> HeatCell:
    figure = figures.score(score.value, interval_of(score))
    doubts = _doubts(cell)
    said = (
        f"{where}: {figure.exact}, {figures.counted(cell.task_count, 'task')},"
        f" {figures.counted(cell.trial_count, 'trial')}"
    )
    if cell.pass_cubed:
        said += f", pass^3 {figures.number(cell.pass_cubed.value, 0)}"
    return HeatCell(
        kind=f"score-{sum(score.value >= limit for limit in SCORE_STEPS)}",
        text=figure.value,
        below=figure.interval or "",
        title=". ".join([said, *doubts]),
        mark="*" if doubts else "",
    )


def _absent(cell: Cell, where: str) -> HeatCell:
    sign, word = SIGNS.get(cell.state, (EN_DASH, "no score"))
    kind = "not-run" if cell.state in ("not_run", "incomplete") else "absent"
    spoken = f"{word}: {reason}" if (reason := _reason(cell)) else word
    return HeatCell(kind, sign, "", f"{where}: {spoken}", spoken=spoken)


def _dash(reason: str, where: str) -> HeatCell:
    spoken = f"not comparable: {reason}"
    return HeatCell("dash", EN_DASH, "", f"{where}: {spoken}", spoken=spoken)


def _doubts(cell: Cell) -> list[str]:
    """Why a score is not all it should be, as sentences."""
    found = []
    if cell.state != "measured" and cell.score is not None:
        found.append(_reason(cell) or SIGNS[cell.state][1].capitalize())
    if cell.is_censored:
        found.append("Many trials were cut: the interval runs from all wrong to all right")
    return found


def _reason(cell: Cell) -> str:
    return one_line(cell.reason or "", LONGEST_REASON).removesuffix(".")


def _change_basis(matrix: Matrix) -> str:
    pairs = list(matrix.against_raw.values())
    turns = " took turns" if pairs and all(pair.is_one_matrix for pair in pairs) else ""
    arms = f", arms{turns}" if turns else ""
    return f"paired by task, points of 100, 95{figures.NARROW_SPACE}%{arms}"


def _score_basis(matrix: Matrix) -> str:
    """How much stands behind a field, and how sure that makes it."""
    cells = [cell for cell in matrix.cells.values() if cell.score is not None]
    if not cells:
        return "nothing scored yet"
    tasks = _range([cell.task_count for cell in cells], "task")
    trials = _range([cell.trial_count for cell in cells], "trial")
    return f"share of trials passed, {tasks} and {trials} a field"


def _range(counts: Sequence[int], noun: str) -> str:
    low, high = min(counts), max(counts)
    found = figures.counted(high, noun)
    return found if low == high else f"{low} to {found}"


# --- Reasons --------------------------------------------------------------------------------------


def _whys(matrix: Matrix) -> tuple[Why, ...]:
    """Every reason once, with the fields that it stands for; what was just not run has none."""
    fields: dict[tuple[str, str], list[tuple[MatrixModel, MatrixHarness, str]]] = {}
    for place, sign, reason in _reasons(matrix):
        fields.setdefault((sign, reason), []).append(place)
    found = [Why(sign, _where(matrix, places), reason) for (sign, reason), places in fields.items()]
    heads = [head for head in harness_heads(matrix).values() if head.mark]
    named = ", ".join(f"{head.name} {head.version}".rstrip() for head in heads)
    custom = [Why(CUSTOM, named, CUSTOM_MEANS)] if heads else []
    return (*found, *custom)


def _reasons(
    matrix: Matrix,
) -> Iterator[tuple[tuple[MatrixModel, MatrixHarness, str], str, str]]:
    change = _change(matrix)
    for place, cell in matrix.cells.items():
        model, harness, suite = place
        if cell.score is None:
            if cell.state in SIGNS and (cell.state != "not_run" or cell.run_id is not None):
                sign, word = SIGNS[cell.state]
                yield place, sign, _reason(cell) or word.capitalize()
        else:
            for doubt in _doubts(cell):
                yield place, "*", doubt
        if cell.score is not None and not harness.is_raw:
            found = change(model, harness, suite)
            if found.kind == "dash":
                yield place, EN_DASH, found.spoken.removeprefix("not comparable: ")
    for (model, harness), pair in matrix.against_raw.items():
        if pair.costs:
            for reason in pair.costs.time_reasons:
                shown = one_line(reason, LONGEST_REASON)
                yield (model, harness, "wall time"), EN_DASH, shown


def _where(matrix: Matrix, places: Sequence[tuple[MatrixModel, MatrixHarness, str]]) -> str:
    """The fields in words: `aider: loop_tools, agent`, with the models if not all are meant."""
    names = model_names(matrix)
    models = list(dict.fromkeys(model for model, _, _ in places))
    labels = harness_labels(matrix)
    harnesses = list(dict.fromkeys(labels[harness] for _, harness, _ in places))
    suites = list(dict.fromkeys(one_line(suite) for _, _, suite in places))
    parts = [", ".join(harnesses)]
    if len(models) < len(matrix.models):
        named = [names[model].text for model in models[:MODELS_NAMED]]
        more = len(models) - len(named)
        parts.append(", ".join(named) + (f" and {more} more" if more else ""))
    if set(suites) != set(map(one_line, matrix.suites)):
        parts.append(", ".join(suites))
    return "; ".join(parts)


# --- Variance -------------------------------------------------------------------------------------


def _variance(found: MatrixVariance | None, labels: Mapping[MatrixHarness, str]) -> VarianceView:
    title = "Where the variance comes from"
    if found is None:
        return VarianceView(
            title, "", (), "No block of two models or harnesses and two tasks is complete yet."
        )
    suites = Counter(task.suite for task in found.tasks)
    basis = (
        f"{figures.counted(len(found.models), 'model')} ×"
        f" {figures.counted(len(found.harnesses), 'harness', 'harnesses')} ×"
        f" {figures.counted(len(found.tasks), 'task')},"
        f" {figures.counted(found.trial_count, 'trial')}"
    )
    if not found.table.parts:
        return VarianceView(title, basis, (), "Every trial of the block came out the same.")
    named = ", ".join(f"{one_line(suite)} {count}" for suite, count in suites.items())
    harnesses = ", ".join(labels[harness] for harness in found.harnesses)
    block = f"The largest complete block: {harnesses}; tasks of {named}."
    if found.other_settings:
        runs = figures.counted(len(found.other_settings), "run")
        block += f" {runs} with other settings left out."
    if found.table.is_descriptive:
        title = "Sums of squares of these trials"
        block += (
            " Too small a block for components of variance, which need 3 models, 3 harnesses and"
            " 12 tasks: these shares describe these trials and estimate nothing."
        )
    else:
        block += (
            " An interval tells how sure a share is for these models and harnesses, had they been"
            " given other tasks of the kind; it says nothing of other models or harnesses."
        )
    parts = [part for part in found.table.parts if _can_differ(part.source, found)]
    return VarianceView(title, basis, tuple(map(_variance_row, parts)), block)


def _can_differ(source: Source, found: MatrixVariance) -> bool:
    """Whether there are several of what the source is made of: of one model nothing can differ."""
    counts = {"model": len(found.models), "harness": len(found.harnesses)}
    return all(counts.get(factor, 2) > 1 for factor in source.split(" x "))


def _variance_row(part: Part) -> VarianceRow:
    interval = interval_of(part.share)
    return VarianceRow(
        source=SOURCE_WORDS[part.source],
        means=SOURCE_MEANS[part.source],
        figure=figures.score(part.share.value, interval),
        bar=plots.score_bar(part.share.value, interval),
        share=part.share.value,
        interval=interval,
    )
