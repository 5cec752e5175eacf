"""Our own generated Markdown as records that a template prints: nothing is ever marked safe.

The subset that the methodology generator writes: headings, paragraphs, lists, tables, fenced code;
inside a line `code`, **strong** and [links](address). HTML in the text stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from bench_loop.scoring.methodology import methodology_markdown

_INLINE = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)")
_ITEM = re.compile(r"^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_RULE = re.compile(r"^\s*\|?\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)*\|?\s*$")
_SAFE_ADDRESS = re.compile(r"^(?:https?://|(?!//)[^:]+$)")
"""A web address, or one within the site; no other scheme."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text in a line. `kind` is text, code, strong or link."""

    kind: str
    text: str
    address: str = ""


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A block. `kind`: heading, paragraph, list, steps, table or code."""

    kind: str
    level: int = 0
    anchor: str = ""
    lines: tuple[Line, ...] = ()
    head: tuple[Line, ...] = ()
    rows: tuple[tuple[Line, ...], ...] = ()
    text: str = ""


@cache
def methodology_page() -> tuple[Block, ...]:
    """The methodology, written by the scoring code about itself."""
    return blocks(methodology_markdown())


def blocks(markdown: str) -> tuple[Block, ...]:
    """The blocks of a Markdown text."""
    return tuple(_blocks(markdown.splitlines()))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    place = 0
    chapter = ""
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
        elif line.startswith("```"):
            end = _until(lines, place + 1, lambda text: text.startswith("```"))
            yield Block("code", text="\n".join(lines[place + 1 : end]))
            place = end + 1
        elif heading := _HEADING.match(line):
            level, title = len(heading[1]), heading[2]
            anchor = _anchor(title if level < 3 else f"{chapter} {title}")
            chapter = title if level < 3 else chapter
            yield Block("heading", level, anchor, (inline(title),))
            place += 1
        elif "|" in line and place + 1 < len(lines) and _RULE.match(lines[place + 1]):
            end = _until(lines, place + 2, lambda text: "|" not in text)
            yield Block(
                "table",
                head=_cells(line),
                rows=tuple(_cells(row) for row in lines[place + 2 : end]),
            )
            place = end
        else:
            is_list = bool(_ITEM.match(line))
            end = _until(lines, place + 1, partial(_starts_a_block, in_list=is_list))
            yield _list(lines[place:end]) if is_list else _paragraph(lines[place:end])
            place = end


def _starts_a_block(line: str, *, in_list: bool) -> bool:
    """Whether `line` ends the paragraph or the list before it."""
    if not line.strip() or line.startswith("```") or _HEADING.match(line):
        return True
    return not in_list and bool(_ITEM.match(line))


def _paragraph(lines: Sequence[str]) -> Block:
    return Block("paragraph", lines=(inline(" ".join(line.strip() for line in lines)),))


def _list(lines: Sequence[str]) -> Block:
    """Items with or without numbers; a line that is no item goes on with the one before."""
    items: list[str] = []
    is_numbered = False
    for line in lines:
        item = _ITEM.match(line)
        if item is None:
            items[-1] += f" {line.strip()}"
        else:
            items.append(item[2])
            is_numbered = item[1] is not None
    return Block("steps" if is_numbered else "list", lines=tuple(inline(item) for item in items))


def inline(text: str) -> Line:
    """A line's pieces. A link to anything but http, https or this site is only text."""
    pieces: list[Piece] = []
    done = 0
    for match in _INLINE.finditer(text):
        if match.start() > done:
            pieces.append(Piece("text", text[done : match.start()]))
        code, strong, label, address = match.groups()
        if code is not None:
            pieces.append(Piece("code", code))
        elif strong is not None:
            pieces.append(Piece("strong", strong.replace("`", "")))
        elif _SAFE_ADDRESS.match(address):
            pieces.append(Piece("link", label, address))
        else:
            pieces.append(Piece("text", label))
        done = match.end()
    if done < len(text):
        pieces.append(Piece("text", text[done:]))
    return tuple(pieces)


def _cells(row: str) -> tuple[Line, ...]:
    cells = re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))
    return tuple(inline(cell.strip().replace("\\|", "|")) for cell in cells)


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _until(lines: Sequence[str], start: int, stop: Callable[[str], bool]) -> int:
    """The first line from `start` at which `stop` holds, or the end."""
    return next((n for n in range(start, len(lines)) if stop(lines[n])), len(lines))
