"""Whatever is posted or asked, the site answers, and what it refuses leaves no row."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_loop.contracts.chat import EngineTimings
from tests.site.make_result import make_bytes, make_document, make_result, rescored, to_bytes
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields, rows

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
def patient_uploader(uploader: Uploader, settings: Any) -> Uploader:
    """A client that may come as often as it likes."""
    settings.API_RATES = dict.fromkeys(settings.API_RATES, (10**9, 1))
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


@pytest.mark.parametrize(
    "body",
    [
        b"{" + b",".join(b'"%d":1' % number for number in range(1_200_000)) + b"}",
        b'{"trials":[' + b"{}," * 90_000 + b"{}]}",
        b'{"trials":[' + b'{"x":1},' * 4_000 + b"{}]}",
        b'{"trials":[' + b"[]," * 5_000_000 + b"[]]}",
        b'{"subject":{"launch_args":[' + b"1," * 400_000 + b"1]}}",
        b'{"a":1.' + b"1" * 16_000_000 + b"}",
    ],
    ids=["keys", "trials", "unknown fields", "values", "wrong items", "digits"],
)
def test_no_body_costs_more_than_seconds(patient_uploader: Uploader, body: bytes) -> None:
    before_s = time.process_time()
    response = patient_uploader.post(body)
    assert time.process_time() - before_s < 8
    assert response.status_code in (400, 422)
    assert len(response.content) < 8192


@pytest.mark.parametrize("severity", ["dry run", "upload"])
def test_a_rate_without_end_is_a_finding_like_others(
    patient_uploader: Uploader, severity: str
) -> None:
    result = make_result()
    timings = EngineTimings(generated_tokens=64, generation_s=5e-324)
    first = result.trials[0].model_copy(update={"engine_timings": timings})
    forged = rescored(result.model_copy(update={"trials": (first, *result.trials[1:])}))
    query = "?dry_run=1" if severity == "dry run" else ""
    response = patient_uploader.post(to_bytes(forged), address=SUBMISSIONS + query)
    assert response.status_code == (200 if severity == "dry run" else 422)
    assert "impossible_speed" in response.content.decode()


@pytest.mark.parametrize(
    "twin",
    [
        *("q\u200b", "q\u202e", "q\u061c", "q\u2028", "q\u180e", "q\ufeff", "q\u00ad", "q\u3164"),
        *(
            "q\u115f",
            "q\u034f",
            "q\ufe0f",
            "q\U000e0041",
            "q\u2800",
            "q\u00a0",
            "q\u3000",
            " q",
            "q ",
        ),
    ],
)
def test_a_name_that_looks_like_another_is_refused(patient_uploader: Uploader, twin: str) -> None:
    document = changed(("subject", "model_id"), twin, is_removal=False)
    response = patient_uploader.post(json.dumps(document).encode())
    assert response.status_code == 400
    assert list(refused_fields(response)) == ["subject.model_id"]


def test_a_name_in_another_script_is_accepted(patient_uploader: Uploader) -> None:
    body = make_bytes(model_id="\u901a\u4e49\u5343\u95ee:7b")
    assert patient_uploader.post(body).status_code == 201


def test_a_length_that_is_no_number_is_no_server_error(patient_uploader: Uploader) -> None:
    response = patient_uploader.client.post(
        SUBMISSIONS,
        data=b"{}",
        content_type="application/json",
        headers=patient_uploader.headers,
        CONTENT_LENGTH="\u00b2",
    )
    assert response.status_code in (400, 422)
