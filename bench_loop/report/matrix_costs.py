"""What a harness costs as text: medians over models, and every model by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench_loop.programs.fault_table import clean_s
from bench_loop.report import figures, plots
from bench_loop.report.figures import EN_DASH, Figure
from bench_loop.report.matrix_names import (
    harness_heads,
    harness_labels,
    interval_of,
    model_names,
)
from bench_loop.report.matrix_records import (
    CostCell,
    CostLine,
    CostTable,
    HarnessHead,
    ModelName,
)
from bench_loop.report.printable import one_line
from bench_loop.report.side_by_side import WORD_KINDS, Word
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.harness_costs import Added, ArmFigures
from bench_loop.scoring.matrix import AgainstRaw, CostRow, Matrix, MatrixHarness, Recovery
from bench_loop.scoring.paired import Verdict

PLOT = 120
"""Pixels of the plot of quality against raw."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a line tells; None: not known."""

    n: int
    quality: Estimate | None
    verdict: Verdict | None
    quality_absence: str
    both_pass: Estimate | None
    both_pass_ratio: Estimate | None
    both_judged: Estimate | None
    both_judged_ratio: Estimate | None
    cold: Estimate | None
    alone_s: float | None
    first_prompt: Estimate | None
    first_prompt_ratio: Estimate | None
    prompt: Estimate | None
    prompt_ratio: Estimate | None
    requests: Estimate | None
    malformed: Estimate | None
    useless: Estimate | None
    completion: Estimate | None
    pass_cubed: Estimate | None
    reliability: Estimate | None
    recovery: Recovery | None


def cost_table(matrix: Matrix) -> CostTable:
    """A line a harness: medians over the models."""
    heads = harness_heads(matrix)
    found = [(heads[row.harness], None, _facts_of_row(row)) for row in matrix.costs]
    models = max((row.model_count for row in matrix.costs), default=0)
    basis = f"median over {models} models; an interval needs six of them"
    return _table(found, basis if models < 6 else f"median over {models} models, 95 %", "model")


def table_of_each_model(matrix: Matrix) -> CostTable:
    """A line for every model in every harness that was run."""
    heads, names = harness_heads(matrix), model_names(matrix)
    recoveries = {row.harness: row.recovery for row in matrix.costs}
    found = [
        (
            heads[harness],
            names[model] if len(matrix.models) > 1 else None,
            _facts_of_arm(
                harness,
                matrix.arms[model, harness],
                matrix.against_raw.get((model, harness)),
                recoveries.get(harness),
            ),
        )
        for model in matrix.models
        for harness in matrix.harnesses
        if (model, harness) in matrix.arms
    ]
    tasks = [arm.task_count for arm in matrix.arms.values()]
    least, most = min(tasks, default=0), max(tasks, default=0)
    span = figures.counted(most, "task")
    if least < most:
        span = f"{least} to {span}"
    return _table(found, f"mean over the tasks of one model, {span}, 95 %", "task")


@dataclass(frozen=True, slots=True)
class Overhead:
    """What a harness adds to a task. None: not known."""

    name: str
    passed_s: Estimate | None
    """Seconds on warm tasks that both pass; None also where an arm did not take turns with raw."""
    judged_s: Estimate | None
    """On warm tasks with verdicts in both, likewise."""
    prompt_ratio: Estimate | None


def overheads(matrix: Matrix) -> list[Overhead]:
    """Of every harness but raw: with one model its own, with their intervals; else the medians."""
    labels = harness_labels(matrix)
    apart = {harness for (_, harness), pair in matrix.against_raw.items() if not pair.is_one_matrix}
    if len(matrix.models) > 1:
        found = [(row.harness, _facts_of_row(row)) for row in matrix.costs]
    else:
        found = [
            (harness, _facts_of_arm(harness, arm, matrix.against_raw.get((model, harness)), None))
            for (model, harness), arm in matrix.arms.items()
        ]
    return [
        Overhead(
            name=labels[harness],
            passed_s=None if harness in apart else facts.both_pass,
            judged_s=None if harness in apart else facts.both_judged,
            prompt_ratio=facts.prompt_ratio,
        )
        for harness, facts in found
        if not harness.is_raw
    ]


