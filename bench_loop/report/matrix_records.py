"""View records of a matrix: what terminal, report and site print, every figure as text."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.report import plots
from bench_loop.report.figures import Figure
from bench_loop.report.records import Notice, Span
from bench_loop.report.side_by_side import Word

FEW_FIELDS = 9
"""Fields of a row that leave room on a wide page."""


@dataclass(frozen=True, slots=True)
class HarnessHead:
    """A harness as it stands above a column or before a line."""

    name: str
    shape: str
    version: str
    mark: str
    """`custom` for a person's own configuration, else empty."""
    is_named_alone: bool
    """No other harness of the matrix has its name: its version need not stand in narrow places."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model as it stands before a line."""

    name: str
    quantization: str
    note: str
    """What else tells it from another row; else empty."""

    @property
    def text(self) -> str:
        """All of it in one line."""
        return " ".join(filter(None, (self.name, self.quantization, self.note)))


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A field of the map. `kind` is its step of colour, `absent`, `dash` or `not-run`."""

    kind: str
    text: str
    below: str
    title: str
    is_sure: bool = False
    """A difference that is called better or worse, and whose interval excludes zero."""
    mark: str = ""
    """An asterisk: the cell is not all it should be, and its title says why."""
    spoken: str = ""
    """What a word or sign in the place of a figure means; empty for a figure."""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A model: the fields of each suite."""

    model: ModelName
    suites: tuple[tuple[HeatCell, ...], ...]


@dataclass(frozen=True, slots=True)
class HeatTable:
    """Models down, and across every suite with the same harnesses."""

    suites: tuple[str, ...]
    heads: tuple[HarnessHead, ...]
    rows: tuple[HeatRow, ...]
    basis: str
    means: str
    """A sentence for whoever knows no statistics."""

    @property
    def is_small(self) -> bool:
        """Its fields need not share the width of the page."""
        return len(self.suites) * len(self.heads) <= FEW_FIELDS


@dataclass(frozen=True, slots=True)
class Why:
    """Why some fields have no figure, or not a whole one."""

    sign: str
    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class CostColumn:
    """A quantity that a harness has beside its quality."""

    label: str
    unit: str
    means: str
    """A sentence for whoever knows no statistics."""


@dataclass(frozen=True, slots=True)
class CostCell:
    """A figure, and smaller beneath it its interval and what it is against raw."""

    value: str
    below: tuple[str, ...] = ()
    title: str = ""
    is_absent: bool = False
    """There is no figure: `value` is a dash or words, `title` says why."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """A harness, or a model in a harness."""

    head: HarnessHead
    model: ModelName | None
    n: str
    """How many models or tasks it is made of; a figure made of fewer says so itself."""
    quality: Figure | None
    word: Word | None
    plot: plots.DifferencePlot | None
    quality_absence: str
    """Stands where there is no difference of quality."""
    cost: tuple[CostCell, ...]
    conduct: tuple[CostCell, ...]


@dataclass(frozen=True, slots=True)
class CostTable:
    """Lines of costs and conduct on one axis of quality against raw."""

    basis: str
    ticks: tuple[plots.Tick, ...]
    lines: tuple[CostLine, ...]


@dataclass(frozen=True, slots=True)
class VarianceRow:
    """What one source has of the variance."""

    source: str
    means: str
    """A sentence for whoever knows no statistics."""
    figure: Figure
    bar: plots.ScoreBar
    share: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class VarianceView:
    """Where the variance comes from. Without rows `note` says why."""

    title: str
    basis: str
    rows: tuple[VarianceRow, ...]
    note: str


@dataclass(frozen=True, slots=True)
class MatrixView:
    """A matrix, ready to be printed."""

    title: str
    counts: tuple[str, ...]
    """What it is made of, for the line under the header."""
    lede: tuple[Span, ...]
    notices: tuple[Notice, ...]
    change: HeatTable | None
    """None: raw is the only harness."""
    sure_means: str
    """What a field says that stands out among the changes; begins in the middle of a sentence."""
    scores: HeatTable
    whys: tuple[Why, ...]
    costs: CostTable
    each: CostTable | None
    """Every model by itself; None: `costs` is that already."""
    quality_column: CostColumn
    cost_columns: tuple[CostColumn, ...]
    conduct_columns: tuple[CostColumn, ...]
    variance: VarianceView
