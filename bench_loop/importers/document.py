"""A file of another tool as JSON values, each with the place it stands at."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bench_loop.errors import ResultError
from bench_loop.result import strict_json
from bench_loop.result.store import field_path, read
from bench_loop.result.strict_json import JSONError

GZIP = b"\x1f\x8b"
MOST_KEYS = 20_000
MOST_ROWS = 100_000
JSON_REMEDY = "Give the file as the tool wrote it, whole and unchanged."


class Row(BaseModel):
    """What is read of an object of another tool: strict in what it knows, deaf to the rest."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, allow_inf_nan=False, protected_namespaces=()
    )


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Place:
    """One JSON value and where it stands: `line 3`, `[2]`, or nothing for the whole file."""

    where: str
    value: Any


@dataclass(frozen=True, slots=True)
class Document:
    """The file: one value in JSON, or one for each line in JSON lines."""

    path: Path
    file_hash: str
    places: tuple[Place, ...]

    @property
    def name(self) -> str:
        return str(self.path)

    def fault(self, place: Place, field: str, reason: str, remedy: str) -> ResultError:
        """The error for a field at a place."""
        where = ", ".join(filter(None, (place.where, field)))
        return ResultError(self.name, where or None, reason, remedy=remedy)

    def row(self, place: Place, kind: type[R], remedy: str) -> R:
        """The value at a place as a row. Raises ResultError with line, field and remedy."""
        try:
            return kind.model_validate(place.value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            shown = _shown(first["input"])
            raise self.fault(
                place, field_path(first["loc"]), f"{first['msg']}{shown}", remedy
            ) from error


def _shown(value: Any) -> str:
    """A small value in an error message; a whole object would hide the message."""
    is_small = isinstance(value, bool | int | float | str) and len(str(value)) <= 40
    return f", not {value!r}" if is_small else ""


def open_document(file: Path) -> Document:
    """Read a file whole. Raises ResultError: missing, too large, not UTF-8, broken JSON."""
    data = read(file)
    file_hash = "sha256:" + hashlib.sha256(data).hexdigest()
    text = _decoded(data, str(file))
    if not text.strip():
        raise ResultError(str(file), None, "is empty", remedy=JSON_REMEDY)
    return Document(file, file_hash, _places(text, str(file)))


def _decoded(data: bytes, name: str) -> str:
    """UTF-8, or UTF-16 where its mark says so: `>` of Windows PowerShell writes that."""
    if data.startswith(GZIP):
        raise ResultError(name, None, "is packed (gzip)", remedy="Unpack it first.")
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        what = "UTF-16" if is_wide else "UTF-8"
        raise ResultError(
            name, None, f"is not {what} (byte {error.start})", remedy=JSON_REMEDY
        ) from error


def _places(text: str, name: str) -> tuple[Place, ...]:
    try:
        whole = _value(text, name, "")
    except json.JSONDecodeError as error:
        # More than one value: lines. An error inside the first value is one of plain JSON.
        if error.msg != "Extra data":
            raise _broken(name, error.lineno, error) from error
        return tuple(_lines(text, name))
    values = whole if isinstance(whole, list) else [whole]
    if len(values) > MOST_ROWS:
        raise ResultError(name, None, f"has more than {MOST_ROWS:,} rows", remedy=JSON_REMEDY)
    is_list = isinstance(whole, list)
    return tuple(Place(f"[{n}]" if is_list else "", value) for n, value in enumerate(values))


def _lines(text: str, name: str) -> Iterable[Place]:
    for number, line in enumerate(text.split("\n"), start=1):
        if number > MOST_ROWS:
            raise ResultError(name, None, f"has more than {MOST_ROWS:,} lines", remedy=JSON_REMEDY)
        if line.strip():
            try:
                yield Place(f"line {number}", _value(line, name, f"line {number}"))
            except json.JSONDecodeError as error:
                raise _broken(name, number, error) from error


def _value(text: str, name: str, where: str) -> Any:
    try:
        return strict_json.loads(text, most_keys=MOST_KEYS, is_finite=False)
    except JSONError as fault:
        field = ", ".join(filter(None, (where, fault.field)))
        raise ResultError(name, field or None, fault.sentence, remedy=JSON_REMEDY) from fault
    except RecursionError as error:
        raise ResultError(
            name, where or None, "is nested too deeply", remedy=JSON_REMEDY
        ) from error


def _broken(name: str, line: int, error: json.JSONDecodeError) -> ResultError:
    return ResultError(
        name, f"line {line}", f"is not JSON: {error.msg} (column {error.colno})", remedy=JSON_REMEDY
    )
