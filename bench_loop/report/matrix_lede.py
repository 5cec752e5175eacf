"""What a matrix says, in two or three sentences: never more than its intervals allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench_loop.report import figures
from bench_loop.report.figures import Figure
from bench_loop.report.matrix_costs import overheads
from bench_loop.report.matrix_names import harness_labels, interval_of, model_names
from bench_loop.report.printable import one_line
from bench_loop.report.records import Span
from bench_loop.report.sentences import figure_spans
from bench_loop.scoring.against_raw import SURE, surely_apart
from bench_loop.scoring.constants import MIN_DISCORDANT
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.matrix import AgainstRaw, Matrix, MatrixHarness, MatrixModel
from bench_loop.scoring.paired import Difference, Verdict

Pairs = Sequence[tuple[MatrixModel, MatrixHarness, Difference]]
"""Differences of quality."""

MODELS_NAMED = 2
"""Models that a sentence names; more are counted."""


def matrix_lede(matrix: Matrix) -> tuple[Span, ...]:
    """What the harnesses gained and cost, and whose doing the scores are."""
    if not matrix.arms:
        return (Span("Nothing was run yet", "strong"), Span("."))
    return (*_quality(matrix), *_costs(matrix), *_variance(matrix))


# --- Quality --------------------------------------------------------------------------------------


def _quality(matrix: Matrix) -> list[Span]:
    pairs = [
        (model, harness, pair.quality)
        for (model, harness), pair in matrix.against_raw.items()
        if pair.quality is not None
    ]
    if not pairs:
        return _nothing_compared(list(matrix.against_raw.values()))
    most = max(difference.task_count for _, _, difference in pairs)
    if most < MIN_DISCORDANT:
        tasks = f"{most} {'task' if most == 1 else 'tasks'}"
        return [
            Span(tasks, "strong"),
            Span(" are too few" if most != 1 else " is too few"),
            Span(f" to tell what {_named(matrix, pairs)} gains or loses against raw."),
        ]
    apart = surely_apart({(model, harness): found for model, harness, found in pairs})
    sure = [pair for pair in pairs if pair[:2] in apart]
    maybe = sum(pair[2].verdict in SURE and pair[:2] not in apart for pair in pairs)
    if not sure:
        return _nothing_sure(matrix, pairs, maybe)
    spans: list[Span] = []
    for harness in matrix.harnesses:
        count = sum(pair[1] == harness for pair in pairs)
        own = [pair for pair in sure if pair[1] == harness]
        for verdict in SURE:
            spans += _sure_spans(matrix, own, count, verdict, is_first=not spans)
    rest = len(pairs) - len(sure)
    if rest:
        which = "the other" if rest > 1 else "one other"
        counted = f"{rest} pairs are" if rest > 1 else "pair is"
        spans.append(Span(f"; {which} {counted} not told apart from raw{_by_chance(maybe)}"))
    return [*spans, Span(".")]


def _by_chance(maybe: int) -> str:
    """Of pairs with a verdict that so many pairs together do not bear out."""
    if not maybe:
        return ""
    looks = "one looks" if maybe == 1 else f"{maybe} look"
    return f" ({looks} better or worse alone, too little to be sure among so many)"


def _nothing_compared(pairs: Sequence[AgainstRaw]) -> list[Span]:
    said = Span("Nothing is compared with raw", "strong")
    if not pairs:
        return [said, Span(": no model was run both in raw and in a harness.")]
    reasons = list(dict.fromkeys(reason for pair in pairs for reason in pair.reasons))
    why = one_line(reasons[0], 200) if reasons else "the arms share no task."
    return [said, Span(f": {why[:1].lower()}{why[1:]}")]


def _nothing_sure(matrix: Matrix, pairs: Pairs, maybe: int) -> list[Span]:
    if len(pairs) == 1:
        ((model, harness, found),) = pairs
        figure = figures.difference(found.difference, (found.low, found.high))
        return [
            Span(
                f"{harness_labels(matrix)[harness]} against raw"
                f" {_where(matrix, [(model, harness)])}: ".replace(" :", ":")
            ),
            *figure_spans(figure),
            Span(f" points of quality, {found.verdict} on {found.task_count} tasks."),
        ]
    return [
        Span("No harness is told apart from raw", "strong"),
        Span(f" in quality with any model: {len(pairs)} pairs, none of them "),
        Span(f"surely better or worse{_by_chance(maybe)}." if maybe else "better or worse."),
    ]


def _sure_spans(
    matrix: Matrix, own: Pairs, count: int, verdict: Verdict, *, is_first: bool
) -> list[Span]:
    """`aider is better than raw with 3 of 5 models`, `own` being sure pairs of a harness that has
    `count`; empty where it is with none."""
    found = [pair for pair in own if pair[2].verdict == verdict]
    if not found:
        return []
    harness = found[0][1]
    than = "than raw " if is_first else ""
    spans = [
        Span("" if is_first else ", "),
        Span(f"{harness_labels(matrix)[harness]} is {verdict}", "strong"),
        Span(f" {than}{_where(matrix, [pair[:2] for pair in found])}with "),
    ]
    if len(found) > MODELS_NAMED:
        return [*spans, Span(f"{len(found)} of {count} models")]
    names = model_names(matrix)
    said: list[Span] = []
    for model, _, difference in found:
        figure = figures.difference(difference.difference, (difference.low, difference.high))
        said += [
            Span(" and " if said else ""),
            Span(f"{names[model].name} "),
            *figure_spans(figure),
        ]
    return [*spans, *said]


def _where(matrix: Matrix, arms: Sequence[tuple[MatrixModel, MatrixHarness]]) -> str:
    """On which suites they were compared, where these are not all."""
    found = [set(matrix.against_raw[arm].suites) for arm in arms]
    if all(suites == set(matrix.suites) for suites in found):
        return ""
    if any(suites != found[0] for suites in found):
        return "on the suites that could be compared "
    return f"on {', '.join(one_line(suite) for suite in matrix.suites if suite in found[0])} "


def _named(matrix: Matrix, pairs: Pairs) -> str:
    labels = harness_labels(matrix)
    names = list(dict.fromkeys(labels[harness] for _, harness, _ in pairs))
    return names[0] if len(names) == 1 else "a harness"


# --- Costs ----------------------------------------------------------------------------------------

Named = tuple[str, Estimate]
"""A figure with the harness that has it."""


def _costs(matrix: Matrix) -> list[Span]:
    """What they add to a task, from the least to the most."""
    rows = overheads(matrix)
    passed = [(one.name, one.passed_s) for one in rows if one.passed_s]
    judged = [(one.name, one.judged_s) for one in rows if one.judged_s]
    # One kind of task for all: seconds of passed tasks are not held against those of any.
    is_of_passed = len(passed) >= len(judged)
    seconds = passed if is_of_passed else judged
    prompts = [(one.name, one.prompt_ratio) for one in rows if one.prompt_ratio]
    if not seconds and not prompts:
        return []
    has_one_model = len(matrix.models) == 1
    counts = {found.n for _, found in (*seconds, *prompts)}
    is_of_same = has_one_model or len(counts) == 1
    if not is_of_same:
        seconds, prompts = _with_models(seconds), _with_models(prompts)
    start = " " if has_one_model else " In the median over models "
    if not has_one_model and is_of_same:
        start = f" In the median of {_models(max(counts))} "
    is_one = len(rows) == 1
    name = rows[0].name if is_one else "they" if start.strip() else "They"
    parts: list[Span] = []
    if seconds:
        parts += [Span("adds " if is_one else "add "), *_from_to(_ends(seconds), _seconds, " s")]
        parts.append(Span(f" to a warm task that both {'pass' if is_of_passed else 'finish'}"))
    if prompts:
        parts += [Span(" and " if parts else "")]
        parts += [Span("sends " if is_one else "send "), *_from_to(_ends(prompts), _times, "")]
        parts.append(Span(" the prompt tokens of raw"))
    return [Span(f"{start}{name} "), *parts, Span(".")]


def _with_models(found: list[Named]) -> list[Named]:
    return [(f"{name}, {_models(one.n)}", one) for name, one in found]


def _models(count: int) -> str:
    return f"{count} {'model' if count == 1 else 'models'}"


def _ends(found: list[Named]) -> list[Named]:
    """The least and the most; one where there is but one."""
    found.sort(key=lambda one: one[1].value)
    return found if len(found) < 2 else [found[0], found[-1]]


def _from_to(ends: Sequence[Named], write: Callable[[Estimate], Figure], unit: str) -> list[Span]:
    if len(ends) == 1:
        return [*figure_spans(write(ends[0][1])), Span(unit)]
    (least, low), (most, high) = ends
    return [
        *figure_spans(write(low)),
        Span(f" ({least}) to "),
        *figure_spans(write(high)),
        Span(f"{unit} ({most})"),
    ]


def _seconds(found: Estimate) -> Figure:
    return figures.amount(found.value, interval_of(found))


def _times(found: Estimate) -> Figure:
    ends = interval_of(found) or (None, None)
    return figures.ratio(found.value, *ends)


# --- Variance -------------------------------------------------------------------------------------


def _variance(matrix: Matrix) -> list[Span]:
    """Only components say something of more than these very trials."""
    found = matrix.variance
    if found is None or found.table.is_descriptive:
        return []
    shares = {part.source: part.share for part in found.table.parts}
    if "model" not in shares or "harness" not in shares:
        return []
    model, harness = (
        _percent(shares["model"]),
        _percent(shares["harness"]),
    )
    return [
        Span(" Of what makes single trials differ, "),
        *figure_spans(model),
        Span(" lies between these models and "),
        *figure_spans(harness),
        Span(" between these harnesses."),
    ]


def _percent(found: Estimate) -> Figure:
    figure = figures.score(found.value, interval_of(found))
    return Figure(f"{figure.value}{figures.NARROW_SPACE}%", figure.interval, figure.exact)
