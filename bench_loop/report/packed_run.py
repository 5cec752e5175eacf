"""One run as the record that the dashboard's script draws when a reader opens it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.report import figures
from bench_loop.report.capabilities import capability_readings
from bench_loop.report.command_line import command_line
from bench_loop.report.figures import Figure
from bench_loop.report.gap import gap_sentences
from bench_loop.report.printable import one_line, printable
from bench_loop.report.readings import machine_readings, provenance, settings_readings
from bench_loop.report.records import OUTCOME_WORDS, Notice, Reading, Span, SuiteRow
from bench_loop.report.run import stats
from bench_loop.report.sensors import sensor_readings
from bench_loop.report.sentences import doubts, formula, notices, run_lede
from bench_loop.report.signal_path import signal_path
from bench_loop.report.speed import speed_view
from bench_loop.report.stack import quality_suites, title
from bench_loop.report.trials import (
    passages,
    quality_trials,
    suite_row,
    trial_readings,
    with_outcome,
)
from bench_loop.result.records import RunResult, Speed, Trial

if TYPE_CHECKING:
    from bench_loop.engine.gap import FoundGap

Json = object
Pair = list[str]


@dataclass(frozen=True, slots=True)
class TrialTexts:
    """What was said in one trial: who, text and, of thinking, a mark."""

    task: str
    is_pass: bool
    passages: list[list[str]]


@dataclass(frozen=True, slots=True)
class RunDetail:
    """`record` is drawn when the run is opened; `texts` are of its trials, in their order."""

    record: dict[str, Json]
    texts: list[TrialTexts]


def run_detail(result: RunResult, gap: FoundGap | None = None) -> RunDetail:
    """The run with every trial."""
    judged = quality_trials(result.trials)
    shown = with_outcome(result.trials)
    found = (*notices(result), *doubts(result), *_gap_notices(gap))
    record: dict[str, Json] = {
        "id": result.run_id,
        "title": title(result.subject, result.machine),
        "about": [result.profile, result.status, figures.moment(result.started_at)],
        "took": figures.known_duration(result.total_runtime_s),
        "lede": spans(run_lede(result)),
        "notices": [[one.kind, one.text] for one in found],
        "stats": [
            [one.label, figure(one.figure), one.unit, one.basis, one.absence]
            for one in stats(result, judged)
        ],
        "formula": None if not_ranked_reason(result) else formula(result.aggregates),
        "scoring": one_line(result.scoring_version),
        "path": [
            [node.kind, node.name, list(node.readings), node.is_probe, node.harness_shape]
            for node in signal_path(result, judged)
        ],
        "suites": [_suite(suite_row(one, result.trials)) for one in quality_suites(result)],
        "capabilities": pairs(capability_readings(judged)),
        "trials": [_trial(trial) for trial in shown],
        "speed": _speed(result.speed) if result.speed else None,
        "settings": pairs(settings_readings(result)),
        "machine": pairs((*machine_readings(result.machine), *sensor_readings(result))),
        "provenance": pairs(provenance(result)),
        "command": command_line(result),
    }
    texts = [
        TrialTexts(f"{trial.suite}/{trial.task_id}", trial.outcome == "pass", _passages(trial))
        for trial in shown
    ]
    return RunDetail(record, texts)


def pairs(readings: Sequence[Reading]) -> list[Pair]:
    """Names and values."""
    return [[reading.name, reading.value] for reading in readings]


def spans(found: Sequence[Span]) -> list[Pair]:
    """A sentence: kinds and texts."""
    return [[span.kind, span.text] for span in found]


def figure(found: Figure | None) -> list[str | None] | None:
    """Value, interval and full value as text; None where nothing is known."""
    return None if found is None else [found.value, found.interval, found.exact]


def _gap_notices(gap: FoundGap | None) -> tuple[Notice, ...]:
    if gap is None:
        return ()
    return (Notice("information", one_line(" ".join(gap_sentences(gap)), 600)),)


def _suite(row: SuiteRow) -> list[Json]:
    bar = row.bar
    return [
        row.suite,
        row.version,
        row.tasks,
        row.trials_each,
        figure(row.score),
        [bar.length, bar.whisker] if bar else None,
        [[one.outcome, one.word, one.count] for one in row.outcomes],
        [row.diagnostic, row.finished, row.pass_cubed, row.latency],
        [[one.outcome, one.x, one.width] for one in row.segments],
    ]


def _trial(trial: Trial) -> list[Json]:
    assert trial.outcome is not None  # by with_outcome
    firsts = [t for t in (trial.t_first_thinking_s, trial.t_first_answer_s) if t is not None]
    return [
        one_line(trial.suite),
        one_line(trial.task_id),
        trial.trial,
        trial.outcome,
        OUTCOME_WORDS[trial.outcome],
        one_line(trial.reason) if trial.reason else None,
        printable(trial.message) if trial.message else None,
        ", ".join(filter(None, (trial.difficulty, trial.verifier_type))),
        None if trial.latency_s is None else f"{figures.seconds(trial.latency_s)} s",
        [min(firsts), trial.t_last_s] if firsts and trial.t_last_s is not None else None,
        pairs(trial_readings(trial)),
    ]


def _speed(speed: Speed) -> dict[str, Json]:
    view = speed_view(speed, ())
    return {
        "plan": view.plan,
        "basis": view.basis,
        "findings": list(view.findings),
        "rows": [
            [row.name, row.unit, figure(row.figure), row.mean, row.peak, row.stdev, row.n]
            for row in view.rows
        ],
        "shapes": [
            [
                f"{shape.prompt} × {shape.output}",
                *(shape.generation, shape.prompt_rate, shape.ttft, shape.latency, shape.n),
            ]
            for shape in view.shapes
        ],
        "loads": [
            [table.title, [list(head) for head in table.heads], [list(row) for row in table.rows]]
            for table in view.loads
        ],
    }


def _passages(trial: Trial) -> list[list[str]]:
    return [
        [one.who, one.text, *(["thinking"] if one.is_thinking else [])] for one in passages(trial)
    ]
