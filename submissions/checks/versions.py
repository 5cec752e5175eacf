"""Versions: of BenchLoop and of the formulas."""

from __future__ import annotations

from collections.abc import Iterator

import bench_loop
from bench_loop.scoring.constants import SCORING_VERSION
from submissions.checks.finding import Finding, refused
from submissions.checks.upload import Upload


def check_versions(upload: Upload) -> Iterator[Finding]:
    """Runs of a newer BenchLoop or of other formulas cannot be checked here."""
    claimed, known = _version(upload.result.benchmark_version), _version(bench_loop.__version__)
    if claimed is None or known is None or claimed > known:
        yield refused(
            "unknown_version",
            "benchmark_version",
            f"This site checks runs of BenchLoop up to {bench_loop.__version__}.",
        )
    if upload.result.scoring_version != SCORING_VERSION:
        yield refused(
            "unknown_version",
            "scoring_version",
            f"This site computes scores of version {SCORING_VERSION}.",
        )


def _version(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in parts):
        return None
    return tuple(map(int, parts))
