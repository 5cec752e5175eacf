"""The key of each official longcontext task, found by reading its text."""

from __future__ import annotations

from collections import Counter

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack
from bench_loop.verifiers.judging import judge
from tests.packs.longcontext_reader import solve

PACK = load_pack("longcontext")
TIERS = {
    "largest-rise": 1800,
    "depot-object": 1800,
    "soaking-times": 7000,
    "heavy-deliveries": 7000,
    "changed-meter": 14000,
    "drying-rule": 14000,
    "soaking-time-as-of": 28000,
    "depot-shelf": 28000,
}


def tier(task: BenchmarkTask) -> int:
    return TIERS[task.id.partition(".")[2]]


@pytest.mark.parametrize("task", PACK.tasks, ids=lambda task: task.id)
def test_the_key_is_what_a_reader_of_the_text_finds(task: BenchmarkTask) -> None:
    answer = "; ".join(solve(task.messages[0].content).parts)
    assert task.reference.endswith(f"ANSWER: {answer}")
    assert judge(PACK.output(f"ANSWER: {answer}"), task).outcome == "pass"


def test_there_are_two_tasks_of_each_length_and_of_each_family() -> None:
    assert Counter(map(tier, PACK.tasks)) == dict.fromkeys((1800, 7000, 14000, 28000), 2)
    assert set(Counter(task.family for task in PACK.tasks).values()) == {2}
    assert PACK.profiles == {"full": tuple(task.id for task in PACK.tasks)}
