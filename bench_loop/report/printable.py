"""Makes hostile text safe to look at. Escaping for HTML stays with the template engine."""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")
_INVISIBLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, lone surrogates, line and paragraph separators."""

_STEERING = frozenset(
    "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
)
"""Characters that turn the reading direction or hide. Joiners stay: emoji are built of them."""


def printable(text: str) -> str:
    r"""`text` with control characters and bidirectional controls as escapes: `\x00`, `\u202e`.

    Line breaks (also `\r\n`) and tabs stay. The result can be encoded as UTF-8.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def one_line(text: str, limit: int = 200) -> str:
    r"""`printable` text for a name or a label: line breaks shown as `\n`, cut with an ellipsis."""
    line = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= limit else line[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _shown(character: str) -> str:
    if character in _KEPT:
        return character
    if character not in _STEERING and unicodedata.category(character) not in _INVISIBLE:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
