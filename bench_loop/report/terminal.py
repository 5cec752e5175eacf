"""The report after a run, in a terminal: the answer first, then its proof, then what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs
from bench_loop.report import figures, views
from bench_loop.report.capabilities import passed_tasks, tag_words
from bench_loop.report.gap import gap_sentences
from bench_loop.report.harness_work import harness_readings
from bench_loop.report.marks import (
    LABEL,
    VALUE,
    axis,
    cell,
    label,
    outcome_word,
    score_bar,
    sign,
    signal_path,
    tape_lines,
)
from bench_loop.report.probes import probe_readings
from bench_loop.report.progress import RunProgress
from bench_loop.report.records import Reading
from bench_loop.report.sensors import sensor_readings
from bench_loop.report.stack import PLACES, harness_label
from bench_loop.report.terminal_onward import onward_lines
from bench_loop.report.terminal_page import Page
from bench_loop.report.terminal_speed import speed_lines
from bench_loop.report.trials import passed_of, quality_trials, with_outcome
from bench_loop.result.records import Interval, RunHeader, RunResult, Trial
from bench_loop.scoring.capabilities import capability_scores

if TYPE_CHECKING:
    from bench_loop.engine.gap import FoundGap

__all__ = ["RunProgress", "print_run", "stack_nodes"]

FAILURES_SHOWN = 12
MESSAGE_LINES = 2
SPAN_STYLES = {"plain": "", "strong": "figure", "figure": "figure", "interval": "basis"}
NOTICE_STYLES = {"limit": "partial", "wrong": "fail", "information": "basis"}


def print_run(
    result: RunResult,
    console: Console,
    file: Path | None = None,
    endpoint: str | None = None,
    gap: FoundGap | None = None,
) -> None:
    """Print the report of `result`; `file` is where it was written, if the reader may ask.

    `gap` is that of a fresh run to a frozen one, where there is one.
    `endpoint` is the address that the user named: a result never holds it, the next command does.
    """
    page = Page(console, signs(console))
    judged = quality_trials(result.trials)
    sections = (
        _head(result, page),
        _lede(result, page),
        speed_lines(result.speed, page),
        _readings(harness_readings(result), page),
        _readings((*probe_readings(result), *sensor_readings(result)), page),
        _tapes(result, judged, page),
        _scores(result, judged, page),
        _gap(gap, page),
        _capabilities(judged, page),
        _losses(result, page),
        onward_lines(result, file, endpoint, page),
    )
    console.print()
    for section in sections:
        lines = list(section)
        for line in lines:
            console.print(in_signs(line, page.signs), soft_wrap=True)
        if lines:
            console.print()


def stack_nodes(header: RunHeader) -> tuple[str, ...]:
    """The nodes of a run's signal path, from the weights to the verifier."""
    subject = header.subject
    return (
        " ".join(filter(None, (subject.model_id, subject.quantization))),
        subject.provider_version or subject.provider,
        *(("gateway",) if header.settings.harness or header.matrix else ()),
        harness_label(header),
        "verifier",
    )


def _head(result: RunResult, page: Page) -> Iterator[Text]:
    """The signal path, and under it where and how was measured."""
    yield from page.prose(signal_path(stack_nodes(result), page.signs))
    took = figures.known_duration(result.total_runtime_s)
    how = "imported" if result.imported else views.profile(result.profile)
    if result.settings.fresh_seed is not None:
        how += f", fresh instances of seed {result.settings.fresh_seed}"
    count = len(result.parts or ())
    parted = f" in {count} {_parts_word(result)}, pauses left out" if count > 1 else ""
    facts = (
        views.device(result.machine),
        _window(result),
        f"{how}, {took}{parted}",
        _place(result),
    )
    yield from page.prose(Text(clean(", ".join(filter(None, facts))), style="basis"))


def _parts_word(result: RunResult) -> str:
    return "parts" if result.matrix is None else "blocks of a matrix"


def _place(result: RunResult) -> str | None:
    """Where the program of the harness ran; None: it is none."""
    harness = result.settings.harness
    return f"{result.subject.harness} ran {PLACES[harness.place]}" if harness else None


def _window(result: RunResult) -> str | None:
    context, asked = result.subject.context, result.settings.context_window
    if context and context.loaded:
        return f"window {figures.count(context.loaded)} read back"
    return None if asked is None else f"window {figures.count(asked)} asked for"


def _lede(result: RunResult, page: Page) -> Iterator[Text]:
    """The answer in a sentence, then what limits it."""
    spans = views.run_lede(result)
    sentence = Text.assemble(*((clean(span.text), SPAN_STYLES[span.kind]) for span in spans))
    sentence.rstrip()
    yield from page.prose(sentence)
    for notice in (*views.notices(result), *views.doubts(result)):
        if notice.kind != "information":
            yield from page.prose(Text(clean(notice.text), style=NOTICE_STYLES[notice.kind]))


def _readings(readings: Sequence[Reading], page: Page) -> Iterator[Text]:
    """What was found beside the scores: a line for each."""
    for reading in readings:
        yield from page.labelled(reading.name, Text(reading.value, style="basis"))


