"""A small valid result, and the bytes of it as a run writes them."""

from __future__ import annotations

from typing import Any

from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes

_NO_HASH = "sha256:" + "0" * 64


def result(**changes: Any) -> RunResult:
    """A complete run of nothing, with `changes` to its top-level fields; its fingerprint fits."""
    made = RunResult.model_validate(
        {
            "schema_version": 1,
            "run_id": "20261129T140200Z-abcdefghij",
            "run_index": 0,
            "status": "complete",
            "benchmark_version": "0.1.0",
            "scoring_version": "1.0",
            "profile": "custom",
            "started_at": "2026-11-29T14:02:00Z",
            "finished_at": "2026-11-29T14:03:00Z",
            "total_runtime_s": 60.0,
            "fingerprint": _NO_HASH,
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
                "answer_budget_rule": "fixed",
                "context_window": 8192,
                "wall_limit_rule": "fixed",
                "use_prompt_cache": True,
            },
            "software": {
                "bench_loop": "0.1.0",
                "python": "3.11",
                "platform": "Linux",
                "packages": {},
            },
            "aggregates": {},
            "suites": [],
            "trials": [],
            **changes,
        },
        strict=False,
    )
    return made.model_copy(update={"fingerprint": fingerprint(made)})


def trial(output: str) -> dict[str, Any]:
    """One passed trial with this output."""
    return {
        "suite": "reasonmath",
        "task_id": "reasonmath.one",
        "prompt_hash": _NO_HASH,
        "trial": 1,
        "outcome": "pass",
        "score": 1.0,
        "output": output,
    }


def result_bytes(**changes: Any) -> bytes:
    """The bytes of `result(**changes)` as the file holds them."""
    return to_bytes(result(**changes))
