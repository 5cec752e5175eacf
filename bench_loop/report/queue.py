"""A queue in the morning: one table of its models, then why some have no figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench_loop.console import NARROW, clean, in_signs, signs, width
from bench_loop.engine.queue import Queue, QueuedRun
from bench_loop.errors import ResultError
from bench_loop.names.parse import parse_model
from bench_loop.report import figures, views
from bench_loop.report.figures import Figure
from bench_loop.report.marks import wrapped
from bench_loop.result.records import PeakMemory, RunResult
from bench_loop.result.store import load

STATE_STYLES = {"complete": "pass", "failed": "fail", "skipped": "partial"}
LONGEST_MODEL = 28
"""Columns of a model's name, where the terminal has few."""


def print_queue(queue: Queue, screen: Console) -> None:
    """Print the table, and under it the reasons and findings."""
    drawn = signs(screen)
    results = [_result(run) for run in queue.runs]
    uses_overall = any(result and not views.not_ranked_reason(result) for result in results)
    table = _table(screen, "overall" if uses_overall else "quality")
    for run, result in zip(queue.runs, results, strict=True):
        cells = _cells(run, result, uses_overall=uses_overall)
        if width(screen) < NARROW:
            cells = [cells[0], cells[2], cells[3], cells[5]]
        table.add_row(*(in_signs(cell, drawn) for cell in cells))
    screen.print()
    screen.print(table)
    for line in _remarks(queue, screen):
        screen.print(in_signs(line, drawn), soft_wrap=True)
    screen.print()


def _table(screen: Console, score: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="basis", width=None)
    table.add_column("model", style="figure", max_width=LONGEST_MODEL, overflow="ellipsis")
    is_narrow = width(screen) < NARROW
    if not is_narrow:
        table.add_column("quant", no_wrap=True)
    table.add_column(score, no_wrap=True)
    table.add_column("tok/s", no_wrap=True)
    if not is_narrow:
        table.add_column("memory", no_wrap=True)
    table.add_column("state", no_wrap=True)
    return table


def _cells(run: QueuedRun, result: RunResult | None, *, uses_overall: bool) -> list[Text]:
    """Model, quantization, score with interval, tok/s, memory, state."""
    name = parse_model(run.model_id)
    quantization = name.quantization
    speed = score = memory = None
    if result is not None:
        quantization = result.subject.quantization
        scores = result.aggregates
        speed, memory = views.generation_figure(result.speed), _memory(result.peak_memory)
        if not uses_overall:
            score = _quality(result)
        elif not views.not_ranked_reason(result):
            score = views.score_figure(scores.overall_score, scores.overall_score_interval)
    texts = (quantization, score and str(score), speed and str(speed), memory)
    state = Text(run.state, style=STATE_STYLES.get(run.state, "truncated"))
    return [
        Text(clean(name.model_id)),
        *(Text(clean(text)) if text else Text(figures.UNKNOWN, style="basis") for text in texts),
        state,
    ]


def _quality(result: RunResult) -> Figure | None:
    """The quality; of hand-picked suites there is none, and a single one stands for itself."""
    scores = result.aggregates
    suites = [suite for suite in result.suites if suite.dimension == "quality"]
    if scores.quality_score is None and len(suites) == 1:
        return views.score_figure(suites[0].score, suites[0].score_interval)
    return views.score_figure(scores.quality_score, scores.quality_score_interval)


def _memory(peak: PeakMemory | None) -> str | None:
    """The memory that tells most: of the GPUs, else of the server, else of the system."""
    if peak is None:
        return None
    if peak.vram_gb is not None:
        return f"{figures.memory(peak.vram_gb)} GB GPU"
    return None if peak.ram_gb is None else f"{figures.memory(peak.ram_gb)} GB"


def _remarks(queue: Queue, screen: Console) -> Iterator[Text]:
    for run in queue.runs:
        sentences = ([run.reason] if run.reason else []) + list(run.findings)
        for sentence in sentences:
            name = clean(parse_model(run.model_id).model_id)
            remark = Text.assemble((name, "figure"), f"  {clean(sentence)}")
            yield from wrapped(remark, screen)


def _result(run: QueuedRun) -> RunResult | None:
    """The result of a run; None where there is none, or its file is gone or was changed."""
    if run.result_file is None:
        return None
    try:
        return load(Path(run.result_file))
    except ResultError:
        return None


def queue_line(queue: Queue) -> str:
    """The queue as one line of JSON, after the events of its runs."""
    runs = [run.model_dump(mode="json") for run in queue.runs]
    return json.dumps({"event": "queue_ended", "queue_id": queue.queue_id, "runs": runs})
