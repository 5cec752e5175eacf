"""A matrix in a terminal: the answer first, then what changed, what it costs, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bench_loop.console import NARROW, Signs, clean, in_signs, signs, width
from bench_loop.report.figures import EN_DASH
from bench_loop.report.marks import VALUE, axis, label, plot_columns, score_bar, wrapped
from bench_loop.report.matrix import SIGNS, matrix_view
from bench_loop.report.matrix_records import (
    CostCell,
    CostColumn,
    CostLine,
    CostTable,
    HarnessHead,
    HeatCell,
    HeatTable,
    MatrixView,
    ModelName,
    VarianceView,
)
from bench_loop.report.terminal import NOTICE_STYLES, SPAN_STYLES
from bench_loop.scoring.matrix import Matrix

NAME = 22
"""Columns of a model or of a quantity at the left of a table."""
FIELD = 13
"""Columns of a field with its gap: `−41.7` over `−73 to −10`."""
COST_FIELD = 12
"""Columns of a cost at least: `77,600` over `23.8× raw`; more where an interval needs them."""
NOT_RUN_SIGN = SIGNS["not_run"][0]
SIGN_KEY = ", ".join(f"{sign} {word}" for sign, word in SIGNS.values()) + ", – not comparable"
SHORT_WORDS = {"too close to call": "too close", "floor or ceiling": "floor, ceiling"}
"""Verdicts for which a column has no room."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What a matrix is laid out on."""

    screen: Console
    signs: Signs

    @property
    def is_narrow(self) -> bool:
        return width(self.screen) < NARROW

    def plain(self, text: str) -> str:
        """`text` as it will be printed: its own signs are counted before it is cut or padded."""
        shown = in_signs(Text(clean(text)), self.signs).plain
        return shown.replace(NOT_RUN_SIGN, self.signs.empty)

    def prose(self, *parts: str | tuple[str, str]) -> list[Text]:
        return wrapped(Text.assemble(*parts), self.screen)

    def cut(self, text: str, columns: int, style: str = "label") -> Text:
        """`text` in so many columns, with a gap."""
        return Text().append(f"{_short(self.plain(text), columns - 1):<{columns}}", style=style)

    def right(self, text: str, columns: int, style: str) -> Text:
        """`text` at the right of so many columns, with a gap before it."""
        shown = _short(self.plain(text), columns - 1)
        gap = " " * (columns - cell_len(shown))
        return Text(gap).append(shown, style=style)

    def pieces(self, count: int, field: int) -> list[range]:
        """So many columns, in pieces that fit and are as equal as can be."""
        at_most = max((width(self.screen) - NAME) // field, 1)
        size = math.ceil(count / math.ceil(count / at_most)) if count else 1
        return [range(start, min(start + size, count)) for start in range(0, count, size)]


def print_matrix(matrix: Matrix, console: Console) -> None:
    """Print everything that is told of `matrix`."""
    view = matrix_view(matrix)
    page = _Page(console, signs(console))
    sections = (
        page.prose((view.title, "accent"), ("  " + ", ".join(view.counts), "basis")),
        _lede(view, page),
        _map("change against raw", view.change, page) if view.change else (),
        _map("score", view.scores, page),
        _reasons(view, page),
        _costs(view, page),
        _variance(view.variance, page),
    )
    console.print()
    for section in sections:
        lines = list(section)
        for line in lines:
            line.rstrip()
            console.print(in_signs(line, page.signs), soft_wrap=True)
        if lines:
            console.print()


def _lede(view: MatrixView, page: _Page) -> Iterator[Text]:
    yield from page.prose(*((clean(span.text), SPAN_STYLES[span.kind]) for span in view.lede))
    for notice in view.notices:
        yield from page.prose((clean(notice.text), NOTICE_STYLES[notice.kind]))


# --- The maps -------------------------------------------------------------------------------------

Fields = Sequence[tuple[ModelName, Sequence[HeatCell]]]
"""Each model with its fields in one suite."""


def _map(title: str, table: HeatTable, page: _Page) -> Iterator[Text]:
    """A block a suite; models down, harnesses across, in as many pieces as they need."""
    yield from page.prose(title, (f"  {table.basis}", "basis"))
    for place, suite in enumerate(table.suites):
        yield Text()
        yield Text(clean(suite), style="figure")
        rows = [(row.model, row.suites[place]) for row in table.rows]
        if page.is_narrow:
            yield from _listed(table.heads, rows, page)
            continue
        for columns in page.pieces(len(table.heads), FIELD):
            yield from _grid(table.heads, rows, columns, page)


def _grid(
    heads: Sequence[HarnessHead], rows: Fields, columns: range, page: _Page
) -> Iterator[Text]:
    yield from _head_lines([heads[column] for column in columns], FIELD, page)
    for model, cells in rows:
        about = " ".join(filter(None, (model.quantization, model.note)))
        first, second = page.cut(model.name, NAME), page.cut(about, NAME, "basis")
        for cell in (cells[column] for column in columns):
            first.append_text(page.right(f"{cell.text}{cell.mark}", FIELD, _style(cell)))
            second.append_text(page.right(cell.below, FIELD, "basis"))
        yield first
        if second.plain.strip():
            yield second


def _listed(heads: Sequence[HarnessHead], rows: Fields, page: _Page) -> Iterator[Text]:
    """A line a field, for a narrow terminal."""
    for model, cells in rows:
        yield from page.prose(clean(model.text))
        for head, cell in zip(heads, cells, strict=True):
            figure = (page.plain(f"{cell.text}{cell.mark}"), _style(cell))
            yield from page.prose(
                (f"  {_named(head)}  ", "basis"), figure, (f" {cell.below}", "basis")
            )


def _style(cell: HeatCell) -> str:
    if cell.is_sure:
        return "better" if cell.kind.startswith("change-plus") else "worse"
    return "basis" if cell.spoken else "figure"


def _reasons(view: MatrixView, page: _Page) -> Iterator[Text]:
    """What the signs mean, then why fields have them."""
    yield from page.prose((page.plain(SIGN_KEY), "basis"))
    if view.change:
        yield from page.prose((f"In colour: {view.sure_means}", "basis"))
    for why in view.whys:
        where, reason = clean(why.where), clean(why.reason)
        yield from page.prose((f"{why.sign}  ", "figure"), where, (f": {reason}", "basis"))


# --- Costs ----------------------------------------------------------------------------------------


def _costs(view: MatrixView, page: _Page) -> Iterator[Text]:
    """Quantities down, harnesses across."""
    table = view.costs
    yield from page.prose("what the harness costs", (f"  {table.basis}", "basis"))
    columns = (*view.cost_columns, *view.conduct_columns)
    if page.is_narrow:
        yield from _costs_listed(table, columns, page)
        return
    field = _cost_field(table.lines, columns, page)
    for places in page.pieces(len(table.lines), field):
        yield Text()
        yield from _costs_grid([table.lines[place] for place in places], columns, field, page)


def _cost_field(lines: Sequence[CostLine], columns: Sequence[CostColumn], page: _Page) -> int:
    """Columns in which every figure has room, and a gap."""
    cells = [cell for _, _, row in _quantities(lines, columns) for cell in row]
    texts = [text for cell in cells for text in (cell.value, *cell.below)]
    return max(COST_FIELD, *(cell_len(page.plain(text)) + 2 for text in texts))


def _costs_grid(
    lines: Sequence[CostLine], columns: Sequence[CostColumn], field: int, page: _Page
) -> Iterator[Text]:
    yield from _head_lines([line.head for line in lines], field, page)
    counts = page.cut("", NAME)
    for line in lines:
        counts.append_text(page.right(line.n, field, "basis"))
    yield counts
    for name, unit, cells in _quantities(lines, columns):
        if all(cell.is_absent for cell in cells):
            continue
        left = (name, unit, "", "", "")
        for number in range(max(2, *(1 + len(cell.below) for cell in cells))):
            row = page.cut(left[number], NAME, "basis" if number else "label")
            for cell in cells:
                text = (cell.value, *cell.below, *[""] * len(left))[number]
                style = "basis" if number or cell.is_absent else "figure"
                row.append_text(page.right(text, field, style))
            yield row


def _costs_listed(table: CostTable, columns: Sequence[CostColumn], page: _Page) -> Iterator[Text]:
    for line in table.lines:
        yield Text()
        yield Text.assemble((_named(line.head), "figure"), (f"  {line.n}", "basis"))
        for name, unit, (cell,) in _quantities([line], columns):
            if not cell.is_absent:
                more = f" {', '.join((unit, *cell.below))}"
                yield from page.prose(f"  {name} ", (cell.value, "figure"), (more, "basis"))


def _quantities(
    lines: Sequence[CostLine], columns: Sequence[CostColumn]
) -> Iterator[tuple[str, str, Sequence[CostCell]]]:
    """Name, unit, and the cell of each line: quality first."""
    yield "Quality against raw", "points", [_quality_cell(line) for line in lines]
    rows = zip(*((*line.cost, *line.conduct) for line in lines), strict=True)
    for column, cells in zip(columns, rows, strict=True):
        yield column.label, column.unit, cells


def _quality_cell(line: CostLine) -> CostCell:
    if line.quality is None:
        is_baseline = line.quality_absence == "baseline"
        return CostCell("baseline" if is_baseline else EN_DASH, is_absent=True)
    below = (
        line.quality.interval,
        SHORT_WORDS.get(line.word.text, line.word.text) if line.word else None,
    )
    return CostCell(line.quality.value, tuple(filter(None, below)))


# --- Variance -------------------------------------------------------------------------------------


def _variance(view: VarianceView, page: _Page) -> Iterator[Text]:
    yield from page.prose(view.title.lower(), (f"  {view.basis}", "basis"))
    plot = plot_columns(width(page.screen))
    if view.rows and plot:
        yield axis(plot)
    for row in view.rows:
        line = label(row.source).append(f"{row.figure.value:>{VALUE - 1}} ", style="figure")
        if plot:
            line.append_text(score_bar(row.share, row.interval, page.signs, plot)).append("  ")
        yield line.append(row.figure.interval or "", style="basis")
    yield from page.prose((clean(view.note), "basis"))


# --- Columns --------------------------------------------------------------------------------------


def _head_lines(heads: Sequence[HarnessHead], field: int, page: _Page) -> Iterator[Text]:
    """Names over the columns, with a second line where one has a mark or a version to tell."""
    names, marks = page.cut("", NAME), page.cut("", NAME)
    for head in heads:
        names.append_text(page.right(head.name, field, "accent"))
        marks.append_text(page.right(_mark(head), field, "basis"))
    yield names
    if marks.plain.strip():
        yield marks


def _mark(head: HarnessHead) -> str:
    return " ".join(filter(None, ("" if head.is_named_alone else head.version, head.mark)))


def _named(head: HarnessHead) -> str:
    return clean(f"{head.name} {_mark(head)}".rstrip())


def _short(text: str, columns: int) -> str:
    """`text` in at most so many columns, its end cut off."""
    cut = Text(text)
    cut.truncate(columns, overflow="crop")
    return cut.plain
