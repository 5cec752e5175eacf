"""A run as Markdown, to be pasted into an issue or a model card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.report import figures
from bench_loop.report.command_line import command_line
from bench_loop.report.figures import NOT_RUN, UNKNOWN
from bench_loop.report.markdown_text import code, prose, table_head, table_row
from bench_loop.report.marks import outcome_word
from bench_loop.report.readings import machine_readings, provenance, settings_readings
from bench_loop.report.records import Reading, Span
from bench_loop.report.run import stats as run_stats
from bench_loop.report.sensors import sensor_readings
from bench_loop.report.sentences import doubts, formula, notices, run_lede
from bench_loop.report.speed import speed_view
from bench_loop.report.stack import device, harness_label, quality_suites, score_figure
from bench_loop.report.stack import profile as profile_words
from bench_loop.report.trials import of_suite, passed_of, quality_trials, with_outcome
from bench_loop.result.records import RunResult, Trial

FAILURES_SHOWN = 20


def run_markdown(result: RunResult) -> str:
    """Headings from the third level down, tables, and settings in a fold.

    Every text from outside stands in a code span, in which neither markup nor a mention works.
    """
    judged = quality_trials(result.trials)
    blocks = (
        _head(result),
        _lede(result),
        _scores(result, judged),
        _suites(result),
        _speed(result),
        _losses(result),
        _fold("Settings", settings_readings(result)),
        _fold("Machine", (*machine_readings(result.machine), *sensor_readings(result))),
        _fold("Provenance", provenance(result)),
        _again(result),
    )
    lines = [line for block in map(tuple, blocks) if block for line in (*block, "")]
    return "\n".join(lines).rstrip() + "\n"


def _head(result: RunResult) -> Iterator[str]:
    subject = result.subject
    names = [code(name) for name in (subject.model_id, subject.quantization) if name]
    yield f"### {' '.join(names)} in {code(harness_label(result))}"
    yield ""
    took = figures.known_duration(result.total_runtime_s)
    how = "imported" if result.imported else profile_words(result.profile)
    yield f"{code(device(result.machine))}, {how}, {took}, {figures.moment(result.finished_at)}"


def _lede(result: RunResult) -> Iterator[str]:
    yield "".join(map(_span, run_lede(result))).strip()
    for notice in (*notices(result), *doubts(result)):
        yield ""
        yield f"> {prose(notice.text)}"


def _span(span: Span) -> str:
    text = prose(span.text)
    return f"**{text}**" if span.kind == "strong" and text == span.text else text


def _scores(result: RunResult, judged: Sequence[Trial]) -> Iterator[str]:
    yield from table_head("", "score", "95 %", "from")
    for stat in run_stats(result, judged):
        unit = f" {stat.unit}" if stat.unit else ""
        value = f"{stat.figure.value}{unit}" if stat.figure else stat.absence
        interval = stat.figure.interval if stat.figure else None
        yield table_row((stat.label, value, interval or "", prose(stat.basis or "")))
    reckoning = formula(result.aggregates)
    if reckoning and not not_ranked_reason(result):
        yield ""
        yield reckoning


def _suites(result: RunResult) -> Iterator[str]:
    suites = quality_suites(result)
    if not suites:
        return
    yield from table_head("suite", "score", "95 %", "passed", "tasks", "median s / trial")
    for suite in suites:
        own = [trial.outcome for trial in with_outcome(of_suite(suite.suite, result.trials))]
        figure = score_figure(suite.score, suite.score_interval)
        latency = suite.median_latency_s
        yield table_row(
            (
                f"{code(suite.suite)} {code(suite.version)}",
                figure.value if figure else NOT_RUN if not own else "no score",
                (figure.interval if figure else None) or "",
                passed_of(own) if own else "",
                UNKNOWN if suite.task_count is None else figures.count(suite.task_count),
                UNKNOWN if latency is None else figures.seconds(latency),
            )
        )


def _speed(result: RunResult) -> Iterator[str]:
    if result.speed is None:
        yield f"Speed: {NOT_RUN}."
        return
    view = speed_view(result.speed, ())
    yield from table_head("speed", "median", "±, 95 %", "unit", "n")
    for row in view.rows:
        figure = row.figure
        yield table_row((row.name, figure.value, figure.interval or "", row.unit, row.n))
    for table in view.loads:
        yield ""
        yield from table_head(*(" ".join(filter(None, head)) for head in table.heads))
        yield from map(table_row, table.rows)
    findings = ", ".join(code(finding) for finding in view.findings)
    yield ""
    yield f"Tokens by {prose(view.basis)}, plan {prose(view.plan)}." + (
        f" Findings: {findings}." if findings else ""
    )


def _losses(result: RunResult) -> Iterator[str]:
    passing = ("pass", "not_applicable")
    lost = [trial for trial in with_outcome(result.trials) if trial.outcome not in passing]
    if not lost:
        return
    yield "<details><summary>What did not pass</summary>"
    yield ""
    yield from table_head("outcome", "task", "reason", "")
    for trial in lost[:FAILURES_SHOWN]:
        message = code(trial.message) if trial.message else ""
        yield table_row(
            (
                outcome_word(trial.outcome),
                code(trial.task_id) + (f", trial {trial.trial}" if trial.trial > 1 else ""),
                code(trial.reason or ""),
                message,
            )
        )
    more = Counter(trial.reason or "no reason" for trial in lost[FAILURES_SHOWN:])
    if more:
        reasons = ", ".join(f"{code(reason)} {n}" for reason, n in more.most_common())
        yield ""
        yield f"and {more.total()} more: {reasons}"
    yield ""
    yield "</details>"


def _fold(title: str, readings: Sequence[Reading]) -> Iterator[str]:
    if not readings:
        return
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from table_head("", "")
    for reading in readings:
        yield table_row((prose(reading.name), code(reading.value)))
    yield ""
    yield "</details>"


def _again(result: RunResult) -> Iterator[str]:
    yield "Run it yourself:"
    yield ""
    command = command_line(result)
    fence = "`" * max(3, max(map(len, re.findall("`+", command)), default=0) + 1)
    yield f"{fence}sh"
    yield command
    yield fence
    yield ""
    yield (
        f"Measured with BenchLoop {prose(result.benchmark_version)}, scoring "
        f"{prose(result.scoring_version)}. Intervals are 95 %. Every score can be computed again "
        "from the trials in the result file."
    )
