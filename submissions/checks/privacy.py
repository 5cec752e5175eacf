"""Privacy: what points to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bench_loop.privacy import private_kind
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload

HOME_PATH = re.compile(
    r"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)(?!(?:user|username|you|me|USER)\b)\w"
)


def check_privacy(upload: Upload) -> Iterator[Finding]:
    """Home folders, keys and addresses point to people.

    Outside of what a model or a server wrote they are refused, else shown to a moderator.
    """
    document = upload.result.model_dump(mode="json", exclude={"aggregates", "speed", "suites"})
    for path, text in _texts(document, ""):
        kind = "home folder" if HOME_PATH.search(text) else private_kind(text)
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
