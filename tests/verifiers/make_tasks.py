"""Small tasks for tests of verifiers."""

from __future__ import annotations

from typing import Any

from bench_loop.contracts.task import BenchmarkTask


def make_task(**fields: Any) -> BenchmarkTask:
    """A task of the suite `cases`; give `verifier_type` and `expected`."""
    values: dict[str, Any] = {
        "suite": "cases",
        "id": "cases.case",
        "title": "A case",
        "difficulty": "easy",
        "capability_tags": ("format",),
        "notes": "A case.",
        "messages": ({"role": "user", "content": "?"},),
        "reference": "",
    }
    return BenchmarkTask.model_validate(values | fields)


def code_task(**expected: Any) -> BenchmarkTask:
    """A task that asks for the function `total`."""
    return make_task(
        verifier_type="artifact",
        expected={"function": "total", **expected},
        limits={"wall_s": 2.0},
    )
