"""What the pages ask of the entries, and the entries as rows of a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.http import QueryDict
from django.utils import timezone

from bench_loop.report import figures, views
from bench_loop.report.board import COLUMNS, PROFILE_ORDER, Bounds, Column, Standing
from bench_loop.report.printable import one_line
from bench_loop.result.signature import short
from bench_loop.scoring import constants
from leaderboard.filters import EntryFilter
from leaderboard.models import CPU_ONLY, Entry

ROWS = 100
"""Rows on a page of the board."""
SIGNED_SHOWN = 5
"""Other runs of one installation that a run names."""
OPTIONS = 20
"""Choices of a facet before the rest folds."""
FACETS = (
    ("harness", "Harness", "harness"),
    ("gpu", "GPU", "gpu_model"),
    ("profile", "Profile", "profile"),
    ("quantization", "Quantization", "quantization"),
)
"""Facets of the rail: name in the address, title, column."""

SCORES = ("overall", "quality", "speed", "reliability", "value")


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a facet: how many rows it would give beside the other filters."""

    value: str
    label: str
    count: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Facet:
    """A group of choices in the filter rail; `folded` come only on demand."""

    name: str
    title: str
    options: tuple[Option, ...]
    folded: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the whole board was computed from."""

    runs: int
    ranked: int
    latest: str | None


def board_entries(entries: QuerySet[Entry]) -> QuerySet[Entry]:
    """Entries in the order of the board: ranked ones by profile and score, then the newest."""
    order = Case(
        *(When(profile=name, then=Value(place)) for place, name in enumerate(PROFILE_ORDER)),
        default=Value(len(PROFILE_ORDER)),
        output_field=IntegerField(),
    )
    return without_results(entries).order_by(
        F("is_ranked").desc(),
        Case(When(is_ranked=True, then=order), default=Value(0), output_field=IntegerField()),
        Case(When(is_ranked=True, then=F("overall_score"))).desc(nulls_last=True),
        "-finished_at",
        "pk",
    )


def without_results(entries: QuerySet[Entry]) -> QuerySet[Entry]:
    """With their runs' names, but not the result files, which lists do not need."""
    return entries.select_related("run").defer("run__result_bytes", "run__header")


def trending_entries(days: int, now: datetime | None = None) -> QuerySet[Entry]:
    """Entries published in the last days, newest first."""
    since = (now or timezone.now()) - timedelta(days=days)
    shown = without_results(Entry.objects.shown())
    return shown.filter(published_at__gte=since).order_by("-published_at", "-pk")


def device_entries(gpu: str, memory_gb: float | None) -> QuerySet[Entry]:
    """Ranked entries measured on this device, best first."""
    entries = without_results(Entry.objects.shown().best_first()).filter(gpu_model=gpu)
    return entries if memory_gb is None else entries.filter(gpu_memory_gb=memory_gb)


def entries_in_order(public_ids: Sequence[str]) -> list[Entry]:
    """The shown entries of these runs with their whole results, in the order asked for."""
    entries = Entry.objects.shown().select_related("run").filter(run__public_id__in=public_ids)
    found = {entry.run.public_id: entry for entry in entries}
    return [found[public_id] for public_id in public_ids if public_id in found]


def shown() -> Shown:
    """How much there is on the board, filters aside."""
    counts = Entry.objects.shown().aggregate(
        runs=Count("pk"), ranked=Count("pk", filter=Q(is_ranked=True))
    )
    latest = Entry.objects.shown().order_by("-finished_at").values_list("finished_at", flat=True)
    newest = latest.first()
    return Shown(counts["runs"], counts["ranked"], figures.moment(newest) if newest else None)


def devices() -> list[tuple[str, float | None, int]]:
    """Every device on the board with its memory and number of entries, most measured first."""
    rows = (
        Entry.objects.shown()
        .filter(gpu_model__isnull=False)
        .values_list("gpu_model", "gpu_memory_gb")
        .annotate(count=Count("pk"))
        .order_by("-count", "gpu_model")
    )
    return [(model or "", memory, count) for model, memory, count in rows]


def facets(parameters: QueryDict) -> tuple[Facet, ...]:
    """The filter rail. A choice that would give nothing is there, with the count 0."""
    return tuple(_facet(parameters, *facet) for facet in FACETS)


def _facet(parameters: QueryDict, name: str, title: str, column: str) -> Facet:
    others = parameters.copy()
    others.pop(name, None)
    reachable = EntryFilter(others, queryset=Entry.objects.shown()).qs.order_by().values("pk")
    rows = (
        Entry.objects.shown()
        .exclude(**{f"{column}__isnull": True})
        .values_list(column)
        .annotate(count=Count("pk", filter=Q(pk__in=reachable)))
        .order_by("-count", column)
    )
    chosen = {value.lower() for value in parameters.getlist(name)}
    options = [
        Option(value, one_line(value), count, value.lower() in chosen) for value, count in rows
    ]
    kept = [option for place, option in enumerate(options) if place < OPTIONS or option.is_chosen]
    folded = [option for option in options if option not in kept]
    return Facet(name, title, tuple(kept), tuple(folded))


