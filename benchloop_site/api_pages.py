"""The API's reference: the OpenAPI document, and the page that is made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from benchloop_site.openapi import document

METHODS = ("get", "post", "patch", "delete")
COMMON = frozenset({"400", "401", "403", "406", "429"})
"""Errors of every operation; the page lists them once."""


class SchemaView(APIView):
    """`GET /api/schema/`: the OpenAPI document, as JSON."""

    permission_classes = [AllowAny]
    renderer_classes = [OpenApiJsonRenderer2]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(document())


Words = tuple[tuple[str, bool], ...]
"""A sentence in pieces, each with whether it is code."""


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a body."""

    name: str
    kind: str
    where: str
    is_required: bool
    words: Words


@dataclass(frozen=True)
class Answer:
    """One status that an operation may answer."""

    status: str
    words: Words
    body: str


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    anchor: str
    method: str
    path: str
    summary: str
    words: Words
    key: str
    fields: tuple[Field, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Body:
    """A component of the document: what stands in a request or an answer."""

    name: str
    fields: tuple[Field, ...]


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """Which operations are there, and what do they take and answer?"""
    address = request.build_absolute_uri(reverse("api-submissions"))
    context = {
        "groups": groups(),
        "bodies": bodies(),
        "common": common_errors(),
        "example": f'curl -H "Authorization: Bearer $BENCHLOOP_TOKEN" {address}?mine=1',
    }
    return render(request, "api/reference.html", context)


@cache
def groups() -> dict[str, list[Operation]]:
    """The operations by the first part of their address."""
    found: dict[str, list[Operation]] = {}
    for path, methods in document()["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                found.setdefault(operation["tags"][0], []).append(
                    _operation(path, method, operation)
                )
    return found


@cache
def bodies() -> list[Body]:
    """The components that have fields, in the order of their names."""
    return [
        Body(name, tuple(_body_fields(schema, "")))
        for name, schema in sorted(document()["components"]["schemas"].items())
        if "properties" in schema
    ]


@cache
def common_errors() -> list[Answer]:
    """What every operation may answer."""
    operation = next(iter(document()["paths"].values()))["get"]
    return [answer for answer in _answers(operation) if answer.status in COMMON]


def _operation(path: str, method: str, operation: dict[str, Any]) -> Operation:
    parameters = [
        Field(
            one["name"],
            kind(one["schema"]),
            one["in"],
            one.get("required", False),
            words(one.get("description", "")),
        )
        for one in operation.get("parameters", ())
    ]
    return Operation(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        words=words(operation.get("description", "")),
        key="needed" if {} not in operation["security"] else "if you have one",
        fields=(*parameters, *_request_fields(operation)),
        answers=tuple(one for one in _answers(operation) if one.status not in COMMON),
    )


def _request_fields(operation: dict[str, Any]) -> Iterator[Field]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        yield from _body_fields(document()["components"]["schemas"][_name(schema)], "body")
    elif schema:
        yield Field("the body", kind(schema), "body", True, words(schema["description"]))


def _body_fields(schema: dict[str, Any], where: str) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, one in schema["properties"].items():
        about = words(one.get("description", ""))
        yield Field(name, kind(one), where, name in required, about)


def _answers(operation: dict[str, Any]) -> Iterator[Answer]:
    for status, answer in operation["responses"].items():
        content = answer.get("content", {}).get("application/json", {})
        body = kind(content["schema"]) if "schema" in content else "nothing"
        yield Answer(status, words(answer.get("description", "")), body)


def words(text: str) -> Words:
    """`text` split at its backquotes."""
    pieces = enumerate(text.split("`"))
    return tuple((piece, number % 2 == 1) for number, piece in pieces if piece)


def kind(schema: dict[str, Any]) -> str:
    """A schema in a few words: `text, at most 200 characters`, `one of a, b`, `list of Event`."""
    if "$ref" in schema:
        return _choices(schema) or _name(schema)
    if "items" in schema:
        many = kind(schema["items"])
        of_many = many.replace("one of", "any of", 1) if "enum" in schema["items"] else None
        return of_many or f"list of {many}{_bounds(schema)}"
    for several in ("oneOf", "allOf", "anyOf"):
        if several in schema:
            return " or ".join(kind(one) for one in schema[several] if "const" not in one)
    if "enum" in schema:
        return "one of " + ", ".join(str(one) for one in schema["enum"])
    types = schema.get("type", "object")
    names = types if isinstance(types, list) else [types]
    return " or ".join(_word(one, schema) for one in names) + _bounds(schema)


def _word(name: str, schema: dict[str, Any]) -> str:
    formats = {"date": "date", "date-time": "time", "uri": "address"}
    words = {"string": formats.get(schema.get("format", ""), "text"), "boolean": "true or false"}
    return words.get(name, name)


def _bounds(schema: dict[str, Any]) -> str:
    if "maxLength" in schema:
        return f", at most {schema['maxLength']:,} characters"
    if "maxItems" in schema:
        return f", at most {schema['maxItems']:,}"
    if "minimum" in schema and "maximum" in schema:
        return f", {schema['minimum']} to {schema['maximum']}"
    return ""


def _choices(schema: dict[str, Any]) -> str | None:
    named = document()["components"]["schemas"][_name(schema)]
    return kind(named) if "enum" in named else None


def _name(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]
