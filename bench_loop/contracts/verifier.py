"""A verifier: the rule that judges. One file in `bench_loop/verifiers/` each.

The file `<verifier_type>.py` defines `check(task)`, which raises PackError when `task.expected` is
not what it understands, `needs_sandbox(task)`, which says whether a verdict needs code to be run,
and `judge(output, task, sandbox) -> TaskScore`. The first two are pure; so is `judge` but for what
it runs in the sandbox.
"""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import Field

from bench_loop.contracts.chat import CallRecord, FinishReason
from bench_loop.contracts.record import Count, Record
from bench_loop.contracts.sandbox import Sandbox
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


Limit = Literal["turns", "tokens", "wall"]
"""What ended a tool loop before the model did."""

VerifierKind = Literal["values_out", "rpc_stub", "in_process"]
"""How code was judged. `values_out`: its values were compared outside its sandbox. `rpc_stub`: the
tests ran outside and called it. `in_process`: the tests ran beside it, which cannot be made sound.
"""


class Output(Record):
    """What came out of one trial, as stored: everything that a verdict may rest on."""

    text: str = Field(description="Final text, thinking tags included where the server left them.")
    thinking: str = Field("", description="Thinking delivered apart from the text.")
    tool_calls: tuple[CallRecord, ...] = ()
    files: dict[str, str | None] | None = Field(
        None, description="The workspace at the end; null for a file that is not text."
    )
    limit: Limit | None = None
    finish_reason: FinishReason = "stop"
    convention: Convention = "whole_reply"


class VerifierRecord(Record):
    """How code was judged, and whether it tried to judge itself."""

    kind: VerifierKind
    canaries: Count = Field(0, description="Tests that must fail, run among the others.")
    tampered: bool = Field(False, description="A canary passed, or the protocol was broken into.")


class TaskScore(Record):
    """The verdict on one output."""

    outcome: Outcome
    score: float = Field(ge=0, le=1, description="Diagnostic credit, 0 to 1; only a pass has 1.")
    reason: str | None = Field(None, description="Machine-readable; None for a pass only.")
    message: str | None = Field(None, description="The reason as a sentence; None for a pass only.")
    answer: str | None = Field(None, description="What the answer convention read; None: nothing.")
    verifier: VerifierRecord | None = Field(None, description="None: no code was run.")
    state_at_cut: str | None = Field(
        None, description="Of a truncated tool loop: pass, or the reason why its end state fails."
    )


class Verifier(Protocol):
    """The three functions of a verifier module."""

    def check(self, task: BenchmarkTask) -> None: ...

    def needs_sandbox(self, task: BenchmarkTask) -> bool: ...

    def judge(self, output: Output, task: BenchmarkTask, sandbox: Sandbox | None) -> TaskScore:
        """Raises SandboxError when a sandbox is needed and there is none, or it fails itself."""
