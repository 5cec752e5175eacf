"""Older files are read as if written today, and nothing of them is changed."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.errors import ResultError
from bench_loop.result.store import from_bytes
from bench_loop.result.upgrades import UPGRADES, UpgradeError, Upgrades
from tests.result.documents import document


def from_before(old: dict[str, Any]) -> dict[str, Any]:
    """A step as one might have been: the model's id had another name."""
    old["subject"]["model_id"] = old["subject"].pop("model")
    return old


def from_long_before(old: dict[str, Any]) -> dict[str, Any]:
    """And one before that: runtimes were in milliseconds."""
    old["total_runtime_s"] = old.pop("total_runtime_ms") / 1000
    return old


MADE_UP = Upgrades({-1: from_long_before, 0: from_before}, newest=1)


def written_before() -> dict[str, Any]:
    """`document()` as version -1 would have written it."""
    old = document(schema_version=-1)
    old["subject"]["model"] = old["subject"].pop("model_id")
    old["total_runtime_ms"] = 1000 * old.pop("total_runtime_s")
    return old


def test_an_older_file_is_read_as_if_it_were_new() -> None:
    old = from_bytes(json.dumps(written_before()).encode(), "run.json", MADE_UP)
    assert old == from_bytes(json.dumps(document()).encode(), "run.json")


def test_a_header_without_trials_is_upgraded_too() -> None:
    header = {name: value for name, value in written_before().items() if name != "trials"}
    assert MADE_UP.upgraded(header)["subject"]["model_id"] == "tiny"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
old_documents = st.builds(
    lambda version, changes: {**written_before(), **changes, "schema_version": version},
    st.sampled_from([-1, 0, 1]),
    st.dictionaries(
        st.sampled_from(["subject", "total_runtime_ms", "total_runtime_s", "trials", "other"]),
        json_values,
    ),
)


@given(old=old_documents)
def test_an_upgrade_changes_nothing_of_what_it_reads_and_is_done_once(old: dict[str, Any]) -> None:
    before = copy.deepcopy(old)
    new = None
    with suppress(UpgradeError):
        new = MADE_UP.upgraded(old)
    assert old == before
    if new is not None:
        assert new["schema_version"] == 1
        assert MADE_UP.upgraded(new) is new


@given(old=old_documents)
def test_what_no_step_understands_is_a_wrong_file_and_no_crash(old: dict[str, Any]) -> None:
    with suppress(ResultError):
        assert from_bytes(json.dumps(old).encode(), "run.json", MADE_UP).schema_version == 1


@given(value=json_values)
def test_what_has_no_version_comes_back_as_it_is(value: Any) -> None:
    assert MADE_UP.upgraded(value) is value


@pytest.mark.parametrize("version", ["1", None, [1], 1.5])
def test_a_version_of_another_type_is_for_the_record_to_refuse(version: Any) -> None:
    with pytest.raises(ResultError) as caught:
        from_bytes(json.dumps(document(schema_version=version)).encode(), "run.json")
    assert caught.value.field == "schema_version"


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        (2, "version 2 is newer than what this BenchLoop reads: versions -1 to 1"),
        (2**53 - 1, "is newer than"),
        (-2, "version -2 is older than what this BenchLoop reads: versions -1 to 1"),
    ],
)
def test_an_unknown_version_is_refused_with_those_that_are_known(
    version: int, sentence: str
) -> None:
    with pytest.raises(ResultError, match=sentence) as caught:
        from_bytes(json.dumps(document(schema_version=version)).encode(), "run.json", MADE_UP)
    assert caught.value.field == "schema_version"
    assert caught.value.remedy is not None


def test_steps_leave_no_gap() -> None:
    with pytest.raises(ValueError, match="gap"):
        Upgrades({-1: from_long_before}, newest=1)


def test_the_file_of_today_is_read_as_it_is() -> None:
    today = document()
    assert UPGRADES.upgraded(today) is today
