"""Filters of submissions and of the audit trail."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import Q, QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.models import LEVELS
from submissions.models import AuditEvent, Submission

LONGEST_VALUE = 200


class SubmissionFilter(filters.FilterSet):
    """Every filter narrows the list; of `status` and `level` several may be given."""

    status = filters.MultipleChoiceFilter(
        choices=Submission.Status.choices, help_text="Several may be given."
    )
    level = filters.MultipleChoiceFilter(choices=LEVELS, help_text="Several may be given.")
    owner = filters.CharFilter(
        "owner__username", "iexact", max_length=LONGEST_VALUE, help_text="The owner's name, whole."
    )
    mine = filters.ChoiceFilter(
        method="of_reader",
        choices=[("1", "1")],
        help_text="`1`: only those of whoever asks, whatever their status.",
    )
    model = filters.CharFilter(
        method="of_model", max_length=LONGEST_VALUE, help_text="A part of the model's name."
    )
    since = filters.DateFilter("created_at", "date__gte", help_text="First day, UTC.")
    until = filters.DateFilter("created_at", "date__lte", help_text="Last day, UTC.")

    class Meta:
        model = Submission
        fields: list[str] = []

    def of_model(
        self, queryset: QuerySet[Submission], name: str, value: str
    ) -> QuerySet[Submission]:
        """Published runs by the column of their entry; only the others' headers are read."""
        return queryset.filter(
            Q(run__entry__model_id__icontains=value)
            | Q(run__entry__isnull=True, run__header__subject__model_id__icontains=value)
        )

    def of_reader(
        self, queryset: QuerySet[Submission], name: str, value: str
    ) -> QuerySet[Submission]:
        return queryset.filter(owner_id=self.request.user.pk)


class AuditFilter(filters.FilterSet):
    """Every filter narrows the trail."""

    run = filters.CharFilter(
        "submission__run__public_id", max_length=LONGEST_VALUE, help_text="The run's id."
    )
    kind = filters.CharFilter(max_length=LONGEST_VALUE, help_text="What happened: `approved`.")
    since = filters.DateFilter("created_at", "date__gte", help_text="First day, UTC.")
    until = filters.DateFilter("created_at", "date__lte", help_text="Last day, UTC.")

    class Meta:
        model = AuditEvent
        fields: list[str] = []


def filters_of(filter_set: type[filters.FilterSet]) -> dict[str, filters.Filter]:
    """The filters by the names of their parameters."""
    found: dict[str, filters.Filter] = filter_set.get_filters()  # type: ignore[no-untyped-call]
    return found


def filtered(
    filter_set: type[filters.FilterSet], request: Request, rows: QuerySet[Any]
) -> QuerySet[Any]:
    """Those of `rows` that the address asks for. Raises ValidationError naming a wrong value."""
    chosen = filter_set(request.query_params, queryset=rows, request=request)
    if not chosen.is_valid():  # type: ignore[no-untyped-call]
        raise ValidationError(chosen.errors, code="invalid_filter")
    narrowed: QuerySet[Any] = chosen.qs
    return narrowed
