"""Artifacts: their paths stay inside the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from submissions.checks.finding import Finding, refused
from submissions.checks.upload import Upload


def check_artifacts(upload: Upload) -> Iterator[Finding]:
    """Artifacts are named by relative paths that stay inside the workspace."""
    for index, trial in enumerate(upload.result.trials):
        for number, artifact in enumerate(trial.artifacts):
            if not is_safe_path(artifact.path):
                yield refused(
                    "unsafe_path",
                    f"trials[{index}].artifacts[{number}].path",
                    "This must be a relative path inside the workspace, with forward slashes.",
                )


def is_safe_path(text: str) -> bool:
    path = PurePosixPath(text)
    is_relative = not path.is_absolute() and not re.match(r"[A-Za-z]:", text) and "\\" not in text
    return bool(text) and is_relative and ".." not in path.parts
