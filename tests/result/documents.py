"""The smallest valid result, which every builder of results starts from."""

from __future__ import annotations

import json
from typing import Any

from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import SCHEMA_VERSION, RunResult
from bench_loop.result.store import from_bytes
from bench_loop.scoring.constants import SCORING_VERSION

HASH = "sha256:" + "0" * 64


def document(**fields: Any) -> dict[str, Any]:
    """A complete run of nothing as JSON data, with `fields` in place of its own."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": "20261129T140200Z-abcdefghij",
        "run_index": 0,
        "status": "complete",
        "benchmark_version": "0.1.0",
        "scoring_version": SCORING_VERSION,
        "profile": "custom",
        "started_at": "2026-11-29T14:02:00Z",
        "finished_at": "2026-11-29T14:03:00Z",
        "total_runtime_s": 60.0,
        "fingerprint": HASH,
        "subject": {
            "model_id": "tiny",
            "provider": "ollama",
            "harness": "raw",
            "harness_version": "1",
        },
        "machine": {
            "machine_id": "0123456789abcdef",
            "device_class": "cpu-xeon-2c-24gb",
            "is_local": True,
        },
        "settings": {
            "trials": 1,
            "sampling": {},
            "seed_rule": "1000 + number of the trial",
            "answer_budget_rule": "4 x the longest reference answer, at least 256 tokens",
            "context_window": 8192,
            "wall_limit_rule": "120 s + 3 x expected",
            "use_prompt_cache": True,
        },
        "software": {"bench_loop": "0.1.0", "python": "3.11", "platform": "Linux", "packages": {}},
        "aggregates": {},
        "suites": [],
        "trials": [],
        **fields,
    }


def read(**fields: Any) -> RunResult:
    """`document(**fields)` as the store reads it; its fingerprint is HASH."""
    return from_bytes(json.dumps(document(**fields)).encode(), "run.json")


def result(**fields: Any) -> RunResult:
    """The same with the fingerprint that it has; `fields` may be records too."""
    made = RunResult.model_validate(document(**fields), strict=False)
    return made.model_copy(update={"fingerprint": fingerprint(made)})
