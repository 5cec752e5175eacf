"""Reads code out of a reply: the right fence, or the new content of each changed file.

Pure; no input raises; time grows linearly with the length of the reply. Nothing is repaired: what
is a fragment, a diff or has parts left out is refused with that reason.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

LONGEST_LABEL = 120
"""Characters of a line that may name a file; a longer one is prose."""
MOST_BLOCKS = 200
"""Fenced blocks that are looked at, the last ones of a reply."""
LONGEST_BARE_CODE = 20_000
"""Characters of a reply that may be code without a fence."""

_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<ticks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*)$", re.MULTILINE
)
"""Marks and blanks are taken whole: giving some back would try every number of them."""
_PYTHON = frozenset({"python", "py", "python3", "py3", "python2", "pycon"})
_DIFF_LINE = re.compile(
    r"^(?:@@ |--- (?:a/|\S+\.\w)|\+\+\+ |\*{3} (?:Begin Patch|Update File)|<{7} )", re.MULTILINE
)
_SAME = r"(?:goes here|here|unchanged|(?:is|remains|stays) (?:the same|unchanged|as is|as before))"
_LEFT_OUT = re.compile(
    r"^[ \t]*(?:#|//)[ \t]*(?:"
    r"(?:\.\.\.|…)[ \t]*(?:\(?(?:the )?(?:rest|existing|same|unchanged|remaining|other|previous"
    r"|your|omitted|as before)\b[^\n]{0,60})?"
    rf"|\(?(?:the )?(?:rest|remainder) of (?:the|your|this) (?:code|function|file|class|module)"
    rf"[ \t]*{_SAME}?[.…)]*"
    rf"|\(?(?:the )?(?:existing|previous|other|original) (?:code|functions?)[ \t]*{_SAME}?[.…)]*"
    r")[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TOP_LEVEL_NAME = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?:#|//|/\*|<!--|--|;)\s*(.*?)\s*(?:\*/|-->)?$")

MESSAGES = {
    "no_code": "The reply holds no code block.",
    "fragment": "No code block defines all that was asked for.",
    "elided": "Parts of the code are left out.",
    "diff": "The reply is a diff where whole code was asked for.",
    "no_file": "The reply holds the content of no file that may be changed.",
}
"""Reason to sentence."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `before` is the last line of text that stands before it, "" for none."""

    info: str
    text: str
    before: str

    @property
    def language(self) -> str:
        """The first word of the info string, in lower case."""
        return re.split(r"[\s:{,]", self.info.strip().lower(), maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class FoundCode:
    """The code that counts, or the reason (one of MESSAGES) why there is none."""

    text: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """New contents by path, or the reason why there are none.

    `put_back` are files that were given and may not be changed: they stay as they were. Where there
    are no others, there is no reason either: nothing was repaired.
    """

    files: Mapping[str, str]
    put_back: tuple[str, ...] = ()
    reason: str | None = None


def blocks(text: str) -> list[Block]:
    """The last MOST_BLOCKS fenced blocks of `text`; one that is never closed reaches to its end.

    A fence is closed by one of its own kind, at least as long, and indented no more than three
    columns beyond it, so that one inside a docstring closes nothing.
    """
    text = text.replace("\r\n", "\n")
    pairs: deque[tuple[re.Match[str], int, int]] = deque(maxlen=MOST_BLOCKS)
    opened: re.Match[str] | None = None
    end = 0
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened, begin = fence, end
        elif _closes(fence, opened):
            pairs.append((opened, begin, fence.start()))
            opened, end = None, fence.end()
    if opened is not None:
        pairs.append((opened, begin, len(text)))
    return [_block(text, *pair) for pair in pairs]


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    return (
        not fence["info"]
        and fence["ticks"].startswith(opened["ticks"])
        and len(fence["indent"]) <= len(opened["indent"]) + 3
    )


def _block(text: str, opened: re.Match[str], begin: int, end: int) -> Block:
    """The block between `opened` and `end`; the text from `begin` on stands before it."""
    indent = opened["indent"]
    lines = [line.removeprefix(indent) for line in text[opened.end() + 1 : end].splitlines()]
    before = text[begin : opened.start()].rstrip().rpartition("\n")[2]
    return Block(opened["info"].strip(), "".join(f"{line}\n" for line in lines), before)


def find_code(text: str, name: str) -> FoundCode:
    """The last fenced block of `text` that defines `name` whole; Python before other languages.

    A reply that is nothing but code needs no fence. Reasons: `no_code`, `fragment`, `elided`,
    `diff`.
    """
    found = blocks(text)
    defining = [block for block in found if _defines(block.text, name) and not _is_diff(block)]
    if not defining:
        return _none_found(text, name, found)
    whole = [block for block in defining if not _is_elided(block.text, name)]
    if not whole:
        return FoundCode(None, "elided")
    python = [block for block in whole if not block.language or block.language in _PYTHON]
    return FoundCode((python or whole)[-1].text)


def _none_found(text: str, name: str, found: Sequence[Block]) -> FoundCode:
    if not found:
        return _bare_code(text, name)
    if any(_is_diff(block) for block in found):
        return FoundCode(None, "diff")
    is_code = any(block.language in _PYTHON or name in block.text for block in found)
    return FoundCode(None, "fragment" if is_code else "no_code")


def _bare_code(text: str, name: str) -> FoundCode:
    """The whole reply as code, if it is nothing else."""
    bare = text.strip("\n").rstrip() + "\n"
    if not _defines(bare, name) or len(bare) > LONGEST_BARE_CODE:
        return FoundCode(None, "diff" if _DIFF_LINE.search(text) else "no_code")
    if parsed(bare) is None:
        return FoundCode(None, "no_code")
    return FoundCode(None, "elided") if _is_elided(bare, name) else FoundCode(bare)


def parsed(source: str) -> ast.Module | None:
    """`source` as Python reads it; None: it is no Python, or too deep for it.

    What Python finds doubtful in it is told to nobody, and is no error however it was started.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _defines(code: str, name: str) -> bool:
    """Whether `name` is a function, a class or a value of `code` itself, not of a class in it."""
    head = rf"(?:async[ \t]+)?def[ \t]+{name}\b|class[ \t]+{name}\b"
    value = rf"{name}[ \t]*(?::[^=\n]*)?=[^=]"
    return re.search(rf"^(?:{head}|{value})", code, re.MULTILINE) is not None


def _is_elided(code: str, name: str) -> bool:
    """Whether a comment stands for left-out code, or the body of `name` is three dots."""
    head = rf"^(?:async[ \t]+)?def[ \t]+{name}\b[^\n]*:[ \t]*(?:\n[ \t]+)?"
    stub = rf"{head}(?:\.\.\.|…)[ \t]*(?:#[^\n]*)?$"
    return bool(_LEFT_OUT.search(code) or re.search(stub, code, re.MULTILINE))


def _is_diff(block: Block) -> bool:
    return block.language in {"diff", "patch"} or bool(_DIFF_LINE.match(block.text))


def find_files(text: str, known: Mapping[str, str], editable: Sequence[str]) -> FoundFiles:
    """The complete new content that `text` gives for each of the `editable` among the `known`.

    A file's path stands alone, bold or in a heading on the line before its fence, in the fence's
    info string, or in the first comment. One block without any path is the one editable file all of
    whose functions and classes it defines. Of several contents the last whole one counts. Reasons:
    `no_file`, `elided`, `diff`.
    """
    found = blocks(text)
    named = [(path, block) for block in found if (path := _path_of(block, known))]
    if not named:
        named = list(_unnamed(found, known, editable))
    allowed = [(path, block) for path, block in named if path in editable]
    put_back = tuple(sorted({path for path, _ in named if path not in editable}))
    whole = {
        path: block.text
        for path, block in allowed
        if not _is_diff(block) and not _LEFT_OUT.search(block.text)
    }
    if whole:
        return FoundFiles(whole, put_back)
    if any(_is_diff(block) for _, block in allowed):
        return FoundFiles({}, put_back, "diff")
    if allowed:
        return FoundFiles({}, put_back, "elided")
    if put_back:
        return FoundFiles({}, put_back)
    return FoundFiles({}, (), "diff" if any(map(_is_diff, found)) else "no_file")


def _path_of(block: Block, known: Mapping[str, str]) -> str | None:
    """The one of the `known` paths that a label of `block` names; None: none does."""
    comment = _COMMENT.match(block.text.split("\n", 1)[0])
    for label in (block.before, block.info, comment[1] if comment else ""):
        if len(label) > LONGEST_LABEL:
            continue
        named = [path for path in known if _names(label, path)]
        longest = max(named, key=len, default=None)
        if longest is not None and all(path in longest for path in named):
            return longest
    return None


def _names(label: str, path: str) -> bool:
    pattern = rf"(?<![\w/.-])(?:\./)?{re.escape(path)}(?![\w/-]|\.\w)"
    return re.search(pattern, label) is not None


def _unnamed(
    found: Sequence[Block], known: Mapping[str, str], editable: Sequence[str]
) -> Iterator[tuple[str, Block]]:
    defining = [block for block in found if _TOP_LEVEL_NAME.search(block.text)]
    if len(defining) != 1:
        return
    defined = set(_TOP_LEVEL_NAME.findall(defining[0].text))
    fitting = [
        path
        for path in editable
        if (names := set(_TOP_LEVEL_NAME.findall(known.get(path, "")))) and names <= defined
    ]
    if len(fitting) == 1:
        yield fitting[0], defining[0]
