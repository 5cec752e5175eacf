"""Long lists a page at a time, newest first, by the last row seen instead of by counting."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db.models import Model, QuerySet
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from submissions.api.base import Refusal

PARAMETERS = ("cursor", "page_size")
PAGE_SIZE = 50
LARGEST_PAGE = 200
CURSOR = "[1-9][0-9]{0,17}"


def page_of(
    rows: QuerySet[Any], request: Request, shown: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """The page that `cursor` and `page_size` ask for, and the address of the next, or None.

    Rows that are added meanwhile neither repeat nor hide any. Raises Refusal.
    """
    size = _page_size(request)
    last_seen = _cursor(request)
    if last_seen is not None:
        rows = rows.filter(pk__lt=last_seen)
    found: list[Model] = list(rows.order_by("-pk")[: size + 1])
    following = None
    if len(found) > size:
        address = request.build_absolute_uri()
        following = replace_query_param(address, "cursor", str(found[size - 1].pk))
    return {"next": following, "results": [shown(row) for row in found[:size]]}


def _page_size(request: Request) -> int:
    text = request.query_params.get("page_size", str(PAGE_SIZE))
    if re.fullmatch(r"[1-9][0-9]{0,2}", text) and int(text) <= LARGEST_PAGE:
        return int(text)
    raise _wrong("page_size", f"A page has 1 to {LARGEST_PAGE} rows.")


def _cursor(request: Request) -> int | None:
    text = request.query_params.get("cursor")
    if text is None:
        return None
    if not re.fullmatch(CURSOR, text):
        raise _wrong("cursor", "A cursor is taken from the 'next' of the page before.")
    return int(text)


def _wrong(name: str, sentence: str) -> Refusal:
    return Refusal(400, "invalid", f"{name}: {sentence}", {name: [sentence]})
