"""The JSON Schema of the result file: exported from the records, and true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from bench_loop.result import records
from bench_loop.result.schema import result_schema
from tests.result.documents import document

COMMITTED = Path(__file__).parents[2] / "docs" / "result-v1.schema.json"


def test_the_committed_schema_is_the_code() -> None:
    assert json.loads(COMMITTED.read_text(encoding="utf-8")) == result_schema()


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(result_schema())


def test_a_valid_file_is_valid_by_the_schema_alone() -> None:
    jsonschema.validate(document(), result_schema())


@pytest.mark.parametrize(
    "fields", [{"verified": True}, {"run_index": -1}, {"aggregates": {"overall_score": 101}}]
)
def test_an_invalid_file_is_invalid_by_the_schema_alone(fields: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document(**fields), result_schema())


def test_the_public_names_are_all_there() -> None:
    assert set(result_schema()["properties"]) >= set(
        "schema_version run_id run_index status benchmark_version scoring_version profile "
        "started_at finished_at total_runtime_s fingerprint subject machine settings software "
        "sandbox speed aggregates suites trials".split()
    )


def test_every_record_says_what_it_is() -> None:
    for name, item in vars(records).items():
        if (
            isinstance(item, type)
            and issubclass(item, BaseModel)
            and item.__module__ == records.__name__
        ):
            assert item.__doc__, name
