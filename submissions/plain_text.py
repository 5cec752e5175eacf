"""Words of strangers that other people will read: what cannot be seen is taken out."""

from __future__ import annotations

import re
import unicodedata

from submissions.intake import BLANKS, INVISIBLE_CATEGORIES

UNSEEN_CATEGORIES = INVISIBLE_CATEGORIES | {"Cc", "Cs", "Co", "Cn"}


def clean_lines(text: str) -> str:
    """`text` with its line breaks, and without controls, direction marks and invisible signs."""
    lines = re.split(r"\r\n|\r|\n", text)
    return "\n".join(_seen(line).rstrip() for line in lines).strip()


def clean_line(text: str) -> str:
    """The same on one line, every run of blanks made one space."""
    return " ".join(_seen(re.sub(r"\s+", " ", text)).split())


def _seen(text: str) -> str:
    composed = unicodedata.normalize("NFC", text.replace("\t", " "))
    return "".join(
        character
        for character in composed
        if unicodedata.category(character) not in UNSEEN_CATEGORIES and character not in BLANKS
    )
