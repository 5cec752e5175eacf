"""The static dashboard: one HTML file with all runs, which works from disk without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import bench_loop
from bench_loop.config import bundled
from bench_loop.engine.gap import gap_among
from bench_loop.engine.ranking import league_of
from bench_loop.programs.matrices import matrix_of_runs
from bench_loop.report import figures, views
from bench_loop.report.board import COLUMNS, Bounds, Standing, board
from bench_loop.report.matrix import matrix_view
from bench_loop.report.matrix_records import MatrixView
from bench_loop.report.render import render
from bench_loop.report.sentences import scoring_rules
from bench_loop.result.records import Aggregates, RunResult

_FONT_URL = re.compile(r'url\("?(fonts/[\w.-]+\.woff2)"?\)')


def dashboard(results: Sequence[RunResult]) -> str:
    """One self-contained HTML page: a table of all runs, then each with every suite and trial.

    Style, fonts and script are inside, nothing is loaded from anywhere, and the page's own policy
    forbids any script but the one that came with it.
    """
    newest_first = sorted(results, key=lambda result: result.finished_at, reverse=True)
    return file_page(
        "report/dashboard.html",
        {
            "board": board([standing(result) for result in newest_first]),
            "columns": COLUMNS,
            "runs": [
                views.run_view(result, gap_among(result, newest_first)) for result in newest_first
            ],
            "matrices": _matrices(newest_first),
            "scoring_versions": sorted({views.one_line(r.scoring_version) for r in results}),
            "profiles": sorted({result.profile for result in results}),
            "latest": figures.moment(newest_first[0].finished_at) if newest_first else None,
            "rules": scoring_rules(),
        },
    )


def run_page(result: RunResult) -> str:
    """One self-contained HTML page of one run, with every trial and its output."""
    return file_page(
        "report/run.html", {"run": views.run_view(result), "rules": scoring_rules()}
    )


def _matrices(results: Sequence[RunResult]) -> list[tuple[str, MatrixView]]:
    """The matrices of which more than one arm is there, each with its name."""
    arms: dict[str, list[RunResult]] = {}
    for result in reversed(results):
        if result.matrix:
            arms.setdefault(result.matrix.matrix_id, []).append(result)
    several = [(name, own) for name, own in arms.items() if len(own) > 1]
    return [(name, matrix_view(matrix_of_runs(own))) for name, own in reversed(several)]


def file_page(template: str, context: Mapping[str, object]) -> str:
    """A template that extends `report/file.html`, with all that it needs inside."""
    script = _asset("dashboard.js").read_text(encoding="utf-8")
    shell = {
        "version": bench_loop.__version__,
        "stylesheet": stylesheet(),
        "script": script,
        "script_hash": _policy_hash(script),
    }
    return render(template, {**context, **shell})


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


def stylesheet() -> str:
    """The site's style sheet with its fonts inside."""
    return _FONT_URL.sub(_inlined, _asset("theme.css").read_text(encoding="utf-8"))


def _inlined(match: re.Match[str]) -> str:
    data = base64.b64encode(_asset(match[1]).read_bytes()).decode()
    return f"url(data:font/woff2;base64,{data})"


def _policy_hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _asset(name: str) -> Path:
    return bundled("benchloop_site") / "static" / "benchloop" / name
