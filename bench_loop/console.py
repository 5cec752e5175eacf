"""The terminal: one theme, one console, two sets of signs, and data made harmless for printing."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from bench_loop.report.printable import printable

MAX_WIDTH = 88
"""Nothing is laid out wider than this, however wide the terminal is."""

NARROW = 60
"""Below this many columns tapes and bars go; names, counts and intervals stay."""

THEME = Theme(
    {
        "accent": "green",
        "figure": "bold",
        "basis": "dim",
        "label": "none",
        "bar": "dim green",
        "pass": "green",
        "pass.cell": "dim green",
        "partial": "yellow",
        "fail": "red",
        "truncated": "magenta",
        "harness_error": "bright_magenta",
        "infrastructure_error": "cyan",
        "not_applicable": "dim",
        "better": "green",
        "worse": "red",
        "undecided": "dim",
    }
)


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters of the layout. Every state has its own, so colour carries nothing alone."""

    outcomes: dict[str, str]
    to_come: str
    current: str
    wire: str
    bar: str
    low: str
    high: str
    whisker: str
    value: str
    open_value: str
    empty: str
    zero: str

    @property
    def is_ascii(self) -> bool:
        return self.bar.isascii()


UNICODE = Signs(
    outcomes={
        "pass": "■",
        "partial": "◧",
        "fail": "×",
        "truncated": "◨",
        "harness_error": "!",
        "infrastructure_error": "+",
        "not_applicable": "-",
    },
    to_come="·",
    current="▷",
    wire="──",
    bar="━",
    low="├",
    high="┤",
    whisker="─",
    value="●",
    open_value="○",
    empty="·",
    zero="│",
)

ASCII = Signs(
    outcomes={
        "pass": "#",
        "partial": "~",
        "fail": "x",
        "truncated": ">",
        "harness_error": "!",
        "infrastructure_error": "+",
        "not_applicable": "-",
    },
    to_come=".",
    current="@",
    wire="<->",
    bar="=",
    low="[",
    high="]",
    whisker="-",
    value="o",
    open_value="o",
    empty=".",
    zero="|",
)

_ASCII_WORDING = str.maketrans(
    {
        "–": "-",
        "−": "-",
        "±": "+-",
        "×": "x",
        "…": "...",
        "\N{NARROW NO-BREAK SPACE}": " ",
        "\N{NO-BREAK SPACE}": " ",
    }
)
_BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")


def console(*, stderr: bool = False) -> Console:
    """The console that commands print to.

    Colour follows the terminal, NO_COLOR and FORCE_COLOR. Markup, emoji codes and highlighting are
    off, so that no text from a model, a server or a file is ever read as an instruction.
    """
    stream = sys.stderr if stderr else sys.stdout
    _never_fail_to_encode(stream)
    is_pipe = not stream.isatty()
    return Console(
        stderr=stderr,
        theme=THEME,
        width=MAX_WIDTH if is_pipe and "COLUMNS" not in os.environ else None,
        force_interactive=False if is_pipe else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def program() -> str:
    """What to type for `bench-loop` here: the path of an environment that is not activated."""
    called = Path(sys.argv[0])
    if called.parts[-2:] == ("bench_loop", "__main__.py"):
        is_found = shutil.which("python") == sys.executable
        return f"{'python' if is_found else _typed(Path(sys.executable))} -m bench_loop"
    if called.stem != "bench-loop" or shutil.which("bench-loop"):
        return "bench-loop"
    return _typed(called)


def _typed(path: Path) -> str:
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def signs(console: Console) -> Signs:
    """The signs that `console` can show: plain ASCII on pipes, in files and on old code pages."""
    can_draw = console.is_terminal and not console.legacy_windows and not console.is_dumb_terminal
    return UNICODE if can_draw and console.encoding.startswith("utf") else ASCII


def width(console: Console) -> int:
    """Columns to lay out in."""
    return min(console.width, MAX_WIDTH)


def clean(text: str) -> str:
    r"""`text` from outside as one harmless line: see `printable`; line breaks and tabs are a space.

    Escape sequences, control characters and direction overrides come out as escapes like `\x1b`.
    """
    return printable(_BREAKS.sub(" ", text))


def in_signs(line: Text, signs: Signs) -> Text:
    """`line` with the dashes and signs of our own wording in ASCII where `signs` are."""
    if not signs.is_ascii or line.plain.isascii():
        return line
    ends = {end for span in line.spans for end in (span.start, span.end)}
    return Text().join(_in_ascii(piece) for piece in line.divide(sorted(ends)))


def _in_ascii(piece: Text) -> Text:
    """A piece of text of one style, in ASCII."""
    plain = Text(piece.plain.translate(_ASCII_WORDING), style=piece.style)
    for span in piece.spans:
        plain.stylize(span.style)
    return plain


def _never_fail_to_encode(stream: TextIO) -> None:
    """Let a character that the stream's code page lacks come out as an escape, not an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
