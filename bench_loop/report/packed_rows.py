"""All runs of a dashboard as the records that its table, heatmap and charts are drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench_loop.report import figures
from bench_loop.report.board import Board, Row
from bench_loop.report.packed_run import Json, figure
from bench_loop.report.records import StackName
from bench_loop.report.stack import (
    device,
    quality_suites,
    score_figure,
    spread_figure,
    stack_name,
    ttft_figure,
)
from bench_loop.report.trials import of_suite, passed_of, with_outcome
from bench_loop.result.records import RunResult, Spread, SuiteResult
from bench_loop.scoring.speed import reach

_SCORE_STEPS = (20, 35, 50, 65, 80)
"""Where the steps of the heatmap lie."""


def packed_index(results: Sequence[RunResult], board: Board, chunk: int) -> dict[str, Json]:
    """Rows in the order of `board`, each run's own figures in the order of `results`."""
    places = {f"#{result.run_id}": place for place, result in enumerate(results)}
    works: dict[object, int] = {}
    return {
        "chunk": chunk,
        "axis": _axis(board),
        "groups": [
            {
                "caption": group.caption,
                "first": group.is_first_place,
                "rows": [_row(row, places[row.href]) for row in group.rows],
            }
            for group in board.groups
        ],
        "runs": [_run(result, works) for result in results],
    }


def _axis(board: Board) -> Json:
    if board.axis is None:
        return None
    return [[tick.x, tick.label] for tick in board.axis.ticks]


def _row(row: Row, place: int) -> list[Json]:
    """Place of the run, band, overall with its plot, cells, and what it is sorted by."""
    plot = row.plot
    return [
        place,
        row.band,
        figure(row.overall),
        [plot.dot, plot.whisker, plot.lead_x, plot.lead_width] if plot else None,
        [_number(row.overall_sort), *(_number(cell.sort) for cell in row.cells)],
        [figure(cell.figure) for cell in row.cells],
        row.reason,
    ]


def _number(text: str) -> float | None:
    return float(text) if text else None


def _run(result: RunResult, works: dict[object, int]) -> dict[str, Json]:
    """What filters, heatmap and charts need of a run.

    `work` is equal for runs of the same profile and the same tasks: only those stand in one chart.
    """
    suites = quality_suites(result)
    work = (result.profile, tuple((one.suite, one.version, one.pack_hash) for one in suites))
    quality, memory = result.aggregates.quality_score, result.peak_memory
    answers = result.aggregates.answers_per_minute
    read = [value for value in (memory.vram_gb, memory.ram_gb) if value] if memory else []
    return {
        "id": result.run_id,
        "stack": _stack(stack_name(result)),
        "device": device(result.machine),
        "profile": result.profile,
        "status": result.status,
        "at": round(result.finished_at.timestamp()),
        "finished": figures.moment(result.finished_at),
        "work": works.setdefault(work, len(works)),
        "quality": _measured(
            quality,
            result.aggregates.quality_score_interval,
            figure(score_figure(quality, result.aggregates.quality_score_interval)),
        ),
        "generation": _spread(result.speed.generation_tps if result.speed else None),
        "ttft": figure(ttft_figure(result.speed)),
        "answers": None if answers is None else figure(figures.rate(answers, None)),
        "memory": figures.memory(max(read)) if read else None,
        "suites": {one.suite: _suite(result, one) for one in suites},
    }


def _stack(name: StackName) -> list[Json]:
    return [
        *(name.model, name.quantization, name.harness, name.harness_version),
        *(name.harness_shape, name.custom),
    ]


def _suite(result: RunResult, suite: SuiteResult) -> Json:
    """Step of the heatmap, the measured score, and passed of scored; None: it was not run."""
    if suite.score is None:
        return None
    own = [trial.outcome for trial in with_outcome(of_suite(suite.suite, result.trials))]
    step = sum(suite.score >= at for at in _SCORE_STEPS)
    text = figure(score_figure(suite.score, suite.score_interval))
    return [step, _measured(suite.score, suite.score_interval, text), passed_of(own)]


def _spread(spread: Spread | None) -> Json:
    if spread is None:
        return None
    half = reach(spread)
    ends = None if half is None else (max(spread.median - half, 0.0), spread.median + half)
    return _measured(spread.median, ends, figure(spread_figure(spread)))


def _measured(
    value: float | None, ends: Sequence[float] | None, text: Sequence[str | None] | None
) -> Json:
    """Number, its interval and its text, for a bar; None: nothing was measured."""
    if value is None:
        return None
    low, high = (round(end, 2) for end in ends) if ends else (None, None)
    return [round(value, 2), low, high, text]


def facets(results: Sequence[RunResult]) -> Mapping[str, list[str]]:
    """What the filters offer, each in the order of the alphabet."""
    names = [stack_name(result) for result in results]
    return {
        "model": sorted({name.model for name in names}),
        "quantization": sorted({name.quantization for name in names if name.quantization}),
        "harness": sorted({name.harness for name in names}),
        "device": sorted({name.device for name in names}),
        "profile": sorted({result.profile for result in results}),
    }
