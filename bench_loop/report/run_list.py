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
from bench_loop.result.records import RunResult

TAIL = 10
"""Characters at the end of a run id that name the run."""
WIDE = 100
"""From so many columns on there is room for all of a run; below, what matters most stays whole."""
NARROW = 72
"""Below so many, the day goes too: the run ids stand in its order."""
LONGEST_WIDTH = 120
HEADS = ("run", "started", "model", "harness", "profile", "state", "trials", "quality", "tok/s")
WIDE_ONLY = frozenset({"profile", "trials"})
NUMBERS = ("trials", "quality", "tok/s")
STATE_STYLES = {"complete": "pass", "running": "figure", "damaged": "fail"}


def print_runs(runs: Sequence[StoredRun], screen: Console) -> None:
    """One line for each run; what is wrong with a damaged one stands below."""
    if not runs:
        screen.print("There are no runs yet. bench-loop quickstart makes one.")
        return
    columns = min(screen.width, LONGEST_WIDTH)
    heads = _heads(columns, runs)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="basis")
    for head in heads:
        table.add_column(
            head,
            justify="right" if head in NUMBERS else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=None if head != "model" else _room(columns, runs, heads),
        )
    for run in runs:
        cells = _cells(run, is_wide=columns >= WIDE)
        table.add_row(*(in_signs(cells[head], signs(screen)) for head in heads))
    screen.print(table, width=columns)
    for run in runs:
        if run.damage:
            screen.print()
            screen.print(Text(clean(run.damage.message), style="fail"), width=width(screen))


def _heads(columns: int, runs: Sequence[StoredRun]) -> list[str]:
    """The columns that have room; the harness only where one of the runs is in another than raw."""
    left_out = set() if columns >= WIDE else set(WIDE_ONLY)
    if columns < NARROW:
        left_out.add("started")
    if all(run.result is None or run.result.subject.harness == "raw" for run in runs):
        left_out.add("harness")
    return [head for head in HEADS if head not in left_out]


def _room(columns: int, runs: Sequence[StoredRun], heads: Sequence[str]) -> int:
    """Columns that are left for the model: it alone is shortened."""
    cells = [_cells(run, is_wide=columns >= WIDE) for run in runs]
    others = [head for head in heads if head != "model"]
    taken = sum(max(len(head), *(len(row[head]) for row in cells)) + 2 for head in others)
    return max(columns - taken - 2, len("model"))


def _cells(run: StoredRun, *, is_wide: bool) -> dict[str, Text]:
    """What stands under each head; where the terminal is narrow, the day alone."""
    unknown = Text(figures.UNKNOWN, style="basis")
    result = run.result
    state = Text(run.state, style=STATE_STYLES.get(run.state, "partial"))
    cells = dict.fromkeys(HEADS, unknown) | {"run": Text(run.run_id[-TAIL:]), "state": state}
    if result is None:
        return cells
    quality = views.score_figure(result.aggregates.quality_score, None)
    speed = views.generation_figure(result.speed)
    model = " ".join(filter(None, (result.subject.model_id, result.subject.quantization)))
    cells["started"] = Text(f"{result.started_at:{'%Y-%m-%d %H:%M' if is_wide else '%Y-%m-%d'}}")
    if result.imported and run.state == "complete":
        cells["state"] = Text("imported", style="basis")
    cells["model"] = Text(clean(model))
    cells["harness"] = Text(clean(result.subject.harness))
    cells["profile"] = unknown if result.imported else Text(_profile(result))
    cells["trials"] = Text(figures.count(len(result.trials))) if result.trials else unknown
    cells["quality"] = Text(quality.value) if quality else unknown
    cells["tok/s"] = Text(speed.value) if speed else unknown
    return cells


def _profile(result: RunResult) -> str:
    """With what makes its tasks others than those of the profile."""
    if any(suite.is_private for suite in result.suites):
        return f"{result.profile}, private"
    return result.profile if result.settings.fresh_seed is None else f"{result.profile}, fresh"


def runs_json(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """The same for a program to read; figures are unrounded, unknown is null."""
    return [_run_json(run) for run in runs]


def _run_json(run: StoredRun) -> dict[str, Any]:
    result = run.result
    speed = result.speed.generation_tps if result and result.speed else None
    return {
        "run_id": run.run_id,
        "state": run.state,
        "reason": run.damage.message if run.damage else (result.status_reason if result else None),
        "started_at": result.started_at.isoformat() if result else None,
        "model_id": result.subject.model_id if result else None,
        "quantization": result.subject.quantization if result else None,
        "harness": result.subject.harness if result else None,
        "profile": result.profile if result else None,
        "fresh_seed": result.settings.fresh_seed if result else None,
        "private_suites": [suite.suite for suite in result.suites if suite.is_private]
        if result
        else [],
        "trials": len(result.trials) if result else None,
        "quality_score": result.aggregates.quality_score if result else None,
        "overall_score": result.aggregates.overall_score if result else None,
        "generation_tps": speed.median if speed else None,
        "journal": str(run.folder) if run.folder else None,
        "file": str(run.file) if run.file else None,
    }
