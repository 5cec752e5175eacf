"""The fingerprint: it follows from the content."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.result.fingerprint import fingerprint
from submissions.checks.finding import Finding, refused
from submissions.checks.upload import Upload


def check_fingerprint(upload: Upload) -> Iterator[Finding]:
    """The fingerprint follows from what was measured."""
    if upload.result.fingerprint != fingerprint(upload.result):
        yield refused(
            "fingerprint_mismatch",
            "fingerprint",
            "The fingerprint does not belong to this content; the file was changed after the run.",
        )