def _table(
    found: Sequence[tuple[HarnessHead, ModelName | None, _Facts]], basis: str, unit: str
) -> CostTable:
    axis = plots.difference_axis(_ends(facts.quality for _, _, facts in found), PLOT)
    lines = tuple(_line(head, model, facts, axis, unit) for head, model, facts in found)
    return CostTable(basis.replace(" %", f"{figures.NARROW_SPACE}%"), axis.ticks, lines)


def _ends(found: Iterable[Estimate | None]) -> list[float]:
    known = [one for one in found if one is not None]
    return [end for one in known for end in (interval_of(one) or (one.value, one.value))]


def _line(
    head: HarnessHead,
    model: ModelName | None,
    facts: _Facts,
    axis: plots.DifferenceAxis,
    unit: str,
) -> CostLine:
    quality, n = facts.quality, facts.n
    interval = interval_of(quality) if quality else None
    return CostLine(
        head=head,
        model=model,
        n=f"{n} {unit}" if n == 1 else f"{n} {unit}s",
        quality=figures.difference(quality.value, interval) if quality else None,
        word=Word(facts.verdict, WORD_KINDS[facts.verdict]) if facts.verdict else None,
        plot=plots.difference_plot(axis, quality.value, interval) if quality else None,
        quality_absence=facts.quality_absence,
        cost=(
            _added(facts.both_pass, n, facts.both_pass_ratio),
            _added(facts.both_judged, n, facts.both_judged_ratio),
            _added(facts.cold, n),
            _alone(facts.alone_s),
            _amount(facts.first_prompt, n, facts.first_prompt_ratio),
            _amount(facts.prompt, n, facts.prompt_ratio),
            _amount(facts.requests, n),
        ),
        conduct=(
            _percent(facts.malformed, n),
            _percent(facts.useless, n),
            _percent(facts.completion, n),
            _percent(facts.pass_cubed, n),
            _percent(facts.reliability, n),
            _recovered(facts.recovery),
        ),
    )


# --- From the statistics --------------------------------------------------------------------------


def _facts_of_row(row: CostRow) -> _Facts:
    is_raw = row.harness.is_raw
    return _Facts(
        n=row.model_count,
        quality=None if is_raw else row.quality,
        verdict=None,
        quality_absence="baseline" if is_raw else "not compared",
        both_pass=row.wall_s,
        both_pass_ratio=row.wall_ratio,
        both_judged=row.wall_judged_s,
        both_judged_ratio=row.wall_judged_ratio,
        cold=row.cold_s,
        alone_s=_alone_s(row.harness),
        first_prompt=row.first_prompt_tokens,
        first_prompt_ratio=row.first_prompt_ratio,
        prompt=row.prompt_tokens,
        prompt_ratio=row.prompt_ratio,
        requests=row.requests,
        malformed=row.malformed,
        useless=row.useless,
        completion=row.completion,
        pass_cubed=row.pass_cubed,
        reliability=row.reliability,
        recovery=_recovery_of(row.harness, row.recovery),
    )


