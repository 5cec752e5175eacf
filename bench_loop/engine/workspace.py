"""A workspace as it is kept: every file with its hash, and its text where it has some."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from bench_loop.result.records import Artifact

_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def artifacts(files: Mapping[str, bytes]) -> tuple[Artifact, ...]:
    """The files of a workspace as a trial keeps them."""
    return tuple(
        Artifact(
            path=path,
            sha256=f"sha256:{hashlib.sha256(content).hexdigest()}",
            size_bytes=len(content),
            text=_text(content),
        )
        for path, content in sorted(files.items())
    )


def texts(kept: Sequence[Artifact]) -> dict[str, str | None]:
    """Path to text, as verdicts read it: from a run and from its file alike."""
    return {artifact.path: artifact.text for artifact in kept}


def _text(content: bytes) -> str | None:
    """None for what is not UTF-8, or holds control characters that no site would store."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if _UNSTORABLE.search(text) else text
