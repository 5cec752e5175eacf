"""A matrix as CSV: a line for each model, harness and suite, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from bench_loop.report.spreadsheet import Value, harmless
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.matrix import Cell, Matrix, MatrixHarness, MatrixModel

COLUMNS = (
    *("model", "quantization", "harness", "harness_version", "configuration", "suite", "state"),
    *("score", "score_low", "score_high", "tasks", "trials", "pass_cubed"),
    *("change", "change_low", "change_high", "verdict", "reason"),
)


def matrix_csv(matrix: Matrix) -> str:
    """Unknown is empty. Names are made harmless for spreadsheets."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    for (model, harness, suite), cell in matrix.cells.items():
        lines.writerow(map(harmless, _line(matrix, model, harness, suite, cell)))
    return text.getvalue()


def _line(
    matrix: Matrix, model: MatrixModel, harness: MatrixHarness, suite: str, cell: Cell
) -> Iterator[Value]:
    yield from (model.model_id, model.quantization, harness.name, harness.version)
    yield from (harness.configuration, suite, cell.state)
    yield from _estimate(cell.score)
    yield from (cell.task_count, cell.trial_count)
    yield cell.pass_cubed.value if cell.pass_cubed else None
    pair = matrix.against_raw.get((model, harness))
    found = pair.suites.get(suite) if pair else None
    yield from (found.difference, found.low, found.high) if found else (None, None, None)
    yield found.verdict if found else None
    yield cell.reason


def _estimate(found: Estimate | None) -> tuple[Value, Value, Value]:
    return (found.value, found.low, found.high) if found else (None, None, None)
