"""Filters of the leaderboard: the same names in pages and API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import django_filters as filters
from django import forms
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual

from leaderboard.models import LEVELS, Entry

NOT_FILTERS = frozenset({"page", "page_size"})
"""Parameters of the address that belong to paging."""

LONGEST_VALUE = 200

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
        """Every word must occur in the model, its family, the GPU or the harness."""
        for word in value.split():
            queryset = queryset.filter(
                Q(model_id__icontains=word)
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
