"""A board as text: the rows of the site's leaderboard and of the static dashboard's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bench_loop.report import figures, plots
from bench_loop.report.figures import EN_DASH, Figure
from bench_loop.report.records import Span, StackName, Trust
from bench_loop.report.repeats import Repeats

PROFILE_ORDER = ("core", "full", "harness", "quick")
"""Profiles that are ranked, in the order of the board."""

Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a row is made from: numbers, not text yet. Scores that are unknown are left out.

    Only rows of one `league` are ranked against each other; it is opaque, and lies in the profile.
    """

    href: str
    stack: StackName
    profile: str
    league: str
    finished_at: datetime
    scores: Mapping[str, tuple[float, Bounds]]
    generation: tuple[float, Figure] | None = None
    ttft: tuple[float, Figure] | None = None
    answers_per_minute: float | None = None
    band: tuple[int, int] | None = None
    not_ranked: str = ""
    trust: Trust | None = None
    repeats: Repeats | None = None
    """None: the row is a single run, not one that stands for a stack."""

    @property
    def overall(self) -> float:
        """For ordering: a missing score comes last."""
        return self.scores["overall"][0] if "overall" in self.scores else -1.0

    @property
    def overall_figure(self) -> Figure | None:
        """The overall score as text; None without a rank."""
        has_rank = "overall" in self.scores and not self.not_ranked
        return figures.score(*self.scores["overall"]) if has_rank else None


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure in a column; None: nothing is known, and `absence` stands there."""

    label: str
    figure: Figure | None
    sort: str
    tier: int = 1
    absence: str = EN_DASH


@dataclass(frozen=True, slots=True)
class Column:
    """A head of the table. `direction` is set on the column that the rows are sorted by."""

    key: str
    label: str
    unit: str
    tier: int = 1
    href: str | None = None
    direction: str | None = None


COLUMNS = (
    Column("overall_score", "Overall", ""),
    Column("quality_score", "Quality", "0–100"),
    Column("speed_score", "Speed", "0–100", tier=3),
    Column("reliability_score", "Reliab.", "0–100", tier=2),
    Column("value_score", "Value", "0–100", tier=3),
    Column("generation_tps", "Gen.", "tok/s"),
    Column("ttft_s", "TTFT", "s"),
)
"""The figures of a row, overall first. Third tier goes first where it is narrow, then second."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, ready to be printed."""

    href: str
    stack: StackName
    band: str
    overall: Figure | None
    overall_sort: str
    plot: plots.IntervalPlot | None
    cells: tuple[Cell, ...]
    profile: str
    finished: str
    finished_sort: str
    trust: Trust | None
    reason: str
    repeats: Repeats | None


