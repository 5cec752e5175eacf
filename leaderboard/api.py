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
from leaderboard.filters import FILTERS, EntryFilter, unknown_filters
from leaderboard.models import Entry

INTERNAL_COLUMNS = ["id", "run", "league", "withdrawn_at", "withdrawn_reason"]


class EntrySerializer(ModelSerializer[Entry]):
    """Every column of an entry, and where its run is."""

    id = CharField(source="run.public_id")
    url = CharField(source="get_absolute_url")

    class Meta:
        model = Entry
        fields: ClassVar = [
            "id",
            "url",
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
    """`GET /api/v1/leaderboard/`: published entries, best first or in the `ordering` given."""

    permission_classes = [AllowAny]

    def get(self, request: Request) -> Response:
        reject_unknown_filters(request)
        entries = Entry.objects.shown().select_related("run").best_first()
        chosen = EntryFilter(request.query_params, queryset=entries)
        if chosen.errors:
            raise ValidationError(chosen.errors, code="invalid_filter")
        pages = EntryPages()
        page: list[Entry] = pages.paginate_queryset(chosen.qs, request, view=self) or []
        return pages.get_paginated_response(EntrySerializer(page, many=True).data)


def reject_unknown_filters(request: Request) -> None:
    """Raises ValidationError that names every unknown parameter and the known ones."""
    unknown = unknown_filters(request.query_params)
    if unknown:
        known = ", ".join(sorted(FILTERS))
        raise ValidationError(
            {
                name[:100]: [f"There is no such filter. The filters are: {known}."]
                for name in unknown[:10]
            },
            code="unknown_filter",
        )


class SchemaView(APIView):
    """`GET /api/v1/schema/result-v1.json`: the JSON Schema of result files."""

    permission_classes = [AllowAny]

    def get(self, request: Request) -> Response:
        return Response(result_schema())
