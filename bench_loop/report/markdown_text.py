"""Pieces of Markdown: texts from strangers, in which neither markup nor a mention works, and rows.

Signs written as character references are not enough: the site that shows the page makes links and
mentions out of what it reads then. In a code span it looks for none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bench_loop.report.figures import UNKNOWN
from bench_loop.report.printable import one_line

_RISKY = re.compile(r"""[`|<>&@*\[\]\\~!$]|#\d|(?<!\w)_|_(?!\w)|://|\bwww\.""")
"""Signs that Markdown, or the site that shows it, may read as an instruction: a mention, a link."""
_CODE_SAFE = re.compile(r"[^`|]+")


def code(text: str) -> str:
    """`text` on one line as code, which holds in a table too.

    With a backtick or a pipe in it no code span is safe in a table: every sign is then written as
    a character reference, which Markdown never takes for a mark.
    """
    line = one_line(text)
    if not line.strip():
        return UNKNOWN
    if _CODE_SAFE.fullmatch(line):
        return f"`{line}`"
    signs = (sign if sign.isalnum() and sign.isascii() else f"&#{ord(sign)};" for sign in line)
    return f"<code>{''.join(signs)}</code>"


def prose(text: str) -> str:
    """A sentence of ours that may quote a name: as it is, or as code where a sign is risky."""
    line = one_line(text, 600)
    inner = line.strip()
    return line.replace(inner, code(inner), 1) if inner and _RISKY.search(inner) else line


def table_head(*heads: str) -> Iterator[str]:
    """The two lines that begin a table."""
    yield table_row(heads)
    yield table_row(["---"] * len(heads))


def table_row(cells: Iterable[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"
