"""Whatever stands anywhere in a valid result: an answer with fields, no row, and never a 5xx."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from submissions.intake import MAX_DEPTH, MAX_TEXT
from tests.site.make_result import make_document
from tests.site.uploads import SUBMISSIONS, Uploader, rows

Path = tuple[str | int, ...]


def nested(levels: int) -> Any:
    value: Any = {}
    for number in range(levels):
        value = [value] if number % 2 else {"a": value}
    return value


HOSTILE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**53, -(2**63), 10**27, 10**400),
    *(0.0, -0.0, 0.1, -1.5, 5e-324, 1.7976931348623157e308, float("nan"), float("inf")),
    *("", " ", "x", "x" * 1001, "x" * (MAX_TEXT + 1), "nan", "1e400", "true", "null", "0"),
    *("\x00", "\x1b[2J", "\u202e", "\u200b", "\ud800", "\U0001f600", "\ufeff", "\u2028"),
    *("<script>alert(1)</script>", "{{7*7}}", "=1+1", "a|b", "'; DROP TABLE runs_run; --"),
    *("../../etc/passwd", "C:\\Users\\jane.m\\x", "/home/jane.m/x", "%s%n", "sha256:"),
    *("2099-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"),
    *("1970-01-01T00:00:00", "2026-02-30T00:00:00Z", "sha256:" + "f" * 64, "pass", "speed"),
    *("p1024x256", "p0x0", "p999999999x1", "c8", "reasonmath", "sustained"),
    *([], {}, [None], [[]], {"": None}, {"a": 1}, [1] * 2_000, nested(MAX_DEPTH), nested(100)),
]
values = st.one_of(
    st.sampled_from(HOSTILE),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.floats(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=6,
    ),
)

DOCUMENTS = [make_document(), make_document(suites=["toolcall", "dataextract"], harness="goose")]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every path, but of all trials only those of the first of each suite."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    seen: set[str] = set()
    for key, item in items:
        if path == ("trials",):
            if item["suite"] in seen:
                continue
            seen.add(item["suite"])
        yield (*path, key)
        yield from paths(item, (*path, key))


PATHS = [sorted(paths(document), key=str) for document in DOCUMENTS]


def changed(document: dict[str, Any], changes: list[tuple[Path, Any]]) -> dict[str, Any]:
    result = copy.deepcopy(document)
    for path, value in changes:
        place: Any = result
        try:
            for part in path[:-1]:
                place = place[part]
            place[path[-1]] = copy.deepcopy(value)
        except (LookupError, TypeError):
            continue  # An earlier change took this place away.
    return result


@pytest.fixture
def patient(uploader: Uploader, settings: Any) -> Uploader:
    """A client that may come as often as it likes."""
    settings.API_RATES = dict.fromkeys(settings.API_RATES, (10**9, 1))
    return uploader


@examples(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_no_value_at_any_place_breaks_the_intake(patient: Uploader, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(DOCUMENTS) - 1))
    places = st.sampled_from(PATHS[number])
    changes = data.draw(st.lists(st.tuples(places, values), min_size=1, max_size=3))
    body = json.dumps(changed(DOCUMENTS[number], changes)).encode()
    before = rows()
    dry = patient.post(body, address=f"{SUBMISSIONS}?dry_run=1")
    assert dry.status_code < 500, changes
    assert rows() == before
    response = patient.post(body)
    assert response.status_code < 500, changes
    if response.status_code >= 400:
        assert set(response.json()) == {"code", "message", "fields"}
        assert len(response.content) < 16_384
        assert rows() == before


FIELDS: list[Path] = [
    ("schema_version",),
    ("subject", "model_id"),
    ("finished_at",),
    ("trials",),
    ("trials", 0, "task_id"),
    ("trials", 0, "latency_s"),
    ("trials", 0, "engine_timings", "generation_s"),
    ("suites", 0),
    ("settings", "fresh_seed"),
    ("settings", "by_suite"),
    ("signature",),
]
"""Texts, clocks, counts, lists and free objects: a field of every kind."""


@pytest.mark.parametrize("path", FIELDS, ids=lambda path: ".".join(map(str, path)))
def test_no_value_in_a_field_of_every_kind_breaks_the_intake(patient: Uploader, path: Path) -> None:
    for value in HOSTILE:
        body = json.dumps(changed(DOCUMENTS[0], [(path, value)])).encode()
        assert patient.post(body).status_code < 500, value
    assert patient.get("/api/v1/leaderboard/").status_code == 200
