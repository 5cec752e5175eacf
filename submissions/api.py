"""Uploads and runs over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import APIException, NotFound, PermissionDenied, UnsupportedMediaType
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from leaderboard import versions
from runs.models import Run
from submissions import checks, intake
from submissions.checks import Finding
from submissions.models import AuditEvent, ModerationError, Submission, is_moderator

LONGEST_IDEMPOTENCY_KEY = 100
MAX_FIELDS_SHOWN = 20


class Refusal(APIException):
    """An answer with its own status, code, message and fields."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        fields: Mapping[str, list[str]] | None = None,
    ) -> None:
        super().__init__(message, code)
        self.status_code = status
        self.fields = dict(fields or {})


class IsReading(BasePermission):
    message = "Runs are never changed; a submission can be withdrawn by its owner."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in ("GET", "HEAD", "OPTIONS")


class SubmissionsView(APIView):
    """`POST /api/v1/submissions/`: the exact bytes of one result file, plain or gzip.

    201 with the new submission, 200 with the first one for the same run, else an error body.
    `?dry_run=1` runs every check, stores nothing, and answers 200 with all findings.
    """

    permission_classes = [IsAuthenticated]
    throttle_classes = [ScopedRateThrottle]
    throttle_scope = "submit"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if settings.BENCHLOOP_ROLE != "public":
            raise Refusal(
                403,
                "uploads_off",
                "A local site takes no uploads: it shows the results folder of its machine.",
            )
        super().initial(request, *args, **kwargs)

    def post(self, request: Request) -> Response:
        _require_json(request)
        is_dry_run = _read_dry_run(request)
        idempotency_key = _read_idempotency_key(request)
        try:
            data = intake.read_body(request._request)
            result = intake.parse(data)
        except intake.IntakeError as error:
            raise Refusal(error.status, error.code, error.message, error.fields) from error
        found = checks.findings(result, timezone.now())
        if is_dry_run:
            return Response(_dry_run_answer(result, found))
        _refuse(found)
        owner = _user(request)
        submission, is_new = submit(result, data, owner, found, idempotency_key)
        return Response(_answer(request, submission), status=201 if is_new else 200)


def submit(
    result: RunResult,
    data: bytes,
    owner: User,
    found: Sequence[Finding],
    idempotency_key: str | None = None,
) -> tuple[Submission, bool]:
    """Store a checked upload. Gives the submission and whether it is new.

    The same run, whoever sends it and however often at once, is stored once. Raises Refusal when
    the idempotency key was used for another run.
    """
    known = _known(result)
    if known is None:
        try:
            with transaction.atomic():
                return _store(result, data, owner, found, idempotency_key), True
        except IntegrityError:
            known = _known(result)
    if known is None:
        raise Refusal(409, "key_reused", "This idempotency key was used for another run.")
    return known, False


def _known(result: RunResult) -> Submission | None:
    return (
        Submission.objects.select_related("run")
        .filter(run__fingerprint=fingerprint(result))
        .first()
    )


def _store(
    result: RunResult,
    data: bytes,
    owner: User,
    found: Sequence[Finding],
    idempotency_key: str | None,
) -> Submission:
    run = Run.of(result, data, Run.Source.UPLOAD)
    run.save(force_insert=True)
    submission = Submission.objects.create(
        run=run,
        owner=owner,
        level=checks.level(found),
        findings=[finding.as_json() for finding in found],
        idempotency_key=idempotency_key,
    )
    AuditEvent.objects.create(submission=submission, actor=owner, kind="submitted")
    return submission


