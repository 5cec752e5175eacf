"""Geometry of the small plots that are drawn on the server: bars, whiskers, tapes, timings.

Coordinates are strings, ready for SVG presentation attributes, so that pages need no style
attribute and no script. Colours and strokes are the style sheet's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench_loop.contracts.verifier import Outcome
from bench_loop.report import figures

CELL = 10
"""Side of a tape cell in pixels; cells stand `CELL + GAP` apart."""
GAP = 2
PLOT_WIDTH = 150
ROW_HEIGHT = 55
"""Height of the board's interval plot: the height of its row."""
_OUTCOME_BAR = 300


@dataclass(frozen=True, slots=True)
class ScoreBar:
    """A bar from 0 to the value and its whisker, on 0 to 100 over `PLOT_WIDTH`."""

    length: str
    whisker: str | None


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    x: str
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A shared score axis over `PLOT_WIDTH`; it may start above 0, since position is read."""

    low: float
    high: float
    ticks: tuple[Tick, ...]

    @property
    def scale(self) -> str:
        """The axis in words, for where its ticks cannot be shown."""
        return f"{self.low:g} to {self.high:g}"

    def x(self, value: float) -> float:
        """Where `value` lies; outside the axis it lies at its end."""
        share = (value - self.low) / (self.high - self.low)
        return PLOT_WIDTH * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """Dot and whisker on a shared axis; `lead_x` and `lead_width` are the first row's interval."""

    dot: str
    whisker: str | None
    lead_x: str | None
    lead_width: str | None


@dataclass(frozen=True, slots=True)
class DifferenceAxis:
    """An axis of differences over `width`, zero in the middle, from -`limit` to +`limit` points."""

    limit: float
    width: int

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Its ends, their halves and zero."""
        half = self.limit / 2
        points = (-self.limit, -half, 0.0, half, self.limit)
        return tuple(Tick(f"{self.x(at):.1f}", figures.signed(at, 0)) for at in points)

    def x(self, points: float) -> float:
        """Where a difference lies; outside the axis it lies at its end."""
        inside = min(max(points, -self.limit), self.limit)
        return self.width * (inside + self.limit) / (2 * self.limit)


@dataclass(frozen=True, slots=True)
class DifferencePlot:
    """A square of eight pixels with its whisker, 24 high; filled where the whisker excludes zero.

    `whisker` is None where no interval is known.
    """

    dot: str
    whisker: str | None
    is_sure: bool


@dataclass(frozen=True, slots=True)
class TapeCell:
    """One trial: column of its task, row of its trial."""

    x: int
    y: int
    outcome: Outcome
    title: str


@dataclass(frozen=True, slots=True)
class Tape:
    """All trials of a suite: a column a task, trials deep."""

    suite: str
    width: int
    height: int
    cells: tuple[TapeCell, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of an outcome bar."""

    outcome: Outcome
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class TimingMark:
    """A moment within a trial."""

    x: str
    label: str
    anchor: str
    row: int


@dataclass(frozen=True, slots=True)
class Timing:
    """Sent to last token of one trial, over 900 pixels: the wait, then the generation."""

    wait: str
    generation_x: str
    generation: str
    marks: tuple[TimingMark, ...]
    label: str


def score_bar(value: float, interval: Sequence[float] | None) -> ScoreBar:
    """Bar with whisker of a score, 0 to 100."""
    scale = PLOT_WIDTH / 100
    whisker = None
    if interval:
        low, high = interval[0] * scale, interval[1] * scale
        whisker = f"M{_at(low)} 8H{_at(high)}M{_at(low)} 4v8M{_at(high)} 4v8"
    return ScoreBar(_at(value * scale), whisker)


def shared_axis(extents: Iterable[tuple[float, float]]) -> Axis:
    """An axis on tens that holds all `extents`: 30 to 50 points wide, or else 0 to 100."""
    ends = list(extents) or [(0.0, 100.0)]
    low = 10 * math.floor(min(end[0] for end in ends) / 10)
    high = 10 * math.ceil(max(end[1] for end in ends) / 10)
    while high - low < 30:
        low, high = max(low - 10, 0), min(high + 10, 100)
    step = 10
    if high - low > 50:
        low, high, step = 0, 100, 25
    width = high - low
    ticks = tuple(
        Tick(_at(PLOT_WIDTH * (value - low) / width), str(value))
        for value in range(low, high + 1, step)
    )
    return Axis(low, high, ticks)


