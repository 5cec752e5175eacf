"""Small JSON bodies from strangers: read strictly, with a bound, every unknown field refused."""

from __future__ import annotations

import json
from typing import Any

from rest_framework.exceptions import UnsupportedMediaType, ValidationError
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from bench_loop.result import strict_json
from bench_loop.result.strict_json import JSONError
from submissions.api.base import Refusal, refuse_unknown

MAX_BYTES = 64 * 1024


def read_fields(request: Request, serializer: type[Serializer[Any]]) -> dict[str, Any]:
    """The valid fields of the body. Raises APIException: 400, 413 or 415, naming the field."""
    require_json(request)
    document = _read_object(request)
    checked = serializer(data=document)
    refuse_unknown(document, checked.fields, "field")
    if not checked.is_valid():
        raise ValidationError(checked.errors)
    fields: dict[str, Any] = checked.validated_data
    return fields


def require_json(request: Request) -> None:
    """Raises UnsupportedMediaType for a body that does not call itself JSON."""
    media_type = (request.content_type or "").split(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType(media_type[:100], "Send the body as application/json.")


def _read_object(request: Request) -> dict[str, Any]:
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("", "Send this body as it is, not compressed.")
    data = request._request.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Refusal(413, "too_large", f"This body may have {MAX_BYTES:,} bytes.")
    try:
        document = strict_json.loads(data.decode("utf-8"))
    except JSONError as error:
        raise Refusal(400, "bad_json", error.sentence) from error
    except UnicodeDecodeError as error:
        raise Refusal(400, "bad_json", f"The body is not UTF-8 (byte {error.start}).") from error
    except RecursionError as error:
        raise Refusal(400, "bad_json", "The body is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise Refusal(400, "bad_json", f"The body is not JSON: {error.msg}.") from error
    if not isinstance(document, dict):
        raise Refusal(400, "bad_json", "The body must be a JSON object.")
    return document
