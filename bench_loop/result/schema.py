"""The JSON Schema of the result file, exported from the records."""

from __future__ import annotations

from typing import Any

from bench_loop.result.records import SCHEMA_VERSION, RunResult


def result_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of result files of this version."""
    schema = RunResult.model_json_schema(mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:bench-loop:result-v{SCHEMA_VERSION}",
        **schema,
    }
