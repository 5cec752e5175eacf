"""How operations are described in the OpenAPI document: every answer, error and header of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import django_filters as filters
from django.forms import SelectMultiple
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from submissions.api.filters import filters_of
from submissions.api.paging import CURSOR, LARGEST_PAGE, PAGE_SIZE
from submissions.api.records import ErrorSerializer

Operation = TypeVar("Operation", bound=Callable[..., Any])

ALWAYS = (400, 401, 403, 406, 429)
"""Errors that any operation may answer."""

WHY = {
    400: "A parameter, a header or the body is malformed; `fields` names it.",
    401: "There is no key where one is needed, or the key is not good.",
    403: "The key lacks the scope, or this is not for its owner to do.",
    404: "There is no such thing, or it is not for the reader.",
    406: "The Accept header leaves no JSON.",
    409: "Not possible in the present state; `code` says why.",
    413: "The body is too large.",
    415: "The body is not `application/json`, or compressed in a way that is not understood.",
    422: "The result file was read and is refused; `fields` names what is wrong.",
    429: "Too many requests of this key or address; `Retry-After` says how long to wait.",
}

HEADERS = (
    OpenApiParameter(
        "Retry-After",
        {"type": "integer", "minimum": 1},
        OpenApiParameter.HEADER,
        required=True,
        description="Seconds until the next request is answered.",
        response=[429],
    ),
    OpenApiParameter(
        "WWW-Authenticate",
        str,
        OpenApiParameter.HEADER,
        required=True,
        description="`Bearer`: a key is sent as `Authorization: Bearer <API key>`.",
        response=[401],
    ),
)

PAGING = (
    OpenApiParameter(
        "cursor",
        {"type": "string", "pattern": f"^{CURSOR}$"},
        description="Where the page before ended; `next` has it.",
    ),
    OpenApiParameter(
        "page_size",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": PAGE_SIZE},
        description="Rows of a page.",
    ),
)

EMPTY = {"type": "string", "const": ""}
"""A filter without a value narrows nothing; forms send such."""
LARGEST_NUMBER = 1e50
"""What django-filter takes."""


def described(
    summary: str,
    description: str = "",
    *,
    answers: Mapping[int, Any],
    refusals: Iterable[int] = (),
    request: Any = None,
    parameters: Iterable[OpenApiParameter] = (),
    operation_id: str | None = None,
) -> Callable[[Operation], Operation]:
    """Describe a view's method: what it answers, and with which errors beside ALWAYS it refuses."""
    errors = {
        status: OpenApiResponse(ErrorSerializer, WHY[status])
        for status in sorted({*ALWAYS, *refusals})
    }
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        request=request,
        responses={**_with_words(answers), **errors},
        parameters=[*parameters, *HEADERS],
    )


def _with_words(answers: Mapping[int, Any]) -> dict[int, OpenApiResponse]:
    return {
        status: answer
        if isinstance(answer, OpenApiResponse)
        else OpenApiResponse(answer, "Done." if status == 204 else "It was found.")
        for status, answer in answers.items()
    }


def filter_parameters(filter_set: type[filters.FilterSet]) -> list[OpenApiParameter]:
    """The filters of a list as parameters, each with the values that it takes."""
    return [
        OpenApiParameter(name, _schema(one), description=str(one.extra.get("help_text", "")))
        for name, one in filters_of(filter_set).items()
    ]


def _schema(one: filters.Filter) -> dict[str, Any]:
    is_repeated = issubclass(one.field_class.widget, SelectMultiple)
    return {"type": "array", "items": _value(one)} if is_repeated else _value(one)


def _value(one: filters.Filter) -> dict[str, Any]:
    if "choices" in one.extra:
        return {"type": "string", "enum": [value for value, _ in one.extra["choices"]]}
    if isinstance(one, filters.DateFilter):
        return {"anyOf": [{"type": "string", "format": "date"}, EMPTY]}
    if isinstance(one, filters.NumberFilter):
        return {"type": "number", "maximum": LARGEST_NUMBER}
    if isinstance(one, filters.BooleanFilter):
        return {"type": "boolean"}
    return {
        "type": "string",
        "maxLength": one.extra.get("max_length", 200),
        "pattern": "^[^\\x00]*$",
    }
