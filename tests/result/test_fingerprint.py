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


REQUEST = {"sent_s": 0.5, "latency_s": 1.0}


@pytest.mark.parametrize(
    "request_fields", [{"messages": 0}, {"t_first_byte_s": 0.0}, {"refused": "turns"}]
)
def test_what_the_gateway_saw_is_part_of_what_was_measured(request_fields: dict[str, Any]) -> None:
    before, after = (
        fingerprint(read(trials=[TRIAL | {"requests": [one]}]))
        for one in (REQUEST, REQUEST | request_fields)
    )
    assert before != after


def test_what_a_harness_was_is_part_of_what_was_measured() -> None:
    place = {"place": "bubblewrap", "limit_rule": "none"}
    settings = document()["settings"] | {"harness": place}
    trial = TRIAL | {"harness": {"way": "question"}}
    found = {
        fingerprint(read(trials=[TRIAL])),
        fingerprint(read(trials=[trial])),
        fingerprint(read(trials=[TRIAL], settings=settings)),
    }
    assert len(found) == 3


def test_when_a_harness_was_started_is_no_part_of_it() -> None:
    started = {"way": "question", "started_at": "2026-11-30T08:00:00Z"}
    trials = [TRIAL | {"harness": harness} for harness in (started, {"way": "question"})]
    first, second = (read(trials=[trial]) for trial in trials)
    assert fingerprint(first) == fingerprint(second)


def test_results_from_before_there_were_harnesses_keep_their_fingerprint() -> None:
    # Computed by BenchLoop as it was before results had fields for harnesses.
    assert fingerprint(read(trials=[TRIAL | {"requests": [REQUEST]}])) == (
        "sha256:27b4b09959ec850a6cc0179ac0a53c9940679e81c25902e4e9f9a82834b5dd07"
    )


def test_the_order_of_the_trials_does_not_matter() -> None:
    other = TRIAL | {"trial": 2}
    assert fingerprint(read(trials=[TRIAL, other])) == fingerprint(read(trials=[other, TRIAL]))


def test_a_number_that_json_cannot_carry_is_a_clear_error() -> None:
    with pytest.raises(ResultError, match="trials"):
        fingerprint(read(trials=[TRIAL | {"transcript": [{"n": 2**60}]}]))
