"""A verifier: the rule that judges. One file in `bench_loop/verifiers/` each.

The file `<verifier_type>.py` defines `check(task)`, which raises PackError when `task.expected` is
not what it understands, and `judge(output, task) -> TaskScore`. Both are pure.
"""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import Field

from bench_loop.contracts.chat import FinishReason, ToolCall
from bench_loop.contracts.record import Record
from bench_loop.contracts.task import BenchmarkTask, Convention

Outcome = Literal[
    "pass",
    "partial",
    "fail",
    "truncated",
    "harness_error",
    "infrastructure_error",
    "not_applicable",
]
"""A verdict (the first three), or why there is none (METHODOLOGY.md 1)."""


class Output(Record):
    """What came out of one trial, as stored: everything that a verdict may rest on."""

    text: str = Field(description="Final text, thinking tags included where the server left them.")
    thinking: str = Field("", description="Thinking delivered apart from the text.")
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason = "stop"
    convention: Convention = "whole_reply"


class TaskScore(Record):
    """The verdict on one output."""

    outcome: Outcome
    score: float = Field(ge=0, le=1, description="Diagnostic credit, 0 to 1; only a pass has 1.")
    reason: str | None = Field(None, description="Machine-readable; None for a pass only.")
    message: str | None = Field(None, description="The reason as a sentence; None for a pass only.")
    answer: str | None = Field(None, description="What the answer convention read; None: nothing.")


class Verifier(Protocol):
    """The two functions of a verifier module."""

    def check(self, task: BenchmarkTask) -> None: ...

    def judge(self, output: Output, task: BenchmarkTask) -> TaskScore: ...
