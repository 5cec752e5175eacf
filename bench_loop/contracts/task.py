"""Tasks and suites: what is asked, and what is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import Field

from bench_loop.contracts.chat import Message
from bench_loop.contracts.record import Count, Record

if TYPE_CHECKING:
    from bench_loop.contracts.harness import HarnessRunResult
    from bench_loop.contracts.verifier import TaskScore

Difficulty = Literal["easy", "medium", "hard"]
VerifierType = Literal["exact", "tolerance", "json_schema", "artifact", "tool_trace"]
Convention = Literal["answer_line", "whole_reply", "document"]
"""How a suite's answer is read out of a reply; one per suite.

`answer_line`: the value on the last line, `ANSWER: <value> <unit>`. `whole_reply`: the whole reply.
`document`: one JSON or YAML document and nothing else but one fence around it.
"""


class NearMiss(Record):
    """A wrong answer that looks right, and the reason that the verifier must give for it."""

    output: str
    reason: str = Field(description="The reason code of the fail.")
    why: str = Field(description="What is wrong with it, for a reader.")


class TaskLimits(Record):
    """What a trial may use."""

    answer_tokens: int = Field(256, ge=1, le=32768, description="4 x the longest reference answer.")


class BenchmarkTask(Record):
    """One fixture, as its YAML file says it (plus the suite that it belongs to)."""

    suite: str = Field(description="Name of the pack; added by the loader.")
    id: str = Field(
        pattern=r"^[a-z_]+\.[a-z0-9]+(-[a-z0-9]+)*$",
        description="`suite.name`; the file is `name.yaml`.",
    )
    title: str = Field(min_length=1, description="For lists; the model never sees it.")
    difficulty: Difficulty
    capability_tags: tuple[str, ...] = Field(
        min_length=1, description="What it asks of a model, from the closed list."
    )
    verifier_type: VerifierType = Field(description="The rule that judges.")
    expected_turns: Count = Field(1, description="Replies of the model on the shortest way.")
    notes: str = Field(min_length=1, description="The hinge, the failure it stands for, the key.")
    messages: tuple[Message, ...] = Field(min_length=1, description="What the model is shown.")
    expected: dict[str, Any] = Field(description="Read and checked by the verifier.")
    limits: TaskLimits = TaskLimits()
    reference: str = Field(description="An answer that passes.")
    also_right: tuple[str, ...] = Field((), description="Two or more other forms that pass.")
    near_misses: tuple[NearMiss, ...] = Field(
        (), description="Three or more wrong answers, each with the reason of its fail."
    )


class BenchmarkSuite(Protocol):
    """A family of tasks and how their results are judged."""

    @property
    def name(self) -> str:
        """The suite's public name."""

    def tasks(self) -> list[BenchmarkTask]:
        """The official tasks in their fixed order."""

    def evaluate(self, run_result: HarnessRunResult, task: BenchmarkTask) -> TaskScore:
        """Judge what a harness made of one task. Pure: the same input gives the same verdict."""