def _tapes(result: RunResult, judged: Sequence[Trial], page: Page) -> Iterator[Text]:
    """A tape for each suite in the order of running, and the counts of all outcomes as its key."""
    tapes = {
        suite.suite: [trial.outcome for trial in judged if trial.suite == suite.suite]
        for suite in result.suites
        if suite.dimension == "quality"
    }
    longest = max(map(len, tapes.values()), default=0)
    for suite, outcomes in tapes.items():
        count = passed_of(outcomes) if outcomes else figures.NOT_RUN
        cells = [cell(outcome, page.signs) for outcome in outcomes]
        yield from tape_lines(suite, cells, count, page.columns, longest=longest)
    key = Text()
    for found in views.outcome_counts((trial.outcome for trial in judged), with_zero=False):
        key.append("   " if key else "")
        key.append(sign(found.outcome, page.signs), style=found.outcome)
        key.append(f" {found.count}", style="figure").append(f" {found.word}", style="basis")
    if key:
        yield from page.prose(key, indent=0 if page.is_narrow else LABEL)


def _scores(result: RunResult, judged: Sequence[Trial], page: Page) -> Iterator[Text]:
    """The aggregates and the suites on one scale from 0 to 100, then the formula."""
    if page.plot:
        yield axis(page.plot)
    scores = result.aggregates
    intervals = (
        scores.overall_score_interval,
        scores.quality_score_interval,
        scores.speed_score_interval,
        scores.reliability_score_interval,
        scores.value_score_interval,
    )
    values = (
        scores.overall_score,
        scores.quality_score,
        scores.speed_score,
        scores.reliability_score,
        scores.value_score,
    )
    *aggregates, answers = views.stats(result, judged)
    for stat, value, interval in zip(aggregates, values, intervals, strict=True):
        yield from _score_lines(stat, value, interval, page)
    if answers.figure:
        rate = Text.assemble((str(answers.figure), "figure"), (" a minute of model time", "basis"))
        yield from page.labelled("right answers", rate)
    yield Text()
    for suite in result.suites:
        if suite.dimension == "quality":
            figure = views.score_figure(suite.score, suite.score_interval)
            stat = views.Stat(suite.suite, figure)
            yield from _score_lines(stat, suite.score, suite.score_interval, page)
    formula = views.formula(scores)
    if formula and not views.not_ranked_reason(result):
        yield Text()
        yield from page.prose(Text(formula, style="basis"))


def _gap(gap: FoundGap | None, page: Page) -> Iterator[Text]:
    """Frozen tasks against fresh ones of the same families, and how that may be read."""
    if gap is None:
        return
    sentence, reading = gap_sentences(gap)
    yield from page.prose(Text(clean(sentence)))
    yield from page.prose(Text(reading, style="basis"))


def _capabilities(judged: Sequence[Trial], page: Page) -> Iterator[Text]:
    """Of the tasks with each capability tag, how many were passed; nothing without tags."""
    shown = [
        Text.assemble((f"{tag_words(found)} ", "basis"), (passed_tasks(found), "figure"))
        for found in capability_scores(judged)
    ]
    if shown:
        yield from page.beside("tasks passed", shown)


def _score_lines(
    stat: views.Stat, value: float | None, interval: Interval | None, page: Page
) -> Iterator[Text]:
    """Name, value, bar with whisker, interval; or the words that stand in their place."""
    line = label(stat.label.lower())
    figure = stat.figure
    if figure is None or value is None:
        has_reason = stat.absence == "not ranked" and stat.basis
        words = Text(_as_clause(stat) if has_reason else stat.absence, style="basis")
        yield from page.labelled(stat.label.lower(), words)
        return
    line.append(f"{figure.value:>{VALUE - 1}} ", style="figure")
    if page.plot:
        line.append_text(score_bar(value, interval, page.signs, page.plot)).append("  ")
    yield line.append(figure.interval or "", style="basis")


def _as_clause(stat: views.Stat) -> str:
    """The sentence why there is no value, after the words that stand in its place."""
    sentence = clean(stat.basis or "").removesuffix(".")
    return f"{stat.absence}: {sentence[:1].lower()}{sentence[1:]}"


def _losses(result: RunResult, page: Page) -> Iterator[Text]:
    """What did not pass, failed trials of the speed suite included, with reason and sentence."""
    passing = ("pass", "not_applicable")
    lost = [trial for trial in with_outcome(result.trials) if trial.outcome not in passing]
    for trial in lost[:FAILURES_SHOWN]:
        style = str(trial.outcome)
        line = Text()
        line.append(f"{sign(trial.outcome, page.signs)} ", style=style)
        line.append(f"{outcome_word(trial.outcome)}  ", style=style)
        line.append(clean(trial.task_id), style="figure")
        if (result.settings.trials_of(trial.suite) or 0) > 1 and trial.suite != "speed":
            line.append(f", trial {trial.trial}")
        line.append(f"  {clean(trial.reason or '')}", style="basis")
        yield from page.prose(line, limit=MESSAGE_LINES)
        if trial.message:
            message = Text(clean(trial.message))
            yield from page.prose(message, indent=2, limit=MESSAGE_LINES)
    more = Counter(clean(trial.reason or "no reason") for trial in lost[FAILURES_SHOWN:])
    if more:
        reasons = ", ".join(f"{reason} {n}" for reason, n in more.most_common())
        yield from page.prose(Text(f"and {more.total()} more: {reasons}", style="basis"))
