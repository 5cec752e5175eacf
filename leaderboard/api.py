"""The leaderboard over HTTP, read-only."""

from __future__ import annotations

import re
from typing import ClassVar

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import CharField, ModelSerializer
from rest_framework.views import APIView

from bench_loop.result.schema import result_schema
from leaderboard.board import without_results
from leaderboard.filters import EntryFilter, faults, unknown_filters
from leaderboard.models import Entry, Stack

INTERNAL_COLUMNS = [
    *("id", "run", "owner", "alias", "stack", "league", "withdrawn_at", "withdrawn_reason")
]


class StackSerializer(ModelSerializer[Stack]):
    """What is counted beside the run that stands for a stack."""

    class Meta:
        model = Stack
        fields: ClassVar = [
            "run_count",
            "owner_count",
            "uncounted_count",
            "withdrawn_count",
            "overall_low",
            "overall_high",
        ]


class EntrySerializer(ModelSerializer[Entry]):
    """Every column of an entry, where its run is, its model's one name, and its stack's counts."""

    id = CharField(source="run.public_id")
    url = CharField(source="get_absolute_url")
    model = CharField(source="stack.model.slug")
    model_name = CharField(source="stack.model.name")
    stack = StackSerializer()

    class Meta:
        model = Entry
        fields: ClassVar = [
            "id",
            "url",
            "model",
            "model_name",
            "stack",
            *(
                field.name
                for field in Entry._meta.concrete_fields
                if field.name not in INTERNAL_COLUMNS
            ),
        ]


class EntryPages(PageNumberPagination):
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

    def get_page_size(self, request: Request) -> int:
        """The size asked for. Raises ValidationError instead of giving another one."""
        text = request.query_params.get("page_size", str(self.page_size))
        if not re.fullmatch("[1-9][0-9]{0,2}", text) or int(text) > self.max_page_size:
            sentence = f"A page has 1 to {self.max_page_size} rows."
            raise ValidationError({"page_size": [sentence]}, code="invalid_filter")
        return int(text)


class LeaderboardView(APIView):
    """`GET /api/v1/leaderboard/`: a row a stack, best first or in the `ordering` given.

    The columns are those of the run that stands for the stack, and the filters look at that run.
    """

    permission_classes = [AllowAny]

    def get(self, request: Request) -> Response:
        entries = without_results(Entry.objects.rows().best_first())
        chosen = EntryFilter(request.query_params, queryset=entries)
        if wrong := faults(chosen):
            is_unknown = unknown_filters(request.query_params)
            raise ValidationError(wrong, code="unknown_filter" if is_unknown else "invalid_filter")
        pages = EntryPages()
        page: list[Entry] = pages.paginate_queryset(chosen.qs, request, view=self) or []
        return pages.get_paginated_response(EntrySerializer(page, many=True).data)


class SchemaView(APIView):
    """`GET /api/v1/schema/result-v1.json`: the JSON Schema of result files."""

    permission_classes = [AllowAny]

    def get(self, request: Request) -> Response:
        return Response(result_schema())
