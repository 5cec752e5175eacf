"""Makes hostile text safe to look at. Escaping for HTML stays with the template engine."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u206f\ufeff]"
)
"""Control characters but line break and tab, lone surrogates, line and paragraph separators;
then what turns the reading direction or hides. Joiners stay: emoji are built of them."""


def printable(text: str) -> str:
    r"""`text` with control characters and bidirectional controls as escapes: `\x00`, `\u202e`.

    Line breaks (also `\r\n`) and tabs stay. The result can be encoded as UTF-8.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_shown, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    r"""`printable` text for a name or a label: line breaks shown as `\n`, cut with an ellipsis."""
    line = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= limit else line[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
