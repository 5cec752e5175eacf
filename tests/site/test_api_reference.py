"""The OpenAPI document and the page made from it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema
from pytest_django import DjangoAssertNumQueries

from benchloop_site.openapi import document

METHODS = {"get", "post", "patch", "put", "delete"}


def operations() -> list[tuple[str, str, dict]]:  # type: ignore[type-arg]
    return [
        (path, method, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_operation_is_described_without_a_guess() -> None:
    GENERATOR_STATS.reset()
    document.cache_clear()
    with GENERATOR_STATS.silence():
        validate_schema(document())
        assert not GENERATOR_STATS
    assert len(operations()) >= 13
    assert all(operation["summary"] for _, _, operation in operations())


def test_every_error_has_the_one_body() -> None:
    for path, method, operation in operations():
        errors = {status: it for status, it in operation["responses"].items() if status >= "400"}
        assert {"400", "401", "403", "406", "429"} <= set(errors), (path, method)
        for answer in errors.values():
            schema = answer["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Error"}
        assert errors["429"]["headers"]["Retry-After"]["required"]


def test_a_key_is_needed_to_send_and_to_change(db: None) -> None:
    needed = {
        (method, path.removeprefix("/api/v1"))
        for path, method, operation in operations()
        if {} not in operation["security"]
    }
    one = "/submissions/{public_id}/"
    assert needed == {
        ("post", "/submissions/"),
        ("patch", one),
        ("delete", one),
        ("post", f"{one}appeal/"),
        ("post", f"{one}answer/"),
    }


@pytest.mark.parametrize("address", ["/api/schema/", "/api/docs/"])
def test_it_is_served_to_everybody_without_a_query(
    db: None, address: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert Client().get(address).status_code == 200


def test_the_document_is_json(db: None) -> None:
    assert Client().get("/api/schema/").json()["openapi"].startswith("3.1")
    assert Client().get("/api/").headers["Location"] == "/api/docs/"


def test_the_page_has_every_operation_and_body_of_the_document(db: None) -> None:
    page = unescape(Client().get("/api/docs/").content.decode())
    for path, method, operation in operations():
        assert f"<code>{method.upper()} {path}</code>" in page
        assert f'id="{operation["operationId"]}"' in page
        for status in operation["responses"]:
            assert f"<code>{status}</code>" in page
        for parameter in operation.get("parameters", ()):
            assert f"<code>{parameter['name']}</code>" in page


def test_the_page_needs_nothing_from_elsewhere_and_no_inline_code(db: None) -> None:
    page = Client().get("/api/docs/").content.decode()
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", page)


def test_every_page_leads_to_it(db: None) -> None:
    assert 'href="/api/docs/"' in Client().get("/methodology/").content.decode()
