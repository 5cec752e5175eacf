"""The speed suite as text, with all its raw figures."""

from __future__ import annotations

from collections.abc import Sequence

from bench_loop.report import figures
from bench_loop.report.figures import UNKNOWN
from bench_loop.report.printable import one_line
from bench_loop.report.records import LoadTable, ShapeRow, SpeedRow, SpeedTrialRow, SpeedView
from bench_loop.report.stack import spread_figure
from bench_loop.result.records import ShapeSpeed, Speed, Spread, Trial
from bench_loop.scoring.load import is_sustained
from bench_loop.scoring.rates import engine_rate, ttft_s


def speed_view(speed: Speed, trials: Sequence[Trial]) -> SpeedView:
    """The speed suite with all its raw figures."""
    quantities = (
        ("Generation", "tok/s", speed.generation_tps),
        ("Prompt", "tok/s", speed.prompt_tps),
        ("TTFT", "s", speed.ttft_s),
        ("TTFA", "s", speed.ttfa_s),
        ("Load", "s", speed.load_s),
    )
    measured = [t for t in trials if t.suite == "speed" and not is_sustained(t.task_id)]
    bases = {spread.basis for _, _, spread in quantities if spread and spread.basis}
    return SpeedView(
        plan=speed.plan or "of another tool",
        rows=tuple(_speed_row(name, unit, spread) for name, unit, spread in quantities if spread),
        shapes=tuple(_shape_row(shape) for shape in speed.shapes),
        trials=tuple(_speed_trial_row(trial) for trial in measured),
        findings=tuple(one_line(finding) for finding in speed.findings),
        basis=", ".join(sorted(basis.replace("_", " ") for basis in bases))
        or ("client clocks" if speed.plan else "not stated"),
        loads=load_tables(speed),
    )


def load_tables(speed: Speed) -> tuple[LoadTable, ...]:
    """What was measured beyond single short requests; nothing of what was not."""
    tables = (_curve(speed), _concurrency(speed), _sustained(speed), _gaps(speed))
    return tuple(table for table in tables if table is not None)


def _curve(speed: Speed) -> LoadTable | None:
    if speed.curve is None:
        return None
    return LoadTable(
        "Filled window",
        (("window", ""), ("gen.", "tok/s"), ("prompt", "tok/s"), ("TTFT", "s")),
        tuple(
            (
                figures.tokens(point.context_tokens),
                _median(point.generation_tps),
                _median(point.prompt_tps),
                _median(point.ttft_s),
            )
            for point in speed.curve
        ),
    )


def _concurrency(speed: Speed) -> LoadTable | None:
    if speed.concurrency is None:
        return None
    return LoadTable(
        "Streams at once",
        (
            ("streams", ""),
            ("together", "tok/s"),
            ("each", "tok/s"),
            ("TTFT", "s"),
            ("queue", "s"),
            ("failed", ""),
        ),
        tuple(
            (
                str(point.streams),
                UNKNOWN
                if point.aggregate_tps is None
                else figures.significant(point.aggregate_tps),
                _median(point.stream_tps),
                _median(point.ttft_s),
                _median(point.queue_wait_s),
                str(point.failed),
            )
            for point in speed.concurrency
        ),
    )


def _sustained(speed: Speed) -> LoadTable | None:
    load = speed.sustained
    if load is None:
        return None
    return LoadTable(
        "Sustained load",
        (("for", ""), ("first tenth", "tok/s"), ("last tenth", "tok/s"), ("kept", "")),
        (
            (
                figures.duration(load.duration_s),
                figures.significant(load.first_tps),
                figures.significant(load.last_tps),
                figures.percent(load.ratio),
            ),
        ),
    )


def _gaps(speed: Speed) -> LoadTable | None:
    gaps = speed.token_gap_s
    if gaps is None:
        return None
    in_ms = (gaps.p50_s, gaps.p95_s, gaps.p99_s)
    return LoadTable(
        "Pauses",
        (("p50", "ms"), ("p95", "ms"), ("p99", "ms")),
        (tuple(figures.significant(1000 * pause) for pause in in_ms),),
    )


def _speed_row(name: str, unit: str, spread: Spread) -> SpeedRow:
    return SpeedRow(
        name=name,
        unit=unit,
        figure=spread_figure(spread),
        mean=figures.significant(spread.mean),
        peak=figures.significant(spread.peak),
        stdev=UNKNOWN if spread.stdev is None else figures.deviation(spread.stdev, spread.mean),
        n=figures.count(spread.n),
    )


def _shape_row(shape: ShapeSpeed) -> ShapeRow:
    ns = [s.n for s in (shape.generation_tps, shape.ttft_s, shape.latency_s) if s]
    return ShapeRow(
        prompt=figures.tokens(shape.prompt_tokens),
        output=figures.tokens(shape.output_tokens),
        generation=_median(shape.generation_tps),
        prompt_rate=_median(shape.prompt_tps),
        ttft=_median(shape.ttft_s),
        latency=_median(shape.latency_s),
        n=str(max(ns)) if ns else UNKNOWN,
    )


def _median(spread: Spread | None) -> str:
    return UNKNOWN if spread is None else spread_figure(spread).value


def _speed_trial_row(trial: Trial) -> SpeedTrialRow:
    first, rate = ttft_s(trial), engine_rate(trial)
    return SpeedTrialRow(
        task=one_line(trial.task_id),
        trial="warm-up" if trial.is_warmup else str(trial.trial),
        prompt_tokens=_count(trial.tokens.prompt),
        cached_tokens=_count(trial.tokens.cached),
        completion_tokens=_count(trial.tokens.completion),
        first=UNKNOWN if first is None else figures.seconds(first),
        last=UNKNOWN if trial.t_last_s is None else figures.seconds(trial.t_last_s),
        engine=UNKNOWN if rate is None else figures.significant(rate.tps),
    )


def _count(value: int | None) -> str:
    return UNKNOWN if value is None else figures.count(value)