@dataclass(frozen=True, slots=True)
class Pick:
    """A stack that stands out, and the figure for which it does."""

    what: str
    href: str
    stack: StackName
    figure: str
    basis: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one caption. `is_first_place`: they share it and carry the green edge."""

    caption: str
    rows: tuple[Row, ...]
    is_first_place: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """Rows in their groups: ranked by profile, then those without a rank."""

    axis: plots.Axis | None
    groups: tuple[Group, ...]
    lede: tuple[Span, ...]
    picks: tuple[Pick, ...]
    has_repeats: bool
    """Whether the rows are stacks, with a column for their numbers of runs."""


def board(standings: Sequence[Standing], *, keep_order: bool = False) -> Board:
    """Group the standings: shared first place, the other ranked ones, those without a rank.

    Runs of different leagues are never ranked together; inside a profile the league with the most
    rows comes first. Ranked rows go by overall score, the others by time, newest first.
    `keep_order` leaves the order as it is (the reader chose another column), and then no group
    shares first place.
    """
    ranked = [standing for standing in standings if not standing.not_ranked]
    others = [standing for standing in standings if standing.not_ranked]
    if not keep_order:
        ranked.sort(key=lambda standing: -standing.overall)
        others.sort(key=lambda standing: standing.finished_at, reverse=True)
    axis = _axis(ranked)
    leagues = _leagues(ranked)
    groups: list[Group] = []
    for place, league in enumerate(leagues):
        prefix = f"{league[0].profile.capitalize()}. " if len(leagues) > 1 else ""
        if place and league[0].profile == leagues[place - 1][0].profile:
            prefix = f"{league[0].profile.capitalize()} with other tasks, harness or thinking. "
        groups += _ranked_groups(league, axis, prefix, share_first=not keep_order)
    if others:
        rows = tuple(_row(standing, None, None) for standing in others)
        groups.append(Group("Not ranked" if keep_order else "Not ranked, newest first", rows))
    first_league = leagues[0] if leagues else []
    return Board(
        axis,
        tuple(groups),
        board_lede(first_league, others),
        picks(first_league),
        has_repeats=any(standing.repeats for standing in standings),
    )


def _leagues(ranked: Sequence[Standing]) -> list[list[Standing]]:
    """The ranked rows by league, in the order of the profiles and then of their numbers."""
    by_league: dict[tuple[str, str], list[Standing]] = {}
    for standing in ranked:
        by_league.setdefault((standing.profile, standing.league), []).append(standing)
    return sorted(
        by_league.values(), key=lambda rows: (PROFILE_ORDER.index(rows[0].profile), -len(rows))
    )


def _ranked_groups(
    league: Sequence[Standing], axis: plots.Axis | None, prefix: str, *, share_first: bool
) -> list[Group]:
    lead = max(league, key=lambda standing: standing.overall).scores["overall"][1]
    first = [one for one in league if share_first and one.band and one.band[0] == 1]
    tied = first if len(first) > 1 else []
    rest = tuple(_row(one, axis, lead) for one in league if one not in tied)
    if not tied:
        return [Group(f"{prefix}Ranked by overall score" if prefix else "", rest)]
    caption = (
        f"{prefix}First place is shared: these {len(tied)} stacks cannot be told apart from the "
        "first of their league at 95 %"
    )
    groups = [Group(caption, tuple(_row(one, axis, lead) for one in tied), is_first_place=True)]
    return [*groups, Group("Surely below at least one of the above", rest)] if rest else groups


def board_lede(ranked: Sequence[Standing], others: Sequence[Standing]) -> tuple[Span, ...]:
    """What the board says, in a sentence; where it can say nothing, that."""
    if not ranked and not others:
        return (Span("No run yet", "strong"), Span(". The first one will stand here."))
    if not ranked:
        return _unranked_lede(others)
    best = max(ranked, key=lambda standing: standing.overall)
    sharing = sum(1 for standing in ranked if standing.band and standing.band[0] == 1)
    spans = []
    if sharing > 1:
        spans += [Span(f"{sharing} stacks share first place", "strong"), Span(". ")]
    spans += [Span("Highest overall: "), *_named(best), Span(": ")]
    value, bounds = best.scores["overall"]
    figure = figures.score(value, bounds)
    spans.append(Span(figure.value, "strong"))
    if figure.interval:
        spans += [Span(" "), Span(f"({figure.interval})", "interval")]
    if best.repeats:
        spans.append(Span(f", {best.repeats.counts}"))
    runs = f"{len(ranked)} ranked {'stack' if len(ranked) == 1 else 'stacks'}"
    return (*spans, Span(f", of {runs}, profile {best.profile}."))


def _unranked_lede(others: Sequence[Standing]) -> tuple[Span, ...]:
    latest = max(others, key=lambda standing: standing.finished_at)
    spans = [Span("Nothing is ranked yet", "strong"), Span(". Latest run: "), *_named(latest)]
    if latest.generation:
        spans += [Span(", "), Span(latest.generation[1].value, "strong"), Span(" tok/s")]
    return (*spans, Span(f". {latest.not_ranked}"))


def _named(standing: Standing) -> list[Span]:
    stack = standing.stack
    name = " ".join(filter(None, (stack.model, stack.quantization)))
    return [Span(name, "strong"), Span(f", {stack.harness}, {stack.device}")]


def picks(ranked: Sequence[Standing]) -> tuple[Pick, ...]:
    """The ranked stacks with the highest quality, answer rate and generation speed."""
    found = []
    with_quality = [one for one in ranked if "quality" in one.scores]
    if with_quality:
        best = max(with_quality, key=lambda one: one.scores["quality"][0])
        value, bounds = best.scores["quality"]
        found.append(_pick("Highest quality", best, str(figures.score(value, bounds)), "quality"))
    answering = [one for one in ranked if one.answers_per_minute is not None]
    if answering:
        best = max(answering, key=lambda one: one.answers_per_minute or 0.0)
        rate = figures.significant(best.answers_per_minute or 0.0)
        found.append(_pick("Most right answers per minute", best, rate, "per min"))
    timed = [one for one in ranked if one.generation is not None]
    if timed:
        best = max(timed, key=lambda one: one.generation[0] if one.generation else 0.0)
        text = str(best.generation[1]) if best.generation else ""
        found.append(_pick("Fastest generation", best, text, "tok/s"))
    return tuple(found)


def _pick(what: str, standing: Standing, figure: str, basis: str) -> Pick:
    return Pick(what, standing.href, standing.stack, figure, basis)


def _axis(standings: Sequence[Standing]) -> plots.Axis | None:
    extents = [
        bounds or (value, value)
        for value, bounds in (
            standing.scores["overall"] for standing in standings if "overall" in standing.scores
        )
    ]
    return plots.shared_axis(extents) if extents else None


def _row(standing: Standing, axis: plots.Axis | None, lead: Bounds) -> Row:
    is_ranked = not standing.not_ranked
    overall = standing.scores.get("overall") if is_ranked else None
    return Row(
        href=standing.href,
        stack=standing.stack,
        band=band_text(standing.band) if standing.band and is_ranked else EN_DASH,
        overall=figures.score(*overall) if overall else None,
        overall_sort=_sortable(overall[0] if overall else None),
        plot=plots.interval_plot(axis, overall[0], overall[1], lead) if overall and axis else None,
        cells=_cells(standing),
        profile=standing.profile,
        finished=figures.moment(standing.finished_at),
        finished_sort=_sortable(standing.finished_at.timestamp()),
        trust=standing.trust,
        reason=standing.not_ranked,
        repeats=standing.repeats,
    )


def band_text(band: tuple[int, int]) -> str:
    """A rank band: `1–5`, and a single number only where the band is one."""
    low, high = band
    return str(low) if low == high else f"{low}{EN_DASH}{high}"


def _cells(standing: Standing) -> tuple[Cell, ...]:
    cells = []
    for column in COLUMNS[1:]:
        value, figure = _figure(standing, column.key)
        label = column.label if column.unit.startswith("0") else f"{column.label} {column.unit}"
        cells.append(Cell(label, figure, _sortable(value), column.tier))
    return tuple(cells)


def _figure(standing: Standing, key: str) -> tuple[float | None, Figure | None]:
    measured = {"generation_tps": standing.generation, "ttft_s": standing.ttft}
    if key in measured:
        return measured[key] or (None, None)
    score = standing.scores.get(key.removesuffix("_score"))
    return (score[0], figures.score(*score)) if score else (None, None)


def _sortable(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
