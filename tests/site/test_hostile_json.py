"""Whatever is posted or asked, the site answers, and what it refuses leaves no row."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.site.make_result import make_document
from tests.site.uploads import Uploader, rows

DOCUMENT = make_document()

hostile = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(["\ud800", "\x00", "2099-01-01T00:00:00Z", "sha256:", 10**30, -1, [], {}]),
    st.recursive(
        st.integers(), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner)
    ),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value below `value`."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [found for key, item in items for found in [(*path, key), *places(item, (*path, key))]]


PLACES = places(DOCUMENT)

patient = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def changed(path: tuple[Any, ...], value: Any, is_removal: bool) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    if is_removal:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


@pytest.fixture
def patient_uploader(
    uploader: Uploader, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Uploader:
    """A client that is not throttled."""
    monkeypatch.setattr("submissions.api.SubmissionsView.throttle_classes", [])
    return uploader


@patient
@given(path=st.sampled_from(PLACES), value=hostile, is_removal=st.booleans())
def test_a_changed_result_is_never_a_server_error(
    patient_uploader: Uploader, path: tuple[Any, ...], value: Any, is_removal: bool
) -> None:
    before = rows()
    response = patient_uploader.post(json.dumps(changed(path, value, is_removal)).encode())
    assert response.status_code < 500
    if response.status_code >= 400:
        assert set(response.json()) == {"code", "message", "fields"}
        assert rows() == before


@patient
@given(body=st.binary(max_size=200))
def test_arbitrary_bytes_are_never_a_server_error(patient_uploader: Uploader, body: bytes) -> None:
    for headers in ({}, {"Content_Encoding": "gzip"}):
        response = patient_uploader.post(b" " + body, **headers)
        assert response.status_code in (400, 422)


@patient
@given(
    name=st.sampled_from(
        ["harness", "gpu", "level", "q", "min_memory_gb", "since", "ordering", "page", "page_size"]
    ),
    value=st.text(max_size=30),
)
def test_no_filter_value_is_a_server_error(db: None, name: str, value: str) -> None:
    response = Client(raise_request_exception=False).get(
        "/api/v1/leaderboard/", {name: value.encode("utf-8", "surrogatepass")}
    )
    assert response.status_code in (200, 400, 404)
