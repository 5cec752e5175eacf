"""Cells of CSV: names from strangers that change nothing but their own cell."""

from __future__ import annotations

from bench_loop.report.printable import one_line

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet takes a text that begins so for a formula, some the full-width signs too."""

LONGEST_CELL = 400

Value = str | float | int | bool | None


def csv_cell(value: Value) -> Value:
    """Numbers as they are; of a text one line, which no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    line = one_line(value, LONGEST_CELL)
    return f"'{line}" if line.lstrip().startswith(FORMULA) else line
