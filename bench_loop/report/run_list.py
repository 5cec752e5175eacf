"""The list of runs, in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench_loop.console import clean, in_signs, signs, width
from bench_loop.engine.stored import StoredRun
from bench_loop.report import figures, views

TAIL = 10
"""Characters at the end of a run id that name the run."""
HEADS = ("run", "started", "model", "profile", "state", "quality", "tok/s")
NUMBERS = ("quality", "tok/s")
STATE_STYLES = {"complete": "pass", "running": "figure", "damaged": "fail"}


def print_runs(runs: Sequence[StoredRun], screen: Console) -> None:
    """One line for each run; what is wrong with a damaged one stands below."""
    if not runs:
        screen.print("There are no runs yet. bench-loop quickstart makes one.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="basis")
    for head in HEADS:
        is_model = head == "model"
        table.add_column(
            head,
            justify="right" if head in NUMBERS else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if is_model else None,
            min_width=None if is_model else len(head),
        )
    for run in runs:
        table.add_row(*(in_signs(cell, signs(screen)) for cell in _cells(run)))
    screen.print(table, width=width(screen))
    for run in runs:
        if run.damage:
            screen.print()
            screen.print(Text(clean(run.damage), style="fail"), width=width(screen))


def _cells(run: StoredRun) -> list[Text]:
    result = run.result
    state = Text(run.state, style=STATE_STYLES.get(run.state, "partial"))
    name = Text(run.run_id[-TAIL:])
    if result is None:
        return [name, Text(figures.UNKNOWN), Text(figures.UNKNOWN), Text(), state, Text(), Text()]
    quality = views.score_figure(result.aggregates.quality_score, None)
    speed = views.generation_figure(result.speed)
    model = " ".join(filter(None, (result.subject.model_id, result.subject.quantization)))
    return [
        name,
        Text(f"{result.started_at:%Y-%m-%d %H:%M}"),
        Text(clean(model)),
        Text("imported" if result.imported else result.profile),
        state,
        Text(quality.value if quality else figures.UNKNOWN),
        Text(speed.value if speed else figures.UNKNOWN),
    ]


def runs_json(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """The same for a program to read; figures are unrounded, unknown is null."""
    return [_run_json(run) for run in runs]


def _run_json(run: StoredRun) -> dict[str, Any]:
    result = run.result
    speed = result.speed.generation_tps if result and result.speed else None
    return {
        "run_id": run.run_id,
        "state": run.state,
        "reason": run.damage or (result.status_reason if result else None),
        "started_at": result.started_at.isoformat() if result else None,
        "model_id": result.subject.model_id if result else None,
        "quantization": result.subject.quantization if result else None,
        "profile": result.profile if result else None,
        "trials": len(result.trials) if result else None,
        "quality_score": result.aggregates.quality_score if result else None,
        "overall_score": result.aggregates.overall_score if result else None,
        "generation_tps": speed.median if speed else None,
        "journal": str(run.folder) if run.folder else None,
        "file": str(run.file) if run.file else None,
    }
