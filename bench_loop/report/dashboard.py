"""The static dashboard: one HTML file with all runs, which works from disk without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bench_loop.engine.ranking import league_of
from bench_loop.report import figures, views
from bench_loop.report.board import COLUMNS, Board, Bounds, Standing, board
from bench_loop.report.html import file_page
from bench_loop.report.packed_rows import facets, packed_index
from bench_loop.report.packed_run import run_detail
from bench_loop.report.packing import CHUNK, PASSED_SHARE, pack, packed_details, text_cut
from bench_loop.report.sentences import scoring_rules
from bench_loop.result.records import Aggregates, RunResult

if TYPE_CHECKING:
    from bench_loop.engine.gap import FoundGap
    from bench_loop.report.matrix_records import MatrixView

_ROWS_WITHOUT_SCRIPT = 40
"""Rows of the table that stand in the page itself; the script draws all of them on demand."""

_SCRIPTS = ("unpack", "elements", "choice", "board", "heat", "model", "trials", "run", "main")


def dashboard(results: Sequence[RunResult]) -> str:
    """One self-contained HTML page: all runs in a table, a heatmap and charts; each when opened.

    Style, fonts, script and records are inside, nothing is loaded from anywhere, and the page's
    own policy forbids any script but the one that came with it. Records are packed once and drawn
    when they come into view. Of so many runs that their texts would not fit, long texts keep
    their beginning and end.
    """
    newest_first = sorted(results, key=lambda result: result.finished_at, reverse=True)
    whole = board([standing(result) for result in newest_first])
    cut = text_cut(newest_first, run_detail)
    details = packed_details(
        (run_detail(result, _gap(result, newest_first)) for result in newest_first), cut
    )
    return file_page(
        "report/dashboard.html",
        {
            "board": _first_rows(whole),
            "columns": COLUMNS,
            "run_count": figures.counted(len(newest_first), "run"),
            "index": pack(packed_index(newest_first, whole, CHUNK)),
            "details": details,
            "cuts": [figures.count(cut), figures.count(cut // PASSED_SHARE)]
            if cut // PASSED_SHARE < _longest(newest_first)
            else None,
            "facets": facets(newest_first).items(),
            "matrices": _matrices(newest_first),
            "scoring_versions": sorted({views.one_line(r.scoring_version) for r in results}),
            "profiles": sorted({result.profile for result in results}),
            "latest": figures.moment(newest_first[0].finished_at) if newest_first else None,
            "rules": scoring_rules(),
        },
        _SCRIPTS,
    )


def _longest(results: Sequence[RunResult]) -> int:
    outputs = (len(trial.output or "") for result in results for trial in result.trials)
    return max(outputs, default=0)


def _first_rows(whole: Board) -> Board:
    groups, left = [], _ROWS_WITHOUT_SCRIPT
    for group in whole.groups:
        if left > 0:
            groups.append(replace(group, rows=group.rows[:left]))
            left -= len(group.rows)
    return replace(whole, groups=tuple(groups))


def _gap(result: RunResult, results: Sequence[RunResult]) -> FoundGap | None:
    """The gap of a fresh run to its frozen one; of all others there is none."""
    if result.settings.fresh_seed is None:
        return None
    from bench_loop.engine.gap import gap_among

    return gap_among(result, results)


def _matrices(results: Sequence[RunResult]) -> list[tuple[str, MatrixView]]:
    """The matrices of which more than one arm is there, each with its name."""
    arms: dict[str, list[RunResult]] = {}
    for result in reversed(results):
        if result.matrix:
            arms.setdefault(result.matrix.matrix_id, []).append(result)
    if not arms:
        return []
    from bench_loop.programs.matrices import matrix_of_runs
    from bench_loop.report.matrix import matrix_view

    several = [(name, own) for name, own in arms.items() if len(own) > 1]
    return [(name, matrix_view(matrix_of_runs(own))) for name, own in reversed(several)]


def standing(result: RunResult) -> Standing:
    """A run's place in the dashboard's table. Bands need a league, so there are none here."""
    generation = views.generation_figure(result.speed)
    ttft = views.ttft_figure(result.speed)
    speed = result.speed
    return Standing(
        href=f"#{result.run_id}",
        stack=views.stack_name(result),
        profile=result.profile,
        league=league_of(result),
        finished_at=result.finished_at,
        scores=_scores(result.aggregates),
        generation=(speed.generation_tps.median, generation)
        if generation and speed and speed.generation_tps
        else None,
        ttft=(speed.ttft_s.median, ttft) if ttft and speed and speed.ttft_s else None,
        answers_per_minute=result.aggregates.answers_per_minute,
        not_ranked=views.not_ranked_reason(result),
    )


def _scores(scores: Aggregates) -> dict[str, tuple[float, Bounds]]:
    pairs = {
        "overall": (scores.overall_score, scores.overall_score_interval),
        "quality": (scores.quality_score, scores.quality_score_interval),
        "speed": (scores.speed_score, scores.speed_score_interval),
        "reliability": (scores.reliability_score, scores.reliability_score_interval),
        "value": (scores.value_score, scores.value_score_interval),
    }
    return {name: (value, bounds) for name, (value, bounds) in pairs.items() if value is not None}
