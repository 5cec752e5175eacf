"""Reads the one JSON or YAML document of a reply; never repairs, never guesses.

Pure; no input raises. A document that is too long, too deep or has too many parts is refused before
it costs time, so that hostile text is judged as fast as any other.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal

Surrounding = Literal["refused", "allowed"]

DEEPEST = 40
"""Levels of nesting; no contract comes near it."""
MOST_ARGUMENTS = 1000
"""Parts of the arguments of a tool call."""
LONGEST_NUMBER = 400
"""Digits of an integer; a longer one is refused."""

_FENCED = re.compile(
    r"\A {0,3}(?P<ticks>`{3,}+|~{3,}+)[^\n`]*\n(?P<body>.*\n)? {0,3}(?P=ticks)\s*\Z", re.S
)
"""The marks of a fence are taken whole: giving some back would try every number of them."""
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\r?\n)+")
_OBJECT_START = re.compile(r"(?:\[\s*)?\{\s*[\"'}]")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document, or the reason why there is none. `is_bare`: no fence, no other text."""

    value: Any = None
    reason: str | None = None
    is_bare: bool = True


class _RefusedError(ValueError):
    """A document is refused; the first argument is the reason."""


def read_json(text: str, surrounding: Surrounding, most_parts: int) -> Document:
    """The one JSON value of `text`, which has no thinking in it any more.

    One fence around the whole is taken off. With `surrounding` "allowed" the one object in the
    prose is found too. Reasons: `empty_answer`, `invalid_json`, `duplicate_key`, `non_finite`,
    `extra_text`, `multiple_values`, `no_json`, `too_large`.
    """
    text = text.strip().lstrip("\ufeff").strip()
    body, is_bare = _unfenced(text)
    body = body.strip()
    if not body:
        return Document(reason="empty_answer", is_bare=is_bare)
    try:
        value = _decode_whole(body)
    except _RefusedError as error:
        if str(error) not in {"invalid_json", "extra_text"}:
            return Document(reason=str(error), is_bare=is_bare)
        found = _json_in_prose(text, most_parts)
        is_found = found.reason is None and surrounding == "refused"
        return Document(reason="extra_text", is_bare=False) if is_found else found
    return _bounded(Document(value, is_bare=is_bare), most_parts)


def parse_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that `text` is, without any fence; None: it is none, or far too large."""
    try:
        value = _decode_whole(text.strip())
    except _RefusedError:
        return None
    is_kept = isinstance(value, dict) and _bounded(Document(value), MOST_ARGUMENTS).reason is None
    return value if is_kept else None


def _unfenced(text: str) -> tuple[str, bool]:
    fenced = _FENCED.match(text)
    return (fenced["body"] or "", False) if fenced else (text, True)


def _decode_whole(text: str) -> Any:
    value, end = _decode(text, 0)
    if rest := text[end:].strip():
        raise _RefusedError("multiple_values" if rest[0] in "{[" else "extra_text")
    return value


def _decode(text: str, start: int) -> tuple[Any, int]:
    """One JSON value that begins at `start`, and where it ends."""
    try:
        return _DECODER.raw_decode(text, start)
    except _RefusedError:
        raise
    except (ValueError, RecursionError):
        raise _RefusedError("invalid_json") from None


def _json_in_prose(text: str, most_parts: int) -> Document:
    """The one object that stands in prose. What stands inside a broken object is no answer.

    A brace that no key and no closing brace follows belongs to the prose. A list of objects is
    read as the list that it is, so that it is judged as it is without the prose.
    """
    found: list[Any] = []
    at = 0
    while (start := _OBJECT_START.search(text, at)) and len(found) < 2:
        try:
            value, at = _decode(text, start.start())
        except _RefusedError as error:
            return Document(reason=str(error), is_bare=False)
        found.append(value)
    if len(found) != 1:
        return Document(reason="multiple_values" if found else "no_json", is_bare=False)
    return _bounded(Document(found[0], is_bare=False), most_parts)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise _RefusedError("duplicate_key")
    return record


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _RefusedError("non_finite")
    return number


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise _RefusedError("too_large")
    return int(digits)


def _no_constant(name: str) -> float:
    raise _RefusedError("non_finite")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_float=_finite,
    parse_int=_integer,
    parse_constant=_no_constant,
)


def _bounded(document: Document, most_parts: int) -> Document:
    """`document`, or the refusal of one that is deeper than DEEPEST or has more parts."""
    waiting = [(document.value, 0)]
    parts = 0
    while waiting:
        value, depth = waiting.pop()
        parts += 1
        if depth > DEEPEST or parts + len(waiting) > most_parts:
            return Document(reason="too_large", is_bare=document.is_bare)
        if isinstance(value, dict):
            waiting.extend((part, depth + 1) for part in value.values())
        elif isinstance(value, list):
            waiting.extend((part, depth + 1) for part in value)
    return document


def read_yaml(text: str, most_parts: int, longest: int) -> Document:
    """The one YAML 1.2 document of `text`, plain scalars read by the core schema.

    One fence around the whole is taken off. Reasons: `empty_answer`, `invalid_yaml`,
    `duplicate_key`, `unsafe_tag`, `multiple_values`, `non_finite`, `too_large` (more than
    `longest` characters among others).
    """
    text = _BLANK_LINES.sub("", text.lstrip("\ufeff")).rstrip() + "\n"
    body, is_bare = _unfenced(text)
    if not body.strip():
        return Document(reason="empty_answer", is_bare=is_bare)
    if len(body) > longest:
        return Document(reason="too_large", is_bare=is_bare)
    from bench_loop.verifiers.yaml_core import YamlRefusedError, load_yaml

    try:
        value = load_yaml(body)
    except YamlRefusedError as error:
        return Document(reason=str(error), is_bare=is_bare)
    return _bounded(Document(value, is_bare=is_bare), most_parts)
