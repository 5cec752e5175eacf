"""The bytes of a small valid result, as a run writes them."""

from __future__ import annotations

from typing import Any

from bench_loop.result.store import to_bytes
from tests.result.documents import HASH, result


def trial(output: str) -> dict[str, Any]:
    """One passed trial with this output."""
    return {
        "suite": "reasonmath",
        "task_id": "reasonmath.one",
        "prompt_hash": HASH,
        "trial": 1,
        "outcome": "pass",
        "score": 1.0,
        "output": output,
    }


def result_bytes(**changes: Any) -> bytes:
    """The bytes of `result(**changes)` as the file holds them."""
    return to_bytes(result(**changes))
