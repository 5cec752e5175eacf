"""Imports: what another tool measured."""

from __future__ import annotations

from collections.abc import Iterator

from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload


def check_import(upload: Upload) -> Iterator[Finding]:
    """A person looks at every import: it has no trials from which it could be computed again."""
    result = upload.result
    if result.imported is None:
        return
    yield needs_review(
        "imported",
        "imported",
        f"Not ranked, imported: {result.imported.tool} measured it, not BenchLoop.",
    )
    if result.trials:
        yield refused("imported", "trials", "An imported result has no trials.")
    for sentence in result.imported.findings:
        yield needs_review("import_contradiction", "imported.findings", sentence)
