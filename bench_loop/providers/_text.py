"""Makes text and numbers that come from a server safe to keep: they may be anything."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

MAX_COUNT = 2**53 - 1
MAX_SECONDS = 1e9
LONGEST_LABEL = 80
LONGEST_ID = 500
MOST_MODELS = 1000
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def storable(text: str) -> str:
    """`text` with lone surrogates and control characters replaced by U+FFFD.

    So any file, database and site can hold it; tab and line breaks stay.
    Halves of a surrogate pair that arrived apart are joined first.
    """
    if text.isprintable():  # as nearly every token is
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSTORABLE.sub("\ufffd", joined)


def shown(text: str, limit: int = 300) -> str:
    """`text` as one line of at most `limit` characters, for a message to a person."""
    line = _CONTROL.sub(" ", storable(text)).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def parse_json(data: str | bytes) -> Any:
    """The JSON value in `data`; ValueError for anything else, however deeply nested."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def as_dict(value: Any) -> dict[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """The JSON objects in the list `value`; none when it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """`value` if it is a string with something in it, made storable."""
    return storable(value) if isinstance(value, str) and value else None


def as_label(value: Any) -> str | None:
    """`value` if it is a string with something in it, as one short line: a version, a title."""
    return (shown(value, LONGEST_LABEL) or None) if isinstance(value, str) else None


def nameable(listing: Any, *keys: str) -> list[dict[str, Any]]:
    """The first models in `listing` by whose name, under one of `keys`, a person can ask for them.

    Ids of megabytes, and lists of more models than anyone has, are nobody's.
    """
    names = ((entry, next(filter(None, map(entry.get, keys)), None)) for entry in as_dicts(listing))
    known = (entry for entry, name in names if isinstance(name, str) and len(name) <= LONGEST_ID)
    return list(islice(known, MOST_MODELS))


def as_texts(value: Any) -> tuple[str, ...] | None:
    """The strings in the list `value`, each once; None when it is no list."""
    if not isinstance(value, list):
        return None
    return tuple(dict.fromkeys(filter(None, map(as_text, value))))


def as_count(value: Any) -> int | None:
    """`value` if it is a count that a result can hold, else None."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if is_count else None


def as_seconds(value: Any, per_second: float) -> float | None:
    """`value`, of which `per_second` make a second; None unless a result can hold it."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        seconds = value / per_second
    except OverflowError:
        return None
    return seconds if 0 <= seconds <= MAX_SECONDS else None
