"""Reads chat template and shape out of a GGUF file's header; the weights are never touched.

Format: ggml's docs/gguf.md, versions 2 and 3, little-endian. The file may be anything: every
length is checked before it is read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

TEMPLATE_KEY = b"tokenizer.chat_template"
MOST_KEYS = 10_000
LONGEST_TEXT = 16 * 2**20
MOST_ITEMS = 10_000_000

_FORMS = {
    **dict(enumerate(("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?"))),
    **dict(enumerate(("<Q", "<q", "<d"), start=10)),
}
"""How a number of each type is written: integers, floats, truth values."""
_TEXT, _ARRAY = 8, 9
MOST_LAYERS = 4096


def chat_template(path: Path) -> str | None:
    """The template in the file; None where it has none. Raises OSError, ValueError: no GGUF."""
    for _, value in _values(path, TEMPLATE_KEY.__eq__):
        return value or None if isinstance(value, str) else None
    return None


def shape(path: Path) -> dict[str, Any]:
    """What the header says of the model beside its words. Raises OSError, ValueError: no GGUF."""
    return dict(_values(path, lambda key: not key.startswith(b"tokenizer.")))


def _values(path: Path, is_wanted: Callable[[bytes], bool]) -> Iterator[tuple[str, Any]]:
    """The wanted keys with their values, in the order of the file; the others are passed over."""
    with path.open("rb") as file:
        if _take(file, 4) != b"GGUF" or _number(file, "<I") not in (2, 3):
            raise ValueError("no GGUF file of version 2 or 3")
        _number(file, "<Q")  # tensors
        for _ in range(_at_most(_number(file, "<Q"), MOST_KEYS)):
            key, kind = _text(file), _number(file, "<I")
            if is_wanted(key):
                yield key.decode("utf-8", "replace"), _value(file, kind)
            else:
                _skip(file, kind)


def _value(file: BinaryIO, kind: int) -> Any:
    """A text, a number, or a list of numbers with one for each layer; None: a longer list."""
    if kind == _TEXT:
        return _text(file).decode("utf-8", "replace")
    if kind != _ARRAY:
        return _unpacked(file, _form(kind))
    start = file.tell()
    inner, count = _number(file, "<I"), _number(file, "<Q")
    if inner in _FORMS and count <= MOST_LAYERS:
        return [_unpacked(file, _form(inner)) for _ in range(count)]
    file.seek(start)
    _skip(file, _ARRAY)
    return None


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _TEXT:
        file.seek(_at_most(_number(file, "<Q"), LONGEST_TEXT), 1)
    elif kind == _ARRAY:
        inner, count = _number(file, "<I"), _at_most(_number(file, "<Q"), MOST_ITEMS)
        if inner == _TEXT:
            for _ in range(count):
                _skip(file, _TEXT)
        else:
            file.seek(count * struct.calcsize(_form(inner)), 1)
    else:
        file.seek(struct.calcsize(_form(kind)), 1)


def _form(kind: int) -> str:
    if kind not in _FORMS:
        raise ValueError(f"unknown type {kind}")
    return _FORMS[kind]


def _text(file: BinaryIO) -> bytes:
    return _take(file, _at_most(_number(file, "<Q"), LONGEST_TEXT))


def _number(file: BinaryIO, form: str) -> int:
    return int(_unpacked(file, form))


def _unpacked(file: BinaryIO, form: str) -> Any:
    (number,) = struct.unpack(form, _take(file, struct.calcsize(form)))
    return number


def _take(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise ValueError("the file ends too early")
    return data


def _at_most(count: int, limit: int) -> int:
    if count > limit:
        raise ValueError("a length is out of all proportion")
    return count
