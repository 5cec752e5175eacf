"""`/api/v1/runs/<id>/`: runs as they are stored; they are never changed."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import NotFound
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.models import Run
from submissions.api.base import ApiView, reader_of
from submissions.api.described import described
from submissions.api.records import RunSerializer
from submissions.permissions import require_scope
from submissions.visibility import Reader


class IsReading(BasePermission):
    message = "Runs are never changed; a submission can be withdrawn by its owner."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in ("GET", "HEAD", "OPTIONS")


class RunView(ApiView):
    """GET: the run without its trials."""

    permission_classes = [IsReading]

    @described(
        "A run",
        "The run without its trials. Runs that are not published are for their owner and "
        "moderators.",
        answers={200: RunSerializer},
        refusals=(404,),
        operation_id="runs_retrieve",
    )
    def get(self, request: Request, public_id: str) -> Response:
        run = _readable(request, public_id)
        return Response(
            {
                "id": run.public_id,
                "url": request.build_absolute_uri(run.get_absolute_url()),
                "source": run.source,
                "created_at": run.created_at,
                "run": run.header,
            }
        )


class RunFileView(ApiView):
    """GET: the file's exact bytes."""

    permission_classes = [IsReading]

    @described(
        "The result file of a run",
        "The exact bytes as they were uploaded.",
        answers={200: OpenApiTypes.OBJECT},
        refusals=(404,),
        operation_id="runs_file",
    )
    def get(self, request: Request, public_id: str) -> HttpResponse:
        run = _readable(request, public_id)
        return HttpResponse(run.data(), content_type="application/json")


def _readable(request: Request, public_id: str) -> Run:
    """The run, for whoever may read it. Raises NotFound, and 403 for a key without the scope."""
    run = Run.objects.select_related("entry", "submission").filter(public_id=public_id).first()
    if run is not None and is_readable(run, reader_of(request)):
        return run
    if run is not None and is_readable(run, request.user):
        require_scope(request, "read")
    raise NotFound("There is no such run.")


def is_readable(run: Run, reader: Reader) -> bool:
    """Shown runs are for all, others for owner and moderators."""
    entry, submission = getattr(run, "entry", None), getattr(run, "submission", None)
    is_shown = entry is not None and entry.withdrawn_at is None
    return is_shown or (submission is not None and submission.is_readable_by(reader))