def standing(entry: Entry) -> Standing:
    """An entry as a row's numbers."""
    generation = _rate(entry.generation_tps, entry.generation_tps_reach, entry.generation_tps_stdev)
    ttft = _rate(entry.ttft_s, entry.ttft_s_reach)
    has_band = entry.band_low is not None and entry.band_high is not None
    return Standing(
        href=entry.get_absolute_url(),
        stack=stack_name(entry),
        profile=entry.profile,
        league=entry.league,
        finished_at=entry.finished_at,
        scores=_scores(entry),
        generation=generation,
        ttft=ttft,
        answers_per_minute=entry.answers_per_minute,
        band=(entry.band_low or 0, entry.band_high or 0) if has_band else None,
        not_ranked=not_ranked(entry),
        trust=trust(entry),
    )


def not_ranked(entry: Entry) -> str:
    """Why an entry has no rank here, as a sentence; versions of the formulas are never mixed."""
    if entry.is_ranked and entry.scoring_version != constants.SCORING_VERSION:
        return (
            f"Scored by version {one_line(entry.scoring_version)}; "
            f"only version {constants.SCORING_VERSION} is ranked."
        )
    if entry.is_ranked and entry.overall_score is None:
        return "There is no overall score."
    return "" if entry.is_ranked else one_line(entry.not_ranked_reason)


def stack_name(entry: Entry) -> views.StackName:
    """Model, quantization, harness and device of an entry."""
    return views.StackName(
        model=one_line(entry.model_id),
        quantization=one_line(entry.quantization) if entry.quantization else None,
        harness=one_line(entry.harness),
        harness_version=one_line(entry.harness_version),
        harness_shape=views.harness_shape(entry.harness),
        device=device(entry.gpu_model, entry.gpu_memory_gb, entry.system_memory_gb),
        custom=one_line(entry.custom_reason, 400),
    )


def device(gpu: str | None, gpu_memory_gb: float | None, system_memory_gb: float | None) -> str:
    """`RTX 4090 24 GB`; for `CPU only` the system's memory; words where nothing is known."""
    if gpu is None:
        return "device not known"
    memory = system_memory_gb if gpu == CPU_ONLY else gpu_memory_gb
    return f"{one_line(gpu)} {figures.memory(memory)} GB" if memory else one_line(gpu)


def trust(entry: Entry) -> views.Trust:
    """The level of an entry; what comes from this machine's own files is only `local`."""
    if entry.withdrawn_at is not None:
        return views.trust("withdrawn")
    word = "local" if entry.is_local else entry.level
    found = views.trust(word, is_signed=bool(entry.run.signing_key))
    is_part = entry.is_sampled and word == "consistent"
    return replace(found, word=f"{word} (sampled)") if is_part else found


@dataclass(frozen=True, slots=True)
class Signature:
    """The key that a run was signed with, and how many shown runs there are besides by it."""

    key: str
    """As people compare it: the first digits of its hash."""
    others: int
    latest: tuple[Entry, ...]
    """Of those the newest."""


def signature(entry: Entry) -> Signature | None:
    """Which installation signed a run; None: it is not signed."""
    key = entry.run.signing_key
    if not key:
        return None
    others = Entry.objects.shown().filter(run__signing_key=key).exclude(pk=entry.pk)
    latest = without_results(others).order_by("-finished_at", "-pk")[:SIGNED_SHOWN]
    return Signature(short(key), others.count(), tuple(latest))


def columns(parameters: QueryDict) -> tuple[Column, ...]:
    """The heads of the board with the addresses that sort by them."""
    ordering = parameters.get("ordering", "-overall_score")
    return tuple(_sortable(column, ordering, parameters) for column in COLUMNS)


def _sortable(column: Column, ordering: str, parameters: QueryDict) -> Column:
    is_sorted = ordering.removeprefix("-") == column.key
    descending = ordering.startswith("-")
    lower_is_better = column.key.endswith("_s")
    target = column.key if (is_sorted and descending) or lower_is_better else f"-{column.key}"
    if lower_is_better and is_sorted and not descending:
        target = f"-{column.key}"
    linked = parameters.copy()
    linked.pop("page", None)
    linked["ordering"] = target
    direction = ("descending" if descending else "ascending") if is_sorted else None
    return replace(column, href=f"?{linked.urlencode()}", direction=direction)


def _scores(entry: Entry) -> Mapping[str, tuple[float, Bounds]]:
    found: dict[str, tuple[float, Bounds]] = {}
    for name in SCORES:
        value = getattr(entry, f"{name}_score")
        low, high = getattr(entry, f"{name}_score_low"), getattr(entry, f"{name}_score_high")
        if value is not None:
            found[name] = (value, (low, high) if low is not None and high is not None else None)
    return found


def _rate(
    value: float | None, reach: float | None, stdev: float | None = None
) -> tuple[float, figures.Figure] | None:
    """A rate or time, with digits and interval as everywhere else a run is shown."""
    if value is None:
        return None
    figure = figures.rate(value, reach)
    if stdev is None:
        return value, figure
    return value, replace(figure, exact=f"{figure.exact}, s = {figures.deviation(stdev, value)}")