def interval_plot(
    axis: Axis,
    value: float,
    interval: Sequence[float] | None,
    lead: Sequence[float] | None,
) -> IntervalPlot:
    """Dot and whisker of one row; `lead` is the interval of the first row, drawn as a band."""
    middle = ROW_HEIGHT / 2
    whisker = None
    if interval:
        low, high = _at(axis.x(interval[0])), _at(axis.x(interval[1]))
        top = _at(middle - 4.5)
        whisker = f"M{low} {_at(middle)}H{high}M{low} {top}v9M{high} {top}v9"
    return IntervalPlot(
        dot=f"M{_at(axis.x(value))} {_at(middle)}h.01",
        whisker=whisker,
        lead_x=_at(axis.x(lead[0])) if lead else None,
        lead_width=_at(axis.x(lead[1]) - axis.x(lead[0])) if lead else None,
    )


def difference_axis(ends: Iterable[float], width: int) -> DifferenceAxis:
    """An axis on tens that holds all `ends`."""
    furthest = max((abs(end) for end in ends), default=0.0)
    return DifferenceAxis(max(10.0, 10.0 * math.ceil(furthest / 10)), width)


def difference_plot(
    axis: DifferenceAxis, value: float, interval: Sequence[float] | None
) -> DifferencePlot:
    """A difference in points on `axis`."""
    whisker, is_sure = None, False
    if interval:
        low, high = (f"{axis.x(end):.1f}" for end in interval)
        whisker = f"M{low} 12H{high}M{low} 8v8M{high} 8v8"
        is_sure = interval[0] > 0 or interval[1] < 0
    return DifferencePlot(f"{axis.x(value) - 4:.1f}", whisker, is_sure)


def tape(suite: str, tasks: Sequence[tuple[str, Sequence[Outcome]]]) -> Tape:
    """The tape of a suite from its tasks and the outcomes of their trials, in order."""
    cells = tuple(
        TapeCell(
            x=column * (CELL + GAP),
            y=row * (CELL + GAP),
            outcome=outcome,
            title=f"{task}, trial {row + 1}",
        )
        for column, (task, outcomes) in enumerate(tasks)
        for row, outcome in enumerate(outcomes)
    )
    depth = max((len(outcomes) for _, outcomes in tasks), default=0)
    passed = sum(cell.outcome == "pass" for cell in cells)
    return Tape(
        suite=suite,
        width=max(len(tasks) * (CELL + GAP) - GAP, CELL),
        height=max(depth * (CELL + GAP) - GAP, CELL),
        cells=cells,
        label=f"{suite}: {passed} of {len(cells)} trials passed",
    )


def outcome_bar(counts: Sequence[tuple[Outcome, int]]) -> tuple[Segment, ...]:
    """Shares of the outcomes over 300 units, one unit apart; none where nothing was counted."""
    total = sum(count for _, count in counts)
    segments: list[Segment] = []
    done = 0
    for outcome, count in counts:
        if count:
            start, end = _OUTCOME_BAR * done / total, _OUTCOME_BAR * (done + count) / total
            gap = 1 if done + count < total else 0
            segments.append(Segment(outcome, _at(start), _at(end - start - gap)))
            done += count
    return tuple(segments)


def timing(first_s: float, last_s: float, thinking_s: float | None = None) -> Timing | None:
    """When the first and the last token of a trial came; None where that cannot be drawn."""
    if last_s <= 0 or not 0 <= first_s <= last_s:
        return None
    scale = 900 / last_s
    first = first_s * scale
    marks = (
        TimingMark("0", "sent", "start", 0),
        TimingMark(
            _at(first), f"first token {first_s:.2f} s", "end" if first > 620 else "start", 1
        ),
        TimingMark("900", f"last token {last_s:.2f} s", "end", 0),
    )
    heard = "thinking token" if thinking_s is not None else "token"
    return Timing(
        wait=_at(first),
        generation_x=_at(first),
        generation=_at(900 - first),
        marks=marks,
        label=f"sent at 0, first {heard} {first_s:.2f} s, last token {last_s:.2f} s",
    )


def _at(value: float) -> str:
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"
