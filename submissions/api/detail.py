"""`/api/v1/submissions/<id>/` and what is sent to it: changes, reports, appeals."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiResponse, extend_schema_view
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from submissions.addresses import address_hash
from submissions.api import answers
from submissions.api.base import ApiView, Refusal, reader_of, signed_in
from submissions.api.bodies import read_fields
from submissions.api.described import described
from submissions.api.records import (
    ChangesSerializer,
    NewReportSerializer,
    ReportReceiptSerializer,
    SubmissionDetailSerializer,
    WordsSerializer,
)
from submissions.models import ModerationError, Submission
from submissions.permissions import require_scope
from submissions.reporting import AlreadyReportedError, report, reporter_hash
from submissions.visibility import Reader, readable_by


class SubmissionView(ApiView):
    """GET for whoever may read it; PATCH and DELETE are its owner's."""

    key_scopes = {"PATCH": "manage", "DELETE": "manage"}

    @described(
        "A submission",
        "With its history. What was published and taken back stays readable here. Findings and the "
        "last decision's reason are for owner and moderators.",
        answers={200: SubmissionDetailSerializer},
        refusals=(404,),
        operation_id="submissions_retrieve",
    )
    def get(self, request: Request, public_id: str) -> Response:
        row = _readable(request, public_id)
        return Response(answers.detail(request, row, reader_of(request)))

    @described(
        "Change notes and labels",
        "For its owner, by a key with the scope `manage`. What is left out stays as it is; "
        "characters that cannot be seen are taken out. Every change stands in the history.",
        request=ChangesSerializer,
        answers={200: OpenApiResponse(SubmissionDetailSerializer, "As it is now.")},
        refusals=(404, 409, 413, 415),
        operation_id="submissions_update",
    )
    def patch(self, request: Request, public_id: str) -> Response:
        row = _own(request, public_id, "Only its owner can edit a submission.")
        changes = read_fields(request, ChangesSerializer)
        try:
            row.edit(signed_in(request), changes)
        except ModerationError as error:
            raise _not_possible(error) from error
        return Response(_as_it_is_now(request, row))

    @described(
        "Withdraw a submission",
        "For its owner, by a key with the scope `manage`, and for good: the run leaves the "
        "leaderboard, its record and history stay.",
        answers={204: None},
        refusals=(404, 409),
        operation_id="submissions_withdraw",
    )
    def delete(self, request: Request, public_id: str) -> Response:
        row = _own(request, public_id, "Only its owner can withdraw a submission.")
        try:
            row.withdraw(signed_in(request))
        except ModerationError as error:
            raise _not_possible(error) from error
        return Response(status=204)


class ReportView(ApiView):
    """POST: a doubt about a run, from anybody who can read it, for the moderators."""

    rates = {"POST": "report"}

    @described(
        "Report a run",
        "Anybody may, once for each run. Moderators read it; the address it comes from is kept "
        "only as a keyed hash.",
        request=NewReportSerializer,
        answers={201: OpenApiResponse(ReportReceiptSerializer, "The moderators have it.")},
        refusals=(404, 409, 413, 415),
        operation_id="submissions_report",
    )
    def post(self, request: Request, public_id: str) -> Response:
        row = _readable(request, public_id)
        fields = read_fields(request, NewReportSerializer)
        reporter = request.user if isinstance(request.user, User) else None
        who = reporter_hash(reporter, address_hash(request))
        try:
            made = report(row, fields["kind"], fields["text"], reporter, who)
        except AlreadyReportedError as error:
            raise Refusal(409, "already_reported", str(error)) from error
        body = {"run": public_id, "kind": made.kind, "created_at": made.created_at}
        return Response(body, status=201)


class WordsView(ApiView):
    """POST of words from the owner that become part of the public history."""

    key_scopes = {"POST": "manage"}
    otherwise: str

    def post(self, request: Request, public_id: str) -> Response:
        row = _own(request, public_id, self.otherwise)
        text = read_fields(request, WordsSerializer)["text"]
        try:
            self.say(row, signed_in(request), text)
        except ModerationError as error:
            raise _not_possible(error) from error
        return Response(_as_it_is_now(request, row))

    def say(self, row: Submission, actor: User, text: str) -> None:
        """Raises ModerationError where it cannot be said now."""
        raise NotImplementedError


def _words_described(summary: str, description: str, name: str) -> Any:
    return extend_schema_view(
        post=described(
            summary,
            f"{description} By a key of its owner with the scope `manage`; the words become part "
            "of the public history.",
            request=WordsSerializer,
            answers={200: OpenApiResponse(SubmissionDetailSerializer, "As it is now.")},
            refusals=(404, 409, 413, 415),
            operation_id=name,
        )
    )


@_words_described(
    "Appeal",
    "Ask for another decision about a run that was rejected or flagged, once for each decision.",
    "submissions_appeal",
)
class AppealView(WordsView):
    otherwise = "Only its owner can appeal."

    def say(self, row: Submission, actor: User, text: str) -> None:
        row.appeal(actor, text)


@_words_described(
    "Answer what was asked",
    "Answer a moderator who asked for changes, so that the run waits for moderators again.",
    "submissions_answer",
)
class AnswerView(WordsView):
    otherwise = "Only its owner can answer."

    def say(self, row: Submission, actor: User, text: str) -> None:
        row.answer_request(actor, text)


def _readable(request: Request, public_id: str) -> Submission:
    """The submission, for whoever may read it. Raises NotFound, and 403 for a key without scope."""
    row = _find(reader_of(request), public_id)
    if row is None:
        if _find(request.user, public_id) is not None:
            require_scope(request, "read")
        raise NotFound("There is no such submission.")
    return row


def _own(request: Request, public_id: str, otherwise: str) -> Submission:
    """The submission, for its owner. Raises NotFound, or PermissionDenied to other readers."""
    row = _find(request.user, public_id)
    if row is None:
        raise NotFound("There is no such submission.")
    if row.owner_id != request.user.pk:
        raise PermissionDenied(otherwise)
    return row


def _as_it_is_now(request: Request, row: Submission) -> dict[str, Any]:
    """The answer to a change, which shows no more than the same key could read."""
    reader = reader_of(request)
    body = answers.detail(request, row, reader)
    if _find(reader, row.run.public_id) is None:
        body |= {"history": [], "evidence": []}
    return body


def _find(reader: Reader, public_id: str) -> Submission | None:
    rows = readable_by(reader).select_related("run", "owner").defer("run__result_bytes")
    return rows.filter(run__public_id=public_id).first()


def _not_possible(error: ModerationError) -> Refusal:
    return Refusal(409, "not_possible", str(error))
