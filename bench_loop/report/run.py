"""A whole run as text: what the run page and the static dashboard print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.report import figures
from bench_loop.report.capabilities import capability_readings
from bench_loop.report.command_line import command_line
from bench_loop.report.figures import NOT_RUN
from bench_loop.report.gap import gap_sentences
from bench_loop.report.printable import one_line
from bench_loop.report.readings import machine_readings, provenance, settings_readings
from bench_loop.report.records import Notice, RunView, Stat
from bench_loop.report.sensors import sensor_readings
from bench_loop.report.sentences import doubts, formula, notices, run_lede
from bench_loop.report.signal_path import signal_path
from bench_loop.report.speed import speed_view
from bench_loop.report.stack import (
    generation_figure,
    quality_suites,
    score_figure,
    stack_name,
    title,
    ttft_figure,
)
from bench_loop.report.trials import (
    outcome_counts,
    passed_of,
    quality_trials,
    suite_row,
    suite_trials,
    tapes,
    with_outcome,
)
from bench_loop.result.records import (
    RunHeader,
    RunResult,
    Speed,
    Trial,
)
from bench_loop.scoring.aggregates import reliability_losses
from bench_loop.scoring.suites import is_scored

if TYPE_CHECKING:
    from bench_loop.engine.gap import FoundGap


def run_view(result: RunResult, gap: FoundGap | None = None) -> RunView:
    """The whole run as text; `gap` is that of a fresh run to a frozen one, where there is one."""
    judged = quality_trials(result.trials)
    return RunView(
        run_id=result.run_id,
        stack=stack_name(result),
        title=title(result.subject, result.machine),
        profile=result.profile,
        status=result.status,
        scoring_version=one_line(result.scoring_version),
        started=figures.moment(result.started_at),
        runtime=figures.known_duration(result.total_runtime_s),
        not_ranked=not_ranked_reason(result),
        lede=run_lede(result),
        notices=(*notices(result), *doubts(result), *_gap_notices(gap)),
        stats=stats(result, judged),
        formula=None if not_ranked_reason(result) else formula(result.aggregates),
        path=signal_path(result, judged),
        tapes=tapes(judged),
        outcomes=outcome_counts(trial.outcome for trial in judged),
        suites=tuple(suite_row(suite, result.trials) for suite in quality_suites(result)),
        has_pass_cubed=any(suite.pass_cubed is not None for suite in quality_suites(result)),
        capabilities=capability_readings(judged),
        trials=suite_trials(with_outcome(result.trials)),
        speed=speed_view(result.speed, result.trials) if result.speed else None,
        settings=settings_readings(result),
        machine=(*machine_readings(result.machine), *sensor_readings(result)),
        provenance=provenance(result),
        command=command_line(result),
    )


def _gap_notices(gap: FoundGap | None) -> tuple[Notice, ...]:
    if gap is None:
        return ()
    return (Notice("information", one_line(" ".join(gap_sentences(gap)), 600)),)


def stats(header: RunHeader, judged: Sequence[Trial]) -> tuple[Stat, ...]:
    """The aggregates with their ingredients; the raw figure stands beside the score."""
    scores = header.aggregates
    reason = not_ranked_reason(header)
    return (
        Stat(
            "Overall",
            score_figure(scores.overall_score, scores.overall_score_interval)
            if not reason
            else None,
            absence="not ranked",
            basis=reason or None,
        ),
        Stat(
            "Quality",
            score_figure(scores.quality_score, scores.quality_score_interval),
            absence="no score" if judged else NOT_RUN,
            basis=f"{passed_of([trial.outcome for trial in judged])} trials passed"
            if judged
            else None,
        ),
        Stat(
            "Speed",
            score_figure(scores.speed_score, scores.speed_score_interval),
            absence="no score" if header.speed else NOT_RUN,
            basis=_speed_basis(header.speed),
        ),
        Stat(
            "Reliability",
            score_figure(scores.reliability_score, scores.reliability_score_interval),
            basis=_reliability_basis(judged),
        ),
        Stat(
            "Value",
            score_figure(scores.value_score, scores.value_score_interval),
            absence="no score",
            basis="quality × speed × reliability",
        ),
        _answers_stat(header),
    )


def _answers_stat(header: RunHeader) -> Stat:
    rate = header.aggregates.answers_per_minute
    return Stat(
        "Right answers",
        None if rate is None else figures.rate(rate, None),
        unit="/min",
        basis=None
        if header.total_runtime_s is None
        else f"{figures.duration(header.total_runtime_s)} in all",
    )


def _speed_basis(speed: Speed | None) -> str | None:
    generation, ttft = generation_figure(speed), ttft_figure(speed)
    parts = [
        f"{generation} tok/s" if generation else None,
        f"TTFT {ttft.value} s" if ttft else None,
        "too few trials for a score" if speed and speed.plan == "minimum" else None,
    ]
    return ", ".join(filter(None, parts)) or None


def _reliability_basis(judged: Sequence[Trial]) -> str | None:
    """What reliability lost to, each reason with its share of the scored trials."""
    scored = [trial for trial in judged if is_scored(trial)]
    if not scored:
        return None
    losses = reliability_losses(scored).items()
    words = (f"{one_line(reason)} {figures.percent(share / 100)}" for reason, share in losses)
    return ", ".join(words) or "every answer could be read"
