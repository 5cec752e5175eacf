"""`/api/v1/submissions/`: uploads, and the list of what was uploaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer
from rest_framework.request import Request
from rest_framework.response import Response

from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from runs.models import Run
from submissions import checks, copies, independence, intake, signatures
from submissions.addresses import address_hash, keyed_hash
from submissions.anonymous import anonymous_owner
from submissions.api import answers
from submissions.api.base import ApiView, Refusal, reader_of, require_sign_in, signed_in
from submissions.api.bodies import require_json
from submissions.api.described import PAGING as PAGING_PARAMETERS
from submissions.api.described import described, filter_parameters
from submissions.api.filters import SubmissionFilter, filtered, filters_of
from submissions.api.paging import PARAMETERS as PAGING
from submissions.api.paging import page_of
from submissions.api.records import (
    DryRunSerializer,
    ReceiptSerializer,
    SubmissionPageSerializer,
)
from submissions.checks import Finding
from submissions.storing import KeyReusedError, first_level, store
from submissions.visibility import listed_for

LONGEST_IDEMPOTENCY_KEY = 100
MAX_FIELDS_SHOWN = 20

RESULT_FILE = {
    "type": "object",
    "description": "A result file as `bench-loop` writes it. Its JSON Schema is at "
    "`/api/v1/schema/result-v1.json`.",
}
DRY_RUN = OpenApiParameter("dry_run", str, enum=["0", "1"], description="`1`: store nothing.")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": LONGEST_IDEMPOTENCY_KEY, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    OpenApiParameter.HEADER,
    description="One of your own for each run: a request that is sent again with it and the same "
    "run is answered as the first was, with another run it is refused.",
)


class SubmissionsView(ApiView):
    """GET lists submissions; POST takes the exact bytes of one result file, plain or gzip."""

    key_scopes = {"POST": "submit"}
    parameters = {
        "GET": (*filters_of(SubmissionFilter), *PAGING),
        "POST": ("dry_run",),
    }

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "POST" and settings.BENCHLOOP_ROLE != "public":
            raise Refusal(
                403,
                "uploads_off",
                "A local site takes no uploads: it shows the results folder of its machine.",
            )
        super().initial(request, *args, **kwargs)

    def check_permissions(self, request: Request) -> None:
        if not _is_anonymous_upload(request):
            super().check_permissions(request)

    def rate_name(self, request: Request) -> str:
        if request.method != "POST":
            return "read"
        if _is_anonymous_upload(request):
            return "anonymous_upload"
        return "dry_run" if request.query_params.get("dry_run") == "1" else "upload"

    @described(
        "Submissions",
        "Published runs for everybody; with a key that has the scope `read` its owner's own as "
        "well, and all for moderators. Newest first.",
        answers={200: SubmissionPageSerializer},
        parameters=(*filter_parameters(SubmissionFilter), *PAGING_PARAMETERS),
        operation_id="submissions_list",
    )
    def get(self, request: Request) -> Response:
        reader = reader_of(request)
        if "mine" in request.query_params:
            require_sign_in(request)
        rows = filtered(SubmissionFilter, request, listed_for(reader))
        rows = rows.select_related("run", "owner").defer("run__result_bytes")
        return Response(page_of(rows, request, lambda row: answers.submission(request, row)))

    @described(
        "Upload a run",
        "The exact bytes of one result file, plain or with `Content-Encoding: gzip`, by a key "
        "with the scope `submit`. The same run is stored once: whoever sends it again gets the "
        "first one's id. With `dry_run=1` every check runs and nothing is stored.",
        request={"application/json": RESULT_FILE},
        answers={
            200: OpenApiResponse(
                PolymorphicProxySerializer("Accepted", [ReceiptSerializer, DryRunSerializer], None),
                "The run was stored before; or what a dry run found.",
            ),
            201: OpenApiResponse(ReceiptSerializer, "Stored; a moderator will look at it."),
        },
        refusals=(409, 413, 415, 422),
        parameters=(DRY_RUN, IDEMPOTENCY_KEY),
        operation_id="submissions_create",
    )
    def post(self, request: Request) -> Response:
        """201 with the new submission, 200 with the first one for the same run.

        `?dry_run=1` runs every check, stores nothing, and answers 200 with all findings.
        """
        require_json(request)
        is_dry_run = _read_dry_run(request)
        idempotency_key = _read_idempotency_key(request)
        try:
            data = intake.read_body(request._request)
            result = intake.parse(data)
        except intake.IntakeError as error:
            raise Refusal(error.status, error.code, error.message, error.fields) from error
        owner = _owner(request)
        found = [
            *signatures.check_signature(data),
            *checks.findings(result, timezone.now()),
            *copies.findings(result, owner),
            *independence.findings(result, owner),
        ]
        if is_dry_run:
            return Response(_dry_run_answer(result, found, owner))
        _refuse(found)
        try:
            submission, is_new = store(result, data, owner, found, idempotency_key)
        except KeyReusedError as error:
            sentence = "This idempotency key was used for another run; send a new one."
            fields = {"Idempotency-Key": [sentence]}
            raise Refusal(409, "key_reused", sentence, fields) from error
        return Response(answers.receipt(request, submission), status=201 if is_new else 200)


def _is_anonymous_upload(request: Request) -> bool:
    """Whether nobody is signed in and the site takes uploads all the same.

    A bad key has been refused by now: it never makes a request anonymous.
    """
    return (
        settings.ANONYMOUS_UPLOADS
        and request.method == "POST"
        and not request.user.is_authenticated
    )


def _owner(request: Request) -> User:
    return anonymous_owner() if _is_anonymous_upload(request) else signed_in(request)


def _read_dry_run(request: Request) -> bool:
    value = request.query_params.get("dry_run", "0")
    if value not in ("0", "1"):
        message = "dry_run is 0 or 1."
        raise Refusal(400, "bad_parameter", message, {"dry_run": [message]})
    return value == "1"


def _read_idempotency_key(request: Request) -> str | None:
    """The key as it is stored: of people without an account every address has keys of its own."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not (0 < len(key) <= LONGEST_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()):
        sentence = (
            f"An Idempotency-Key has 1 to {LONGEST_IDEMPOTENCY_KEY} printable ASCII characters."
        )
        raise Refusal(400, "bad_idempotency_key", sentence, {"Idempotency-Key": [sentence]})
    if _is_anonymous_upload(request):
        return keyed_hash(f"{address_hash(request)}:{key}")
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


def _dry_run_answer(result: RunResult, found: Sequence[Finding], owner: User) -> dict[str, Any]:
    is_refused = any(finding.severity == "refused" for finding in found)
    known = Run.objects.filter(fingerprint=fingerprint(result)).only("public_id").first()
    return {
        "would_be_accepted": not is_refused,
        "level": None if is_refused else first_level(found, owner),
        "duplicate_of": known.public_id if known else None,
        "findings": [finding.as_json() for finding in found],
    }
