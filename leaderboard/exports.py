"""The rows of a view as files: CSV for spreadsheets, Markdown to paste, JSON for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from bench_loop.report import figures
from bench_loop.report.board import band_text
from bench_loop.report.markdown_text import code, table_head, table_row
from bench_loop.report.spreadsheet import csv_cell
from bench_loop.scoring.constants import SCORING_VERSION
from leaderboard import board
from leaderboard.models import Entry

MOST_ROWS = 10_000
"""Rows of one file: the first ones of the view."""

Row = dict[str, Any]
Absolute = Callable[[str], str]
"""Makes an address of this site absolute."""

_OF_ENTRY = (
    *("model_id", "model_family", "parameters_b", "quantization", "thinking", "provider"),
    *("harness", "harness_version", "custom_reason", "gpu_model", "device_class"),
    *("gpu_memory_gb", "system_memory_gb", "profile", "band_low", "band_high"),
    *(f"{name}_score{end}" for name in board.SCORES for end in ("", "_low", "_high")),
    *("answers_per_minute", "generation_tps", "generation_tps_peak", "generation_tps_mean"),
    *("generation_tps_stdev", "prompt_tps", "ttft_s", "load_s", "level", "scoring_version"),
)
_OF_STACK = ("run_count", "owner_count", "uncounted_count", "withdrawn_count")

COLUMNS = (
    *("model", "model_name", *_OF_ENTRY, "not_ranked_reason"),
    *(*_OF_STACK, "run_overall_low", "run_overall_high", "finished_at", "run", "url"),
)
"""Columns of CSV and JSON: the API's, flat; unrounded, and empty or null where unknown."""

HEADS = (
    *("Rank", "Model", "Quantization", "Harness", "Device", "Overall", "Quality", "Gen. tok/s"),
    *("TTFT s", "Runs", "Trust", "Run"),
)
"""Of the table in Markdown."""


def as_csv(entries: Sequence[Entry], absolute: Absolute) -> str:
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    for row in _rows(entries, absolute):
        lines.writerow(csv_cell(row[name]) for name in COLUMNS)
    return text.getvalue()


def as_json(entries: Sequence[Entry], absolute: Absolute, address: str, *, is_cut: bool) -> str:
    """The rows with what a reader needs to find them again."""
    document = {
        "address": address,
        "scoring_version": SCORING_VERSION,
        "is_cut": is_cut,
        "rows": list(_rows(entries, absolute)),
    }
    return json.dumps(document, indent=1, allow_nan=False)


def as_markdown(entries: Sequence[Entry], absolute: Absolute, address: str, *, is_cut: bool) -> str:
    """A table with the figures of the board, and below it where they come from."""
    lines = [
        *table_head(*HEADS),
        *(table_row(_markdown_row(entry, absolute)) for entry in entries),
    ]
    cut = f" The first {MOST_ROWS:,} rows." if is_cut else ""
    source = f"[BenchLoop leaderboard]({address}), scoring {SCORING_VERSION}."
    return "\n".join([*lines, "", f"{source} In brackets: 95 % intervals.{cut}", ""])


def _rows(entries: Sequence[Entry], absolute: Absolute) -> Iterator[Row]:
    for entry in entries:
        stack = entry.stack
        assert stack is not None
        yield {
            "model": stack.model.slug,
            "model_name": stack.model.name,
            **{name: getattr(entry, name) for name in _OF_ENTRY},
            "not_ranked_reason": board.not_ranked(entry),
            **{name: getattr(stack, name) for name in _OF_STACK},
            "run_overall_low": stack.overall_low,
            "run_overall_high": stack.overall_high,
            "finished_at": _time(entry.finished_at),
            "run": entry.run.public_id,
            "url": absolute(entry.get_absolute_url()),
        }


def _markdown_row(entry: Entry, absolute: Absolute) -> Iterator[str]:
    row = board.row(entry)
    quality = row.scores.get("quality")
    assert row.repeats is not None
    yield band_text(row.band) if row.band and not row.not_ranked else "not ranked"
    for text in (
        row.stack.model,
        row.stack.quantization or "",
        " ".join(filter(None, (row.stack.harness, row.stack.harness_version))),
        row.stack.device,
    ):
        yield code(text) if text else ""
    yield str(row.overall_figure or "")
    yield str(figures.score(*quality)) if quality else ""
    for measured in (row.generation, row.ttft):
        yield str(measured[1]) if measured else ""
    yield row.repeats.counts
    yield row.trust.word if row.trust else ""
    yield f"[{entry.run.public_id}]({absolute(row.href)})"


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
