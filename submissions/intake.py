"""From the bytes of an upload to a run result: nothing malformed comes past this module."""

from __future__ import annotations

import json
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest
from pydantic import ValidationError

from bench_loop.result import strict_json
from bench_loop.result.records import SCHEMA_VERSION, RunResult
from bench_loop.result.store import field_path
from bench_loop.result.strict_json import JSONError
from bench_loop.result.upgrades import UPGRADES, UpgradeError, Upgrades

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 24
MAX_TEXT = 200_000
"""Characters of one value: more than the largest answer budget can give."""
MAX_TRIALS = 5_000
"""Ten times what the largest profile makes; checking costs time for every one."""
MAX_VALUES = 500_000
"""Values of a document: five thousand trials have fewer, and each costs memory and time."""
MAX_FIELDS = 20
MAX_FIELD_PATH = 200
CHUNK = 64 * 1024

FREE_TEXT = frozenset(
    {"output", "thinking", "answer", "message", "arguments", "text", "content", "error"}
)
"""Fields that hold what a model or a program wrote: line breaks belong there."""

INVISIBLE_CATEGORIES = frozenset({"Cf", "Zl", "Zp"})
"""Zero-width characters, direction marks, tags: a name that holds one is not what it looks like."""
BLANKS = frozenset(
    map(
        chr,
        [
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ],
    )
)
"""Letters, marks and variation selectors that show nothing."""


class IntakeError(Exception):
    """The upload is refused with HTTP `status`; `fields` maps field paths to sentences."""

    def __init__(
        self, status: int, code: str, message: str, fields: Mapping[str, list[str]] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = dict(fields or {})


def read_body(request: HttpRequest) -> bytes:
    """The body, gzip undone, never more than MAX_BYTES of it. Raises IntakeError."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if declared.isascii() and declared.isdigit() and int(declared) > MAX_BYTES:
        raise _too_large()
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise IntakeError(
            415, "unsupported_encoding", "The body may be sent plain or as gzip, nothing else."
        )
    chunks = iter(lambda: request.read(CHUNK), b"")
    return _joined(_unzipped(chunks) if encoding == "gzip" else chunks)


def _joined(chunks: Iterator[bytes]) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > MAX_BYTES:
            raise _too_large()
    return bytes(body)


def _unzipped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The content of one gzip member in pieces of at most CHUNK bytes."""
    unzip = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            yield unzip.decompress(chunk, CHUNK)
            while unzip.unconsumed_tail:
                yield unzip.decompress(unzip.unconsumed_tail, CHUNK)
    except zlib.error as error:
        raise IntakeError(400, "bad_gzip", "The body says it is gzip and is not.") from error
    if not unzip.eof or unzip.unused_data:
        raise IntakeError(400, "bad_gzip", "The gzip body is cut short or has more after its end.")


def _too_large() -> IntakeError:
    return IntakeError(413, "too_large", f"A result may have {MAX_BYTES:,} bytes, unpacked.")


def parse(data: bytes, upgrades: Upgrades = UPGRADES) -> RunResult:
    """The result that `data` holds, in any version that is known.

    Raises IntakeError with the field.
    """
    document = load_strictly(data)
    check_values(document)
    trials = document.get("trials")
    if isinstance(trials, list) and len(trials) > MAX_TRIALS:
        message = f"A result may have {MAX_TRIALS:,} trials."
        raise IntakeError(422, "too_many_trials", message, {"trials": [message]})
    try:
        current = upgrades.upgraded(document)
    except UpgradeError as error:
        sentence = f"{error.sentence[0].upper()}{error.sentence[1:]}."
        raise IntakeError(422, "unknown_version", sentence, {error.field: [sentence]}) from error
    try:
        return RunResult.model_validate_json(
            data if current is document else json.dumps(current), strict=True
        )
    except ValidationError as error:
        raise IntakeError(
            422,
            "invalid",
            f"The result does not follow schema version {SCHEMA_VERSION}.",
            _schema_fields(error),
        ) from error


def load_strictly(data: bytes) -> dict[str, Any]:
    """`data` as a JSON object: UTF-8, no duplicate keys, only numbers that JSON and columns hold.

    Raises IntakeError.
    """
    if not data:
        raise _bad_json("The body is empty; send the bytes of a result file.")
    # Counted before reading: signs inside texts count too, which no honest result comes near.
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise _bad_json(f"A result may have {MAX_VALUES:,} values.")
    try:
        document = strict_json.loads(data.decode("utf-8"))
    except JSONError as error:
        raise _bad_json(error.sentence, shown(error.field) if error.field else "") from error
    except UnicodeDecodeError as error:
        raise _bad_json(f"The body is not UTF-8 (byte {error.start}).") from error
    except RecursionError as error:
        raise _bad_json(f"The document is nested deeper than {MAX_DEPTH} levels.") from error
    except json.JSONDecodeError as error:
        raise _bad_json(
            f"The body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from error
    if not isinstance(document, dict):
        raise _bad_json("The document must be an object: one result.")
    return document


def _bad_json(message: str, field: str = "") -> IntakeError:
    return IntakeError(400, "bad_json", message, {field: [message]})


def check_values(document: Any) -> None:
    """One walk over all values and keys. Raises IntakeError with the path of the first bad one."""
    _walk(document, ())


def _walk(value: Any, path: tuple[str | int, ...]) -> None:
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, dict | list):
        if len(path) >= MAX_DEPTH:
            raise _bad_value(path, f"nested deeper than {MAX_DEPTH} levels")
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str):
                _check_text(key, (*path, key))
            _walk(item, (*path, key))


def _check_text(text: str, path: tuple[str | int, ...]) -> None:
    if len(text) > MAX_TEXT:
        raise _bad_value(path, f"has more than {MAX_TEXT:,} characters")
    if text.isascii() and text.isprintable() and text == text.strip():
        return
    is_free = next((part for part in reversed(path) if isinstance(part, str)), "") in FREE_TEXT
    is_name = path[0] == "subject"
    if is_name and text != text.strip():
        raise _bad_value(path, "begins or ends with a space")
    for character in text:
        fault = _fault(character, is_free=is_free, is_name=is_name)
        if fault:
            raise _bad_value(path, f"holds {fault} (U+{ord(character):04X})")


def _fault(character: str, *, is_free: bool, is_name: bool) -> str | None:
    """What is wrong with a character; in the name of what was measured no odd space is right."""
    category = unicodedata.category(character)
    if category == "Cs":
        return "half a surrogate pair"
    if category == "Cc" and not (is_free and (character in "\t\n\r" or character >= "\x7f")):
        return "a control character"
    if not is_free and (category in INVISIBLE_CATEGORIES or character in BLANKS):
        return "an invisible character"
    if is_name and category == "Zs" and character != " ":
        return "a space of an unusual kind"
    return None


def _bad_value(path: tuple[str | int, ...], what: str) -> IntakeError:
    field = shown(field_path(path))
    return IntakeError(400, "bad_value", f"{field} {what}.", {field: [f"This value {what}."]})


def _schema_fields(error: ValidationError) -> dict[str, list[str]]:
    """What pydantic found, without the values: at most MAX_FIELDS fields."""
    fields: dict[str, list[str]] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        path = shown(field_path(fault["loc"]))
        if path in fields or len(fields) < MAX_FIELDS:
            fields.setdefault(path, []).append(fault["msg"])
    return fields


def shown(path: str) -> str:
    """A field path fit for an answer: cut, and in plain ASCII, since keys are hostile too."""
    return path[:MAX_FIELD_PATH].encode("ascii", "backslashreplace").decode()[:MAX_FIELD_PATH]
