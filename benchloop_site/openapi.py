"""The OpenAPI document of the API: what no view says of itself."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiViewExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import IntegerField, Serializer, URLField

from leaderboard.api import EntryPages, EntrySerializer, LeaderboardView, SchemaView
from leaderboard.filters import EntryFilter
from submissions.api.described import described, filter_parameters

COUNTING = (
    OpenApiParameter("page", {"type": "integer", "minimum": 1, "default": 1}),
    OpenApiParameter(
        "page_size",
        {
            "type": "integer",
            "minimum": 1,
            "maximum": EntryPages.max_page_size,
            "default": EntryPages.page_size,
        },
    ),
)


class ApiSchema(AutoSchema):
    """A key is needed where a view names a scope for the method, and may be shown elsewhere."""

    def get_auth(self) -> list[dict[str, Any]]:
        auths: list[dict[str, Any]] = [auth for auth in super().get_auth() if auth]
        is_needed = self.method in getattr(self.view, "key_scopes", {})
        return auths if is_needed else [*auths, {}]


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer <API key>`."""

    target_class = "submissions.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key: `Authorization: Bearer bl_...`.",
        }


class EntryPageSerializer(Serializer[Any]):
    """A page of the leaderboard."""

    count = IntegerField(help_text="Entries on all pages.")
    next = URLField(allow_null=True)
    previous = URLField(allow_null=True)
    results = EntrySerializer(many=True)


class LeaderboardDescription(OpenApiViewExtension):  # type: ignore[no-untyped-call]
    target_class = LeaderboardView

    def view_replacement(self) -> type[LeaderboardView]:
        class Described(LeaderboardView):
            @described(
                "The leaderboard",
                "Published runs, best first or in the `ordering` given. Every parameter narrows "
                "the list; one that is misspelt is refused.",
                answers={200: EntryPageSerializer},
                refusals=(404,),
                parameters=(*filter_parameters(EntryFilter), *COUNTING),
                operation_id="leaderboard_list",
            )
            def get(self, request: Any) -> Any:
                return super().get(request)

        return Described


class ResultSchemaDescription(OpenApiViewExtension):  # type: ignore[no-untyped-call]
    target_class = SchemaView

    def view_replacement(self) -> type[SchemaView]:
        class Described(SchemaView):
            @described(
                "The JSON Schema of result files",
                answers={200: OpenApiTypes.OBJECT},
                operation_id="schema_retrieve",
            )
            def get(self, request: Any) -> Any:
                return super().get(request)

        return Described


def tighten_request_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Where a body is taken it is needed, and a field that is not named here is refused."""
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Request"):
            schema["additionalProperties"] = False
    for operations in result["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
    return result


@cache
def document() -> dict[str, Any]:
    """The document, as `/api/schema/` serves it."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: dict[str, Any] = generator.get_schema(  # type: ignore[no-untyped-call]
        request=None, public=True
    )
    return schema
