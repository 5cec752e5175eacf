"""Texts in CSV files that a spreadsheet may open: none of them is taken for a formula."""

from __future__ import annotations

from bench_loop.report.printable import one_line

Value = str | float | int | None

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet takes a text that begins so for a formula, some the full-width signs too."""

_LONGEST = 400


def harmless(value: Value) -> Value:
    """`value` for a cell: a text on one line, with an apostrophe before what begins a formula."""
    if not isinstance(value, str):
        return value
    line = one_line(value, _LONGEST)
    return f"'{line}" if line.lstrip().startswith(_FORMULA) else line
