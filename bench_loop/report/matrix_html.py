"""A matrix as one HTML file, which works from disk without a network."""

from __future__ import annotations

from pathlib import Path

from bench_loop.report.html import file_page
from bench_loop.report.matrix import matrix_view
from bench_loop.scoring.constants import SCORING_VERSION
from bench_loop.scoring.matrix import Matrix


def matrix_html(matrix: Matrix) -> str:
    """The page; style, fonts and script are inside."""
    context = {"matrix": matrix_view(matrix), "scoring_version": SCORING_VERSION}
    return file_page("report/matrix.html", context)


def write_matrix_html(matrix: Matrix, file: Path) -> None:
    """Write the page to `file`. Raises OSError where that cannot be done."""
    file.write_text(matrix_html(matrix), encoding="utf-8")
