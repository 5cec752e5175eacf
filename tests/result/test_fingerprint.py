"""The fingerprint: the same trials are the same run, whatever they are called."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.errors import ResultError
from bench_loop.result.fingerprint import fingerprint, tagged_hash
from tests.result.documents import document, read

TRIAL = {
    "suite": "reasonmath",
    "task_id": "reasonmath.two-and-two",
    "prompt_hash": "sha256:" + "1" * 64,
    "trial": 1,
    "outcome": "pass",
    "latency_s": 1.5,
}


def test_the_hash_is_of_canonical_json() -> None:
    # printf '{"a":1,"b":[true,null]}' | sha256sum
    assert (
        tagged_hash({"b": [True, None], "a": 1})
        == "sha256:1cc69c7fa23616ca2ec3ee70d24390a6225c8832db8a4c814c7e0e7f942f8668"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"run_id": "20250101T000000Z-aaaaaaaaaa"},
        {"run_index": 5},
        {"started_at": "2026-11-28T14:02:00Z"},
        {"total_runtime_s": 61.0},
        {"aggregates": {"quality_score": 99.0}},
        {"machine": document()["machine"] | {"machine_id": "f" * 16, "machine_label": "pc1"}},
    ],
)
def test_another_name_or_time_is_the_same_run(fields: dict[str, Any]) -> None:
    assert fingerprint(read(trials=[TRIAL], **fields)) == fingerprint(read(trials=[TRIAL]))


@pytest.mark.parametrize(
    "fields",
    [
        {"trials": []},
        {"trials": [TRIAL | {"latency_s": 1.6}]},
        {"trials": [TRIAL | {"output": "4"}]},
        {"trials": [TRIAL], "subject": document()["subject"] | {"quantization": "Q8_0"}},
        {"trials": [TRIAL], "settings": document()["settings"] | {"context_window": 4096}},
    ],
)
def test_another_measurement_is_another_run(fields: dict[str, Any]) -> None:
    assert fingerprint(read(**fields)) != fingerprint(read(trials=[TRIAL]))


def test_the_order_of_the_trials_does_not_matter() -> None:
    other = TRIAL | {"trial": 2}
    assert fingerprint(read(trials=[TRIAL, other])) == fingerprint(read(trials=[other, TRIAL]))


def test_a_number_that_json_cannot_carry_is_a_clear_error() -> None:
    with pytest.raises(ResultError, match="trials"):
        fingerprint(read(trials=[TRIAL | {"transcript": [{"n": 2**60}]}]))
