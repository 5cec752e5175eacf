"""Privacy: what points to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bench_loop.engine.official_text import official_text
from bench_loop.privacy import has_home, private_kind
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload


def check_privacy(upload: Upload) -> Iterator[Finding]:
    """Home folders, keys and addresses point to people, but for those that tasks themselves name.

    Outside of what a model or a server wrote they are refused, else shown to a moderator.
    """
    document = upload.result.model_dump(mode="json", exclude={"aggregates", "speed", "suites"})
    official = official_text(upload.result, upload.packs)
    for path, text in _texts(document, ""):
        public = official.get(path.partition(".")[0], "")
        kind = "home folder" if has_home(text, public) else private_kind(text, public)
        if kind is None:
            continue
        if _FOREIGN_WORDS.search(path):
            yield needs_review("private", path, f"This holds a {kind}; a person may be meant.")
        else:
            yield refused("private", path, f"This holds a {kind}; leave it out before submitting.")


_FOREIGN_WORDS = re.compile(
    r"^trials\[\d+\]\.((output|thinking|answer|message|artifacts\[\d+\]\..*)$"
    r"|(requests\[\d+\]\.)?tool_calls\[\d+\]\.(name|arguments)$|requests\[\d+\]\.error$"
    r"|harness\.(diff|failure|said.*|files_changed\[\d+\])$)"
)
"""Paths of what a model, a harness or a server wrote: nobody chose to put it there.

Not a transcript, which holds what tools said of the machine.
"""


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text with its path. A key counts as a text of the object that has it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield path, name
            yield from _texts(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