def _require_json(request: Request) -> None:
    media_type = (request.content_type or "").split(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType(media_type[:100], "Send the result as application/json.")


def _read_dry_run(request: Request) -> bool:
    unknown = set(request.query_params) - {"dry_run"}
    value = request.query_params.get("dry_run", "0")
    if unknown or value not in ("0", "1"):
        message = "The only parameter here is dry_run, 0 or 1."
        raise Refusal(400, "unknown_parameter", message, {"dry_run": [message]})
    return value == "1"


def _read_idempotency_key(request: Request) -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and not (
        0 < len(key) <= LONGEST_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()
    ):
        raise Refusal(
            400,
            "bad_idempotency_key",
            f"An Idempotency-Key has 1 to {LONGEST_IDEMPOTENCY_KEY} printable ASCII characters.",
        )
    return key


def _refuse(found: Sequence[Finding]) -> None:
    """Raises Refusal when any finding is a refusal, with the fields it is about."""
    refusals = [finding for finding in found if finding.severity == "refused"]
    if not refusals:
        return
    fields: dict[str, list[str]] = {}
    for finding in refusals:
        name = intake.shown(finding.field)
        if name in fields or len(fields) < MAX_FIELDS_SHOWN:
            fields.setdefault(name, []).append(finding.sentence)
    first = refusals[0]
    raise Refusal(422, first.code, f"{intake.shown(first.field)}: {first.sentence}", fields)


def _dry_run_answer(result: RunResult, found: Sequence[Finding]) -> dict[str, Any]:
    is_refused = any(finding.severity == "refused" for finding in found)
    known = _known(result)
    return {
        "would_be_accepted": not is_refused,
        "level": None if is_refused else checks.level(found),
        "duplicate_of": known.run.public_id if known else None,
        "findings": [finding.as_json() for finding in found],
    }


def _answer(request: Request, submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.run.public_id,
        "status": submission.status,
        "level": submission.level,
        "url": request.build_absolute_uri(submission.run.get_absolute_url()),
    }


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


class SubmissionView(APIView):
    """`/api/v1/submissions/<id>/`: GET for owner and moderators, for all once approved.

    DELETE withdraws it: the owner's, for good.
    """

    permission_classes = [AllowAny]

    def get(self, request: Request, public_id: str) -> Response:
        submission = _readable_submission(request, public_id)
        return Response(_answer(request, submission) | _details(submission, request.user))

    def delete(self, request: Request, public_id: str) -> Response:
        submission = _readable_submission(request, public_id)
        if request.user.pk != submission.owner_id:
            raise PermissionDenied("Only its owner can withdraw a submission.")
        try:
            submission.withdraw(_user(request))
        except ModerationError as error:
            raise Refusal(409, "not_possible", str(error)) from error
        return Response(status=204)


def _readable_submission(request: Request, public_id: str) -> Submission:
    submission = (
        Submission.objects.select_related("run", "owner").filter(run__public_id=public_id).first()
    )
    if submission is None or not submission.is_readable_by(request.user):
        raise NotFound("There is no such submission.")
    return submission


def _details(submission: Submission, user: Any) -> dict[str, Any]:
    """Status and times for all readers; findings, reason and history for owner and moderators."""
    details: dict[str, Any] = {
        "created_at": submission.created_at,
        "decided_at": submission.decided_at,
    }
    if user.pk == submission.owner_id or is_moderator(user):
        details |= {
            "reason": submission.reason,
            "findings": submission.findings,
            "history": [
                {"kind": event.kind, "at": event.created_at, **event.data}
                for event in submission.audit.all()
            ],
        }
    return details


class RunView(APIView):
    """`GET /api/v1/runs/<id>/`: the run without its trials."""

    permission_classes = [AllowAny, IsReading]

    def get(self, request: Request, public_id: str) -> Response:
        run = readable_run(request.user, public_id)
        return Response(
            {
                "id": run.public_id,
                "url": request.build_absolute_uri(run.get_absolute_url()),
                "source": run.source,
                "created_at": run.created_at,
                "stack": versions.as_json(public_id),
                "run": run.header,
            }
        )


class RunFileView(APIView):
    """`GET /api/v1/runs/<id>/result.json`: the file's exact bytes."""

    permission_classes = [AllowAny, IsReading]

    def get(self, request: Request, public_id: str) -> HttpResponse:
        run = readable_run(request.user, public_id)
        return HttpResponse(run.data(), content_type="application/json")


def readable_run(user: Any, public_id: str) -> Run:
    """The run, if `user` may read it: shown runs for all, others for owner and moderators.

    Raises NotFound.
    """
    run = Run.objects.select_related("entry", "submission").filter(public_id=public_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    entry, submission = getattr(run, "entry", None), getattr(run, "submission", None)
    is_shown = entry is not None and entry.withdrawn_at is None
    if not is_shown and not (submission is not None and submission.is_readable_by(user)):
        raise NotFound("There is no such run.")
    return run
