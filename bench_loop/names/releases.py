"""Releases: the part of a model's name that tells newer weights of a line from older ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

_QUANTIZERS_DATE = re.compile(r"(dwq)[-_]\d{4,8}(?!\d)")
"""`4bit-DWQ-0508`: when the weights were packed, not when they were made."""

_MONTH_AND_YEAR = re.compile(r"(?<!\d)(?<!\d-)(0[1-9]|1[0-2])-20(\d{2})(?!\d)(?!-\d)")

_DATE = re.compile(r"\d{4}|\d{6}")
_REVISION = re.compile(r"v\d+(?:\.\d+)*")
_WINDOW = re.compile(r"\d+[km]")
"""Weights that were trained on for a longer window: `phi-3-mini-128k`, `qwen2.5-7b-instruct-1m`."""


def without_packing_dates(name: str) -> str:
    """A lower-case name, its quantization still in it, without the dates of quantizers."""
    return _QUANTIZERS_DATE.sub(r"\1", name)


def releases_of(name: str, words: Sequence[str], size_at: int) -> list[str]:
    """The releases in a lower-case name without quantization, the words of which are `words`.

    Dates of four or six digits (`2507`, `0528`; `08-2024` is `2408`), revisions (`v0.3`), and
    windows: `8k` anywhere, `1m` behind the size, at `size_at`. Eight digits are no release.
    """
    found = [year + month for month, year in _MONTH_AND_YEAR.findall(name)]
    for at, word in enumerate(words):
        is_size = word.endswith("m") and at <= size_at
        if _DATE.fullmatch(word) or (_WINDOW.fullmatch(word) and not is_size):
            found.append(word)
        elif _REVISION.fullmatch(word):
            # Command R's `v01` is the tag's `v0.1`.
            found.append(re.sub(r"^v0(?=\d)", "v0.", word))
    return list(dict.fromkeys(found))
