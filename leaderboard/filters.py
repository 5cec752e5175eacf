"""Filters of the leaderboard: the same names in pages and API."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any
from urllib.parse import urlencode

import django_filters as filters
from django import forms
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual
from django.http import QueryDict

from bench_loop.report.printable import one_line
from leaderboard.models import LEVELS, Entry
from leaderboard.names import model_at

NOT_FILTERS = frozenset({"page", "page_size"})
"""Parameters of the address that belong to paging."""

LONGEST_VALUE = 200

LONGEST_NAME = 100
"""Characters of an unknown parameter that are said back."""
MOST_FAULTS = 10

MEMORY_GB = Coalesce("gpu_memory_gb", "system_memory_gb")

ORDERINGS = (
    "overall_score",
    "quality_score",
    "speed_score",
    "reliability_score",
    "value_score",
    "answers_per_minute",
    "generation_tps",
    "prompt_tps",
    "ttft_s",
    "finished_at",
    "published_at",
)


class AnyOfField(forms.Field):
    """A parameter that may come several times: `harness=raw&harness=aider`."""

    widget = forms.SelectMultiple

    def clean(self, value: Any) -> list[str]:
        one = forms.CharField(required=False, max_length=LONGEST_VALUE)
        return [text for text in (one.clean(item) for item in value or ()) if text]


class AnyOfFilter(filters.Filter):
    """Rows whose column equals any of the values, capitals or not."""

    field_class = AnyOfField

    def filter(self, qs: QuerySet[Entry], value: Sequence[str]) -> QuerySet[Entry]:
        if not value:
            return qs
        return qs.filter(reduce(or_, (Q(**{f"{self.field_name}__iexact": one}) for one in value)))


class ModelField(AnyOfField):
    """Slugs of models. An old one means the model that it leads to now; another is an error."""

    def clean(self, value: Any) -> list[str]:
        slugs = []
        for slug in super().clean(value):
            model = model_at(slug)
            if model is None:
                raise forms.ValidationError(f"There is no model at {one_line(slug)}.")
            slugs.append(model.slug)
        return slugs


class ModelFilter(filters.Filter):
    """Rows of any of the models at these slugs."""

    field_class = ModelField

    def filter(self, qs: QuerySet[Entry], value: Sequence[str]) -> QuerySet[Entry]:
        return qs.filter(stack__model__slug__in=value) if value else qs


class OrderingFilter(filters.ChoiceFilter):
    """`ordering=ttft_s` or `-ttft_s`: unknown values are last in both directions."""

    def __init__(self) -> None:
        names = [*ORDERINGS, *(f"-{name}" for name in ORDERINGS)]
        super().__init__(choices=[(name, name) for name in names])

    def filter(self, qs: QuerySet[Entry], value: str) -> QuerySet[Entry]:
        if not value:
            return qs
        column = F(value.removeprefix("-"))
        order = column.desc if value.startswith("-") else column.asc
        return qs.order_by(order(nulls_last=True), "pk")


class EntryFilter(filters.FilterSet):
    """Memory is the GPU's where there is one, else the system's, in GiB."""

    model = ModelFilter()
    harness = AnyOfFilter("harness")
    gpu = AnyOfFilter("gpu_model")
    device_class = AnyOfFilter("device_class")
    model_family = AnyOfFilter("model_family")
    quantization = AnyOfFilter("quantization")
    profile = AnyOfFilter("profile")
    provider = AnyOfFilter("provider")
    # BooleanFilter takes what is neither for no filter at all.
    custom = filters.TypedChoiceFilter(
        method="run_as_pinned",
        choices=[("true", "true"), ("false", "false")],
        coerce=lambda text: text == "true",
    )
    level = filters.MultipleChoiceFilter(choices=LEVELS)
    q = filters.CharFilter(method="search", max_length=LONGEST_VALUE)
    min_memory_gb = filters.NumberFilter(method="at_least_memory")
    max_memory_gb = filters.NumberFilter(method="at_most_memory")
    since = filters.DateFilter("finished_at", "date__gte")
    until = filters.DateFilter("finished_at", "date__lte")
    ordering = OrderingFilter()

    class Meta:
        model = Entry
        fields: list[str] = []

    def search(self, queryset: QuerySet[Entry], name: str, value: str) -> QuerySet[Entry]:
        """Every word must occur in the model's name or id, its family, the GPU or the harness."""
        for word in value.split():
            queryset = queryset.filter(
                Q(stack__model__name__icontains=word)
                | Q(model_id__icontains=word)
                | Q(model_family__icontains=word)
                | Q(gpu_model__icontains=word)
                | Q(harness__icontains=word)
            )
        return queryset

    def run_as_pinned(self, queryset: QuerySet[Entry], name: str, value: bool) -> QuerySet[Entry]:
        """Runs whose harness was in another configuration than the pinned one, or the others."""
        return queryset.exclude(custom_reason="") if value else queryset.filter(custom_reason="")

    def at_least_memory(self, queryset: QuerySet[Entry], name: str, value: Any) -> QuerySet[Entry]:
        return queryset.filter(GreaterThanOrEqual(MEMORY_GB, float(value)))

    def at_most_memory(self, queryset: QuerySet[Entry], name: str, value: Any) -> QuerySet[Entry]:
        return queryset.filter(LessThanOrEqual(MEMORY_GB, float(value)))


FILTERS = frozenset(EntryFilter.get_filters())  # type: ignore[no-untyped-call]


def unknown_filters(names: Iterable[str]) -> list[str]:
    """Those of `names` that are no filter: a misspelt one must not give the whole board."""
    return sorted(set(names) - FILTERS - NOT_FILTERS)


def faults(chosen: EntryFilter) -> dict[str, list[str]]:
    """What is wrong with an address: for each parameter sentences with the remedy. Empty: nothing.

    The same for page, API and export. While one is wrong no row is shown, since a reader would take
    the whole board for the part that was asked for.
    """
    found = {
        name[:LONGEST_NAME]: [_no_such_filter(name)]
        for name in unknown_filters(chosen.data)[:MOST_FAULTS]
    }
    return found | {name: [str(line) for line in lines] for name, lines in chosen.errors.items()}


def _no_such_filter(name: str) -> str:
    known = sorted(FILTERS)
    close = difflib.get_close_matches(name[:LONGEST_NAME], known, n=2, cutoff=0.6)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    return f"There is no such filter. {hint}The filters are: {', '.join(known)}."


def view_query(parameters: QueryDict) -> str:
    """What the address of a view consists of, in one order: the same view has the same link."""
    skipped = ("page", "page_size")
    pairs = [
        (name, value)
        for name, values in sorted(parameters.lists())
        if name not in skipped
        for value in sorted(set(values))
        if value
    ]
    return urlencode(pairs)


def with_present_models(parameters: QueryDict) -> QueryDict | None:
    """The same address with old slugs of models replaced; None: it has none."""
    slugs = parameters.getlist("model")
    found = [model_at(slug) if slug else None for slug in slugs]
    present = [model.slug if model else slug for slug, model in zip(slugs, found, strict=True)]
    if present == slugs:
        return None
    replaced = parameters.copy()
    replaced.setlist("model", list(dict.fromkeys(present)))
    return replaced
