"""The one error body of the API: `{code, message, fields}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.views import defaults
from rest_framework.exceptions import (
    APIException,
    AuthenticationFailed,
    ErrorDetail,
    NotAuthenticated,
    NotFound,
    Throttled,
    ValidationError,
)
from rest_framework.exceptions import PermissionDenied as ApiPermissionDenied
from rest_framework.response import Response
from rest_framework.views import set_rollback

from submissions.addresses import address_hash
from submissions.authentication import where_keys_are_made
from submissions.throttles import wait_s

API_PREFIX = "/api/"

Fields = dict[str, list[str]]


def body(code: str, message: str, fields: Fields | None = None) -> dict[str, object]:
    """`fields` maps a field path (or a filter's name) to sentences about it."""
    return {"code": code, "message": message, "fields": fields or {}}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """REST framework's exception handler. None: not ours to answer, it becomes a logged 500."""
    if isinstance(error, Http404):
        error = NotFound()
    elif isinstance(error, PermissionDenied):
        error = ApiPermissionDenied()
    if not isinstance(error, APIException):
        return None
    error = _slowed_down(error, context)
    if isinstance(error, NotAuthenticated):
        error.detail = _key_needed(context)
    set_rollback()
    return Response(_described(error), status=error.status_code, headers=_headers(error))


def _slowed_down(error: APIException, context: Mapping[str, Any]) -> APIException:
    """What is said to an address that has shown too many bad keys: to wait, and no more.

    A good key is heard from there all the same: it cannot be guessed, and its owner may share the
    address with a client that is set up wrongly.
    """
    request = context.get("request")
    is_failure = isinstance(error, AuthenticationFailed)
    if not is_failure or request is None or settings.BENCHLOOP_ROLE != "public":
        return error
    wait = wait_s("failed_authentication", address_hash(request))
    return error if wait is None else Throttled(wait, "Too many requests with a bad key.")


def _key_needed(context: Mapping[str, Any]) -> ErrorDetail:
    return ErrorDetail(
        "This needs an API key, in the header: Authorization: Bearer <API key>. "
        + where_keys_are_made(context["request"]),
        NotAuthenticated.default_code,
    )


def _described(error: APIException) -> dict[str, object]:
    if isinstance(error, ValidationError):
        fields = _fields(error.detail)
        message = next(
            (lines[0] for lines in fields.values() if lines), "The request is not valid."
        )
        return body(str(_first_code(error.get_codes()) or error.default_code), message, fields)
    return body(str(error.get_codes()), str(error.detail), getattr(error, "fields", None))


def _fields(detail: Any) -> Fields:
    if isinstance(detail, Mapping):
        return {str(name): _sentences(lines) for name, lines in detail.items()}
    return {"": _sentences(detail)}


def _sentences(lines: Any) -> list[str]:
    if isinstance(lines, Sequence) and not isinstance(lines, str):
        return [str(line) for line in lines]
    return [str(lines)]


def _first_code(codes: Any) -> object:
    while isinstance(codes, Mapping | list) and codes:
        codes = next(iter(codes.values())) if isinstance(codes, Mapping) else codes[0]
    return codes


def _headers(error: APIException) -> dict[str, str]:
    headers: dict[str, str] = {}
    challenge = getattr(error, "auth_header", None)
    if challenge:
        headers["WWW-Authenticate"] = challenge
    wait = getattr(error, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    return headers


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith(API_PREFIX)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """What Django itself refuses before a view runs: a wrong Host, a broken query string."""
    if _is_api(request):
        return JsonResponse(body("bad_request", "The request is malformed."), status=400)
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if _is_api(request):
        return JsonResponse(body("permission_denied", "You may not do this."), status=403)
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if _is_api(request):
        return JsonResponse(body("not_found", "There is nothing at this address."), status=404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """The traceback is in the log; the client learns only that it was not its fault."""
    if _is_api(request):
        return JsonResponse(body("server_error", "The site failed at this request."), status=500)
    return defaults.server_error(request)
