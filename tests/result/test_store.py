"""Result files: written whole, read strictly."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench_loop.errors import ResultError, SetupError
from bench_loop.result.store import (
    from_bytes,
    load,
    make_ready,
    new_run_id,
    newest_result,
    result_files,
    save,
    to_bytes,
)
from tests.result.documents import document, read


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    result = read()
    file = save(result, tmp_path / "results")
    assert file.name == "20261129T140200Z-abcdefghij.json"
    assert load(file) == load(tmp_path / "results" / "latest.json") == result


def test_nothing_but_the_result_is_left_behind(tmp_path: Path) -> None:
    save(read(), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "20261129T140200Z-abcdefghij.json",
        "latest.json",
    ]
    assert [file.name for file in result_files(tmp_path)] == ["20261129T140200Z-abcdefghij.json"]


def test_bytes_are_the_same_after_a_round_trip() -> None:
    data = to_bytes(read())
    assert to_bytes(from_bytes(data, "run.json")) == data


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"run_index": True}, "run_index"),
        ({"run_index": "0"}, "run_index"),
        ({"run_index": 2**60}, "run_index"),
        ({"schema_version": True}, "schema_version"),
        ({"schema_version": 1.0}, "schema_version"),
        ({"total_runtime_s": "60"}, "total_runtime_s"),
        ({"started_at": "2026-11-29T14:02:00"}, "started_at"),
        ({"status": "finished"}, "status"),
        ({"verified": True}, "verified"),
        ({"aggregates": {"overall_score": 100.1}}, "aggregates.overall_score"),
        ({"subject": {"model_id": "tiny"}}, "subject.provider"),
        ({"trials": [{"suite": "a"}]}, "trials[0].task_id"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ResultError) as caught:
        read(**fields)
    assert caught.value.field == field


def test_a_newer_version_is_refused_with_what_can_be_read() -> None:
    with pytest.raises(
        ResultError, match=r"version 2 is newer than what .* reads: version 1"
    ) as caught:
        read(schema_version=2)
    assert caught.value.remedy is not None


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_a_clear_error(data: bytes) -> None:
    with pytest.raises(ResultError, match="not JSON"):
        from_bytes(data, "run.json")


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "1e999"])
def test_numbers_without_a_value_are_refused(literal: str) -> None:
    data = json.dumps(document()).replace("60.0", literal).encode()
    with pytest.raises(ResultError):
        from_bytes(data, "run.json")


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="No such file"):
        load(tmp_path / "none.json")


def test_run_ids_tell_the_time_and_never_repeat() -> None:
    moment = datetime(2026, 11, 29, 14, 2, 0, tzinfo=UTC)
    ids = {new_run_id(moment) for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"20261129T140200Z-[a-z2-7]{10}", one) for one in ids)


def test_a_folder_is_made_ready_and_left_empty(tmp_path: Path) -> None:
    make_ready(tmp_path / "new" / "results")
    assert list((tmp_path / "new" / "results").iterdir()) == []


def test_a_folder_that_takes_no_file_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="Results cannot be written to") as caught:
        make_ready(tmp_path / "file" / "results")
    assert "--output" in (caught.value.remedy or "")


def test_latest_is_the_newest_result_of_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert newest_result("latest") == tmp_path / "home" / "results" / "latest.json"
    assert newest_result("other.json") == Path("other.json")


def test_a_file_that_is_called_latest_is_meant_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latest").touch()
    assert newest_result("latest") == Path("latest")
