"""The filter rail: choices with the number of rows that each would give beside the others."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from bench_loop.report.printable import one_line
from leaderboard.filters import EntryFilter
from leaderboard.models import Entry

OPTIONS = 20
"""Choices of a facet before the rest folds."""
FACETS = (
    ("harness", "Harness", "harness"),
    ("gpu", "GPU", "gpu_model"),
    ("profile", "Profile", "profile"),
    ("quantization", "Quantization", "quantization"),
)
"""Facets of the rail: name in the address, title, column."""


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


def facets(parameters: QueryDict, entries: QuerySet[Entry]) -> tuple[Facet, ...]:
    """The filter rail over `entries`. A choice that would give nothing is there, with count 0."""
    return tuple(_facet(parameters, entries, *facet) for facet in FACETS)


def _facet(
    parameters: QueryDict, entries: QuerySet[Entry], name: str, title: str, column: str
) -> Facet:
    others = parameters.copy()
    others.pop(name, None)
    reachable = EntryFilter(others, queryset=entries).qs.order_by().values("pk")
    rows = (
        entries.select_related(None)
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


def hidden_matches(parameters: QueryDict) -> int:
    """Stacks of which a run matches the filters, but not the one that stands for them."""
    filters = parameters.copy()
    filters.pop("ordering", None)
    rows = EntryFilter(filters, queryset=Entry.objects.rows()).qs
    runs = EntryFilter(filters, queryset=Entry.objects.shown()).qs
    hidden = runs.exclude(stack__in=rows.order_by().values("stack"))
    return len(hidden.order_by().values_list("stack", flat=True).distinct())
