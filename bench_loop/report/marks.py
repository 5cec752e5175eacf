"""The marks a terminal report is made of: signal path, tape, bar with whisker, axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from rich.console import Console
from rich.text import Text

from bench_loop.console import NARROW, Signs, clean, signs, width
from bench_loop.contracts.verifier import Outcome
from bench_loop.report import figures
from bench_loop.report.views import OUTCOME_WORDS

PART_GAP = 3
LABEL = 16
LABEL_END, BETWEEN = 6, ".."
"""Columns of the name at the left of a line, as long as the longest suite name and a gap."""

COUNT = 12
"""Columns of the count after a tape, with the gap before it."""

VALUE = 5
"""Columns of a score before its bar, with the gap after it."""

PLOTS = (41, 31, 21)
"""Columns of a plot from 0 to 100, the widest that fits is taken: 2.5, 3.3 or 5 points each."""

BESIDE_PLOT = 11
"""Columns after a plot: a gap and the longest interval."""

DIFFERENCE_PLOTS = (31, 21)
"""Columns of a plot of differences, zero in the middle; the widest that fits is taken."""

Cell = tuple[str, str]
"""A character and its style."""


def label(name: str, style: str = "label") -> Text:
    """The name at the left of a line, in LABEL columns however long it is.

    Of a plain word that is too long the end stays: suites that belong together differ there.
    """
    text = Text(clean(name))
    if text.cell_len >= LABEL and text.plain.isascii():
        head = LABEL - 1 - len(BETWEEN) - LABEL_END
        text = Text(f"{text.plain[:head]}{BETWEEN}{text.plain[-LABEL_END:]}")
    text.truncate(LABEL - 1, overflow="ellipsis", pad=True)
    return Text().append(f"{text.plain} ", style=style)


def outcome_word(outcome: Outcome | None) -> str:
    """An outcome as it is said; a trial that nothing judges was `measured`."""
    return OUTCOME_WORDS[outcome] if outcome else "measured"


def signal_path(nodes: Sequence[str], signs: Signs) -> Text:
    """The stack as nodes on a wire; the nodes where BenchLoop's own clock sits are green.

    These are the last two: the harness or gateway whose requests it times, and the verifier.
    """
    path = Text()
    for position, node in enumerate(nodes):
        if position:
            path.append(f" {signs.wire} ", style="basis")
        is_probe = position >= len(nodes) - 2
        path.append(clean(node), style="accent" if is_probe else "figure" if not position else "")
    return path


def cell(outcome: Outcome | None, signs: Signs) -> Cell:
    """One cell of a tape, sign and style: what passed is dim, all else is bright."""
    quiet = outcome in (None, "pass")
    return sign(outcome, signs), "pass.cell" if quiet else str(outcome)


def tape_lines(
    name: str,
    cells: Sequence[Cell],
    count: str,
    columns: int,
    *,
    longest: int,
    is_quiet: bool = False,
) -> list[Text]:
    """A suite as a tape of cells with its count, on as many lines as the cells need.

    `longest` is the number of cells of the longest tape shown, so that the counts stand in one
    column; `is_quiet` dims a suite that has not begun. On a narrow terminal the cells go and the
    count stays.
    """
    first = label(name, style="basis" if is_quiet else "label")
    figure = Text().append(count, style="basis" if is_quiet else "figure")
    if columns < NARROW:
        return [first.append_text(figure)]
    room = columns - LABEL - COUNT
    rows = [cells[start : start + room] for start in range(0, len(cells), room)] or [[]]
    lines = [Text(" " * LABEL) if number else first for number in range(len(rows))]
    for line, row in zip(lines, rows, strict=True):
        line.append_text(_joined(row))
    gap = min(longest, room) - len(rows[-1]) + 2
    lines[-1].append(" " * gap).append_text(figure)
    return lines


def sign(outcome: Outcome | None, signs: Signs) -> str:
    """The character of an outcome; what was only measured looks like what passed."""
    return signs.outcomes[outcome or "pass"]


def cut(line: Text, columns: int) -> Text:
    """`line` in at most `columns` columns, with an ellipsis where it was longer."""
    line = line.copy()
    line.truncate(columns, overflow="ellipsis")
    return line


def wrapped(
    text: Text, screen: Console, *, indent: int = 0, limit: int | None = None
) -> list[Text]:
    """`text` as lines that fit `screen`, cut after `limit` of them with an ellipsis."""
    room = max(width(screen) - indent, 20)
    lines = list(text.wrap(screen, room))
    if limit is not None and len(lines) > limit:
        lines = lines[:limit]
        mark = "..." if signs(screen).is_ascii else "…"
        lines[-1].truncate(room - len(mark))
        lines[-1].append(mark)
    for line in lines:
        line.rstrip()
    return [Text(" " * indent).append_text(line) for line in lines]


def side_by_side(parts: Sequence[Text], columns: int, *, indent: int = 0) -> list[Text]:
    """`parts` three columns apart, on as many lines as they need; no part is broken."""
    lines = [Text(" " * indent)]
    for part in parts:
        gap = 0 if lines[-1].cell_len == indent else PART_GAP
        if gap and lines[-1].cell_len + gap + part.cell_len > columns:
            lines.append(Text(" " * indent))
            gap = 0
        lines[-1].append(" " * gap).append_text(part)
    return lines


def plot_columns(columns: int) -> int:
    """Columns of the plots on a page of so many columns; 0: there is no room for one."""
    room = columns - LABEL - VALUE - BESIDE_PLOT
    return next((plot for plot in PLOTS if plot <= room), 0)


def axis(plot: int) -> Text:
    """The scale above score bars of so many columns, 0 to 100."""
    labels = {_column(value, plot): str(value) for value in (0, 25, 50, 75, 100)}
    return _ticks(labels, LABEL + VALUE)


def score_bar(value: float, interval: Sequence[float] | None, signs: Signs, plot: int) -> Text:
    """A bar from 0 to the value in `plot` columns, with the interval as a whisker over it."""
    at = _column(value, plot)
    low, high = (_column(end, plot) for end in interval) if interval else (at, at)
    cells = [(signs.bar, "bar")] * low + [(signs.whisker, "")] * (high - low + 1)
    cells += [(signs.empty, "basis")] * (plot - len(cells))
    cells[low], cells[high] = (signs.low, ""), (signs.high, "")
    cells[at] = (signs.value, "figure")
    return _joined(cells)


def difference_axis(scale: int, columns: int) -> Text:
    """The scale above bars of differences in so many columns, from -`scale` to +`scale` points."""
    points = (-scale, -scale / 2, 0, scale / 2, scale)
    decimals = scale % 2
    return _ticks(
        {_offset(at, scale, columns): figures.signed(at, decimals) for at in points}, LABEL
    )


def difference_bar(
    value: float, low: float, high: float, scale: int, columns: int, signs: Signs
) -> Text:
    """A difference as a point with whiskers around zero; filled where the whiskers exclude zero."""
    at, first, last = (_offset(end, scale, columns) for end in (value, low, high))
    cells = [(signs.empty, "basis")] * columns
    cells[_offset(0, scale, columns)] = (signs.zero, "basis")
    cells[first : last + 1] = [(signs.whisker, "")] * (last + 1 - first)
    cells[first], cells[last] = (signs.low, ""), (signs.high, "")
    excludes_zero = low > 0 or high < 0
    cells[at] = (signs.value if excludes_zero else signs.open_value, "figure")
    return _joined(cells)


def _ticks(labels: Mapping[int, str], indent: int) -> Text:
    """Labels of a scale, each centred over its column."""
    line = [" "] * (indent + max(labels) + 5)
    for column, label in labels.items():
        start = indent + column - (len(label) - 1) // 2
        line[start : start + len(label)] = label
    return Text("".join(line).rstrip(), style="basis")


def _joined(cells: Sequence[Cell]) -> Text:
    """Cells side by side, each run of one style as one piece."""
    runs = groupby(cells, key=itemgetter(1))
    return Text.assemble(*(("".join(sign for sign, _ in run), style) for style, run in runs))


def _column(score: float, plot: int) -> int:
    return round(score / 100 * (plot - 1))


def _offset(points: float, scale: int, columns: int) -> int:
    return round((points / scale + 1) / 2 * (columns - 1))
