"""Markdown for the pages that are written by scripts."""

from __future__ import annotations

from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    lines = [list(head), ["---"] * len(list(head)), *rows]
    return "\n".join(f"| {' | '.join(map(one_line, line))} |" for line in lines)


def one_line(value: object) -> str:
    """As the text of a cell: no line breaks, and bars that divide no cells."""
    return " ".join(str(value).split()).replace("|", "\\|")
