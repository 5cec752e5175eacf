"""`/api/v1/audit/`: what was done to published runs, when and why, for everybody."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from submissions.api import answers
from submissions.api.base import ApiView
from submissions.api.described import PAGING as PAGING_PARAMETERS
from submissions.api.described import described, filter_parameters
from submissions.api.filters import AuditFilter, filtered, filters_of
from submissions.api.paging import PARAMETERS as PAGING
from submissions.api.paging import page_of
from submissions.api.records import TrailPageSerializer
from submissions.visibility import public_trail


class AuditView(ApiView):
    """GET: the public trail, newest first."""

    parameters = {"GET": (*filters_of(AuditFilter), *PAGING)}

    @described(
        "The public audit trail",
        "What was done to the runs that are or were published: when, what, why, and in which role; "
        "never by whom. Newest first.",
        answers={200: TrailPageSerializer},
        parameters=(*filter_parameters(AuditFilter), *PAGING_PARAMETERS),
        operation_id="audit_list",
    )
    def get(self, request: Request) -> Response:
        rows = filtered(AuditFilter, request, public_trail())
        rows = rows.select_related("submission__run").defer(
            "submission__run__result_bytes", "submission__run__header"
        )
        return Response(page_of(rows, request, lambda row: answers.trail_event(request, row)))