def _facts_of_arm(
    harness: MatrixHarness, arm: ArmFigures, pair: AgainstRaw | None, recovery: Recovery | None
) -> _Facts:
    quality = pair.quality if pair else None
    costs = pair.costs if pair else None
    warm = (costs.both_pass.warm, costs.both_judged.warm) if costs else (None, None)
    cold = costs.both_judged.cold if costs else None
    return _Facts(
        n=arm.task_count,
        quality=Estimate(quality.difference, quality.low, quality.high, quality.task_count)
        if quality
        else None,
        verdict=quality.verdict if quality else None,
        quality_absence="baseline" if harness.is_raw else _why_not_compared(pair),
        both_pass=_amount_of(warm[0]),
        both_pass_ratio=_ratio_of(warm[0]),
        both_judged=_amount_of(warm[1]),
        both_judged_ratio=_ratio_of(warm[1]),
        cold=_amount_of(cold),
        alone_s=_alone_s(harness),
        first_prompt=arm.first_prompt_tokens,
        first_prompt_ratio=_ratio_of(costs.first_prompt if costs else None),
        prompt=arm.prompt_tokens,
        prompt_ratio=_ratio_of(costs.prompt if costs else None),
        requests=arm.requests,
        malformed=arm.malformed,
        useless=arm.useless,
        completion=arm.completion,
        pass_cubed=arm.pass_cubed,
        reliability=arm.reliability,
        recovery=_recovery_of(harness, recovery),
    )


def _why_not_compared(pair: AgainstRaw | None) -> str:
    if pair is None:
        return "raw was not run"
    return f"not comparable: {one_line(' '.join(pair.reasons), 400)}"


def _amount_of(added: Added | None) -> Estimate | None:
    return added.amount if added else None


def _ratio_of(added: Added | None) -> Estimate | None:
    return added.ratio if added else None


def _alone_s(harness: MatrixHarness) -> float | None:
    """The table of faults is of the standard configuration."""
    return None if harness.configuration == "custom" else clean_s(harness.name, harness.version)


def _recovery_of(harness: MatrixHarness, recovery: Recovery | None) -> Recovery | None:
    return None if harness.configuration == "custom" else recovery


# --- As text --------------------------------------------------------------------------------------

_UNKNOWN = CostCell(EN_DASH, title="not known", is_absent=True)


def _added(found: Estimate | None, n: int, ratio: Estimate | None = None) -> CostCell:
    if found is None:
        return _UNKNOWN
    return _cell(figures.added(found.value, interval_of(found)), found.n, n, ratio)


def _amount(found: Estimate | None, n: int, ratio: Estimate | None = None) -> CostCell:
    if found is None:
        return _UNKNOWN
    return _cell(figures.amount(found.value, interval_of(found)), found.n, n, ratio)


def _percent(found: Estimate | None, n: int) -> CostCell:
    if found is None:
        return _UNKNOWN
    return _cell(figures.score(found.value, interval_of(found)), found.n, n, None)


def _cell(figure: Figure, n: int, n_of_line: int, ratio: Estimate | None) -> CostCell:
    below = [figure.interval] if figure.interval else []
    title = f"{figure.exact}, n {n}"
    if ratio:
        times = figures.ratio(ratio.value, *(interval_of(ratio) or (None, None)))
        below.append(f"{times.value} raw")
        if times.interval:
            below.append(times.interval)
        title += f"; {times.exact} times raw, n {ratio.n}"
    if n != n_of_line:
        below.append(f"n {n}")
    return CostCell(figure.value, tuple(below), title)


def _alone(seconds: float | None) -> CostCell:
    if seconds is None:
        return CostCell(EN_DASH, title="this version was not measured alone", is_absent=True)
    return CostCell(
        figures.seconds(seconds),
        (),
        "one small task from start to end, with a scripted model that answers at once",
    )


def _recovered(recovery: Recovery | None) -> CostCell:
    if recovery is None:
        title = "faults were not put into this version in this configuration"
        return CostCell(EN_DASH, title=title, is_absent=True)
    words = {True: "recovered", False: "did not", None: "no place for it"}
    said = ", ".join(
        f"{fault.replace('_', ' ')}: {words[found]}" for fault, found in recovery.by_fault.items()
    )
    if not recovery.tried:
        return CostCell("n/a", title=said, is_absent=True)
    return CostCell(f"{recovery.recovered} of {recovery.tried}", (), said)
