"""Versions: of BenchLoop and of the formulas."""

from __future__ import annotations

from collections.abc import Iterator

import bench_loop
from bench_loop.engine.ranking import version_of
from bench_loop.scoring.constants import EARLIER_SCORING_VERSIONS, SCORING_VERSION
from submissions.checks.finding import Finding, note, refused
from submissions.checks.upload import Upload


def check_versions(upload: Upload) -> Iterator[Finding]:
    """Runs of a newer BenchLoop or of unknown formulas cannot be checked here.

    Those of earlier ones are, and are kept apart (`bench_loop.engine.ranking`).
    """
    claimed = version_of(upload.result.benchmark_version)
    if not claimed or claimed > version_of(bench_loop.__version__):
        yield refused(
            "unknown_version",
            "benchmark_version",
            f"This site checks runs of BenchLoop up to {bench_loop.__version__}.",
        )
    scored = upload.result.scoring_version
    if scored in EARLIER_SCORING_VERSIONS:
        yield note(
            "earlier_version",
            "scoring_version",
            f"Scored by version {scored}: kept apart from runs of version {SCORING_VERSION}.",
        )
    elif scored != SCORING_VERSION:
        earlier = ", ".join(EARLIER_SCORING_VERSIONS)
        yield refused(
            "unknown_version",
            "scoring_version",
            f"This site computes scores of version {SCORING_VERSION}, and takes in those of "
            f"earlier ones: {earlier}.",
        )
