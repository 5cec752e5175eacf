"""Reads the chat template out of a GGUF file's header; the weights are never touched.

Format: ggml's docs/gguf.md, versions 2 and 3, little-endian. The file may be anything: every
length is checked before it is read.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

TEMPLATE_KEY = b"tokenizer.chat_template"
MOST_KEYS = 10_000
LONGEST_TEXT = 16 * 2**20
MOST_ITEMS = 10_000_000

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a number of each type: integers, floats, truth values."""
_TEXT, _ARRAY = 8, 9


def chat_template(path: Path) -> str | None:
    """The template in the file; None where it has none. Raises OSError, ValueError: no GGUF."""
    with path.open("rb") as file:
        if _take(file, 4) != b"GGUF" or _number(file, "<I") not in (2, 3):
            raise ValueError("no GGUF file of version 2 or 3")
        _number(file, "<Q")  # tensors
        for _ in range(_at_most(_number(file, "<Q"), MOST_KEYS)):
            key, kind = _text(file), _number(file, "<I")
            if key == TEMPLATE_KEY and kind == _TEXT:
                return _text(file).decode("utf-8", "replace") or None
            _skip(file, kind)
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
            file.seek(count * _size(inner), 1)
    else:
        file.seek(_size(kind), 1)


def _size(kind: int) -> int:
    if kind not in _SIZES:
        raise ValueError(f"unknown type {kind}")
    return _SIZES[kind]


def _text(file: BinaryIO) -> bytes:
    return _take(file, _at_most(_number(file, "<Q"), LONGEST_TEXT))


def _number(file: BinaryIO, form: str) -> int:
    (number,) = struct.unpack(form, _take(file, struct.calcsize(form)))
    assert isinstance(number, int)
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
