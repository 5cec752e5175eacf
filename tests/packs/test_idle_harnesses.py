"""Harnesses that do no work: whatever they say of it, no task on files gives them anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Say, Trajectory
from bench_loop.engine.packs import Pack, PackSuite, load_pack

Files = dict[str, bytes]

PACKS = [load_pack(name) for name in ("agent", "loop_harness")]
TASKS = [pytest.param(pack, task, id=task.id) for pack in PACKS for task in pack.tasks]
CALLS: dict[str, tuple[CallRecord, ...]] = {
    "calls nothing": (),
    "calls a tool of its own": (CallRecord(id="1", name="glob", arguments="{}", turn=1),),
}


def same(task: BenchmarkTask) -> Files:
    return {path: text.encode() for path, text in task.files.items()}


def deleted(task: BenchmarkTask) -> Files:
    return {}


def emptied(task: BenchmarkTask) -> Files:
    return dict.fromkeys(task.files, b"")


def right_words(task: BenchmarkTask) -> str:
    assert isinstance(task.reference, Trajectory)
    last = task.reference.trajectory[-1]
    assert isinstance(last, Say)
    return last.say


@dataclass(frozen=True)
class Idle:
    """What such a harness leaves and says."""

    files: Callable[[BenchmarkTask], Files]
    text: Callable[[BenchmarkTask], str]


HARNESSES = {
    "does nothing": Idle(same, lambda task: ""),
    "only says Done": Idle(same, lambda task: "Done."),
    "repeats the task": Idle(same, lambda task: task.messages[-1].content),
    "deletes everything": Idle(deleted, lambda task: ""),
    "deletes everything and says Done": Idle(deleted, lambda task: "Done."),
    "deletes everything and knows the answer": Idle(deleted, right_words),
    "empties everything and knows the answer": Idle(emptied, right_words),
}


@pytest.mark.parametrize(("pack", "task"), TASKS)
def test_a_harness_that_does_no_work_gets_nothing(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox
) -> None:
    suite = PackSuite(pack, sandbox)
    for calls in CALLS.values():
        for name, idle in HARNESSES.items():
            made = HarnessRunResult(
                final_text=idle.text(task), files=idle.files(task), tool_calls=calls, wall_s=1.0
            )
            verdict = suite.evaluate(made, task)
            assert (verdict.outcome, verdict.score) == ("fail", 0.0), (name, verdict)
