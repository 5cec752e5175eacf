"""What moderators choose submissions by."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from submissions import moderation_queue
from submissions.models import Submission

_PLAIN = frozenset({"p", "o", "_facets", "e"})
"""Parameters of the list that choose nothing."""


class QueueFilter(admin.SimpleListFilter):
    """By default what waits for the moderator; any other choice looks at all submissions."""

    title = "queue"
    parameter_name = "queue"
    CHOICES = {
        "waiting": ("waits for me", moderation_queue.WAITING),
        "pending": ("new", moderation_queue.PENDING),
        "appeals": ("appeals", moderation_queue.APPEALED),
        "reports": ("open reports", moderation_queue.REPORTED),
        "owner": ("waits for its owner", moderation_queue.WAITS_FOR_OWNER),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*((key, title) for key, (title, _) in self.CHOICES.items()), ("all", "all")]

    def chosen(self, request: HttpRequest) -> str:
        """The choice in force."""
        value = self.value()
        if value in (*self.CHOICES, "all"):
            return str(value)
        return "all" if set(request.GET) - _PLAIN else "waiting"

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission]:
        chosen = self.chosen(request)
        if chosen == "all":
            return queryset
        assert isinstance(request.user, User)
        return queryset.filter(self.CHOICES[chosen][1]).exclude(owner=request.user)

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        request = getattr(self, "request", None)
        chosen = self.chosen(request) if request else self.value()
        for key, title in self.lookup_choices:
            yield {
                "selected": key == chosen,
                "query_string": changelist.get_query_string({self.parameter_name: key}),
                "display": title,
            }


class SeverityFilter(admin.SimpleListFilter):
    """By the worst finding."""

    title = "worst finding"
    parameter_name = "severity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("3", "refused"), ("2", "needs review"), ("1", "note"), ("0", "none")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission]:
        value = self.value()
        return (
            queryset.filter(Q(severity=int(value))) if value in ("0", "1", "2", "3") else queryset
        )


class AgeFilter(admin.SimpleListFilter):
    """By how long it waits."""

    title = "age"
    parameter_name = "age"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "over a day"), ("3", "over 3 days"), ("7", "over a week")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission]:
        value = self.value()
        if value not in ("1", "3", "7"):
            return queryset
        return queryset.filter(Q(waiting_since__lt=timezone.now() - timedelta(days=int(value))))
