"""What two requests are compared by: their bodies without what differs from one run to the next."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from bench_loop.providers._text import parse_json, shown, storable

RULES: Mapping[str, str] = {
    "uuid": r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
    "port": r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+",
    "kernel": r"\bLinux[ -]\(?\d+\.\d[\w.+-]*",
    "moment": r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?",
    "date": r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/\d{4}\b",
    "written date": r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2},? \d{4}\b",
    "weekday": r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
    "clock": r"(?<![\d.:])\d{1,2}:\d\d(?::\d\d(?:\.\d+)?(?: ?[AaPp][Mm]\b)?| ?[AaPp][Mm]\b)",
    "duration": r"\b\d+(?:\.\d+)? ?(?:ms|s|secs?|seconds?)\b",
    "id": r"\b(?:call|chatcmpl|msg|ses|prt|run|resp|toolu|fc)[_-](?=[\w-]*\d)[0-9A-Za-z_-]{3,}\b",
    "hash": r"\b[0-9a-f]{16,64}\b",
    "temporary": r"(?<![\w/.>-])/(?:private/)?(?:var/)?tmp/[^\s\"'`<>:;,)]+",
}
"""Rules by their names, as they stand; a cassette keeps those that it was recorded with.

They are used in this order, and what one matches is replaced by its name in `<>`.
"""

LONGEST_TEXT = 40
"""Characters of a text in a request that is kept as it is. A longer one is known by its digest:
most are a harness's own instructions, which are other people's words."""

_DIGEST = re.compile(r"<text of [\d,]+ characters, sha256 [0-9a-f]{16}>")
_EXCERPT = 60


class Rules:
    """Makes values comparable: first the words that the caller knows, then the patterns."""

    def __init__(self, patterns: Mapping[str, str], words: Mapping[str, str]) -> None:
        """`words` are what a name stands for in this run: a folder, a host. Raises ValueError for a
        pattern that is none.
        """
        try:
            self._patterns = {name: re.compile(text) for name, text in patterns.items()}
        except re.error as error:
            raise ValueError(f"a rule is no pattern: {error}") from None
        known = [(text, name) for name, text in words.items() if text]
        self._words = sorted(known, key=lambda pair: -len(pair[0]))

    def text(self, text: str) -> str:
        """`text` with what differs from run to run named, and able to stand in any file."""
        text = storable(text)
        for word, name in self._words:
            text = text.replace(word, f"<{name}>")
        for name, pattern in self._patterns.items():
            text = pattern.sub(f"<{name}>", text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it made comparable, but for names of fields; of a text
        that is longer than LONGEST_TEXT, or describes a tool, only its length and digest."""
        if isinstance(value, str):
            return _known_by(self.text(value))
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {
                name: _digest(self.text(item))
                if name == "description" and isinstance(item, str)
                else self.value(item)
                for name, item in value.items()
            }
        return value

    def body(self, body: bytes) -> Any:
        """A request body, as `value` leaves it: JSON where it is that, else text; None: empty."""
        if not body:
            return None
        try:
            return self.value(parse_json(body))
        except ValueError:
            return _known_by(self.text(body.decode("utf-8", "replace")))


def _known_by(text: str) -> str:
    """`text`, or what a long one is told by."""
    return text if len(text) <= LONGEST_TEXT else _digest(text)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"<text of {len(text):,} characters, sha256 {digest}>"


def first_difference(wanted: Any, got: Any, at: str = "body") -> str | None:
    """The first place where two JSON values differ, with both sides of it; None: they are equal."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return _of_objects(wanted, got, at)
    if isinstance(wanted, list) and isinstance(got, list):
        return _of_lists(wanted, got, at)
    if isinstance(wanted, str) and isinstance(got, str):
        return None if wanted == got else _of_texts(wanted, got, at)
    if type(wanted) is type(got) and wanted == got:
        return None
    return f"{at} is {_brief(got)}, recorded was {_brief(wanted)}"


def _of_objects(wanted: dict[str, Any], got: dict[str, Any], at: str) -> str | None:
    for name in [*wanted, *(name for name in got if name not in wanted)]:
        if name not in got:
            return f"{at}.{name} is missing, recorded was {_brief(wanted[name])}"
        if name not in wanted:
            return f"{at}.{name} is {_brief(got[name])}, recorded was none"
        if found := first_difference(wanted[name], got[name], f"{at}.{name}"):
            return found
    return None


_NONE = object()


def _of_lists(wanted: list[Any], got: list[Any], at: str) -> str | None:
    for number, (one, other) in enumerate(zip_longest(wanted, got, fillvalue=_NONE)):
        if one is _NONE or other is _NONE:
            extra = other if one is _NONE else one
            return f"{at} has {len(got)} items, recorded were {len(wanted)}: {_brief(extra)}"
        if found := first_difference(one, other, f"{at}[{number}]"):
            return found
    return None


def _of_texts(wanted: str, got: str, at: str) -> str:
    if _DIGEST.fullmatch(wanted) or _DIGEST.fullmatch(got):
        return f"{at} is {got!r}, recorded was {wanted!r}"
    pairs = enumerate(zip(wanted, got, strict=False))
    first = next((n for n, (a, b) in pairs if a != b), min(len(wanted), len(got)))
    start = max(0, first - _EXCERPT // 2)
    sides = (repr(text[start : start + _EXCERPT]) for text in (got, wanted))
    return f"{at} at character {first} is {next(sides)}, recorded was {next(sides)}"


def _brief(value: Any) -> str:
    return shown(repr(value), _EXCERPT * 2)
