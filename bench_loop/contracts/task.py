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
Convention = Literal[
    "answer_line",
    "whole_reply",
    "document",
    "json_object",
    "fenced_code",
    "changed_files",
    "tool_calls",
    "workspace",
]
"""How a suite's answer is read out of a reply; one per suite.

`answer_line`: the value on the last line, `ANSWER: <value> <unit>`. `whole_reply`: the whole reply.
`document`: one JSON or YAML document and nothing else but one fence around it. `json_object`: the
one JSON object of the reply, prose and a fence around it or not. `fenced_code`: the last fenced
block that defines the function or class asked for. `changed_files`: the complete new content of
each changed file in a fence, its path on the line before. `tool_calls`: the native calls and what
they did, and a last line `ANSWER: ...` where a fact is asked for. `workspace`: the files as they
are at the end, and that line.
"""

WORKSPACE_CONVENTIONS: frozenset[Convention] = frozenset({"tool_calls", "workspace"})
"""Here the final text may be empty: the answer is in what was done."""

TURNS_FACTOR = 3
"""A tool loop ends at this many times the shortest way's turns."""


class Say(Record):
    """The final text of a scripted trajectory."""

    say: str


Turn = Say | tuple[dict[str, dict[str, Any]], ...]
"""One reply of a scripted trajectory: the final text, or calls made together, `{tool: args}`."""


class Trajectory(Record):
    """What a scripted model does from the task's messages to its final text."""

    trajectory: tuple[Turn, ...] = Field(min_length=1)


class NearMiss(Record):
    """A wrong answer that looks right, and the reason that the verifier must give for it."""

    output: str | Trajectory
    reason: str = Field(description="The reason code of the fail.")
    why: str = Field(description="What is wrong with it, for a reader.")


class TaskLimits(Record):
    """What a trial may use."""

    answer_tokens: int = Field(256, ge=1, le=32768, description="4 x the longest reference answer.")
    wall_s: float = Field(10.0, gt=0, le=600, description="Each call of hidden checks, each run.")


class Tool(Record):
    """A tool that a task offers."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")
    description: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(description="JSON Schema of the arguments, an object.")


class ReplyRule(Record):
    """What a scripted tool answers, and what that changes. The first rule that fits is taken.

    In `reply` and in the values of `set`, `{$state: KEY}` stands for the value of a state entry
    before the call and `{$arg: NAME}` for an argument. In every KEY `{NAME}` stands for an argument
    and `{$KEY}` for the value of a state entry.
    """

    tool: str
    when: dict[str, Any] = Field({}, description="Argument to its value; a list: one of these.")
    where: dict[str, Any] = Field({}, description="State entry to the value that it has now.")
    times: int | None = Field(None, ge=1, description="Fits this often only; null: always.")
    reply: Any = Field(None, description="The answer, JSON.")
    error: str | None = Field(None, description="In place of `reply`: the call is refused.")
    set: dict[str, Any] = Field({}, description="State entry to its new value.")
    add: dict[str, float] = Field({}, description="State entry to what is added to its number.")

    @property
    def changes(self) -> bool:
        """Whether it changes the state."""
        return bool(self.set or self.add)


class Replies(Record):
    """The scripted world behind a task's tools."""

    state: dict[str, Any] = Field({}, description="State entries and their values at the start.")
    rules: tuple[ReplyRule, ...] = Field(min_length=1)
    otherwise: str = Field("nothing found", description="The error where no rule fits.")
    ignores_case: bool = Field(False, description="Case and outer blanks of text are ignored.")


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
    family: str | None = Field(
        None,
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        description="The generator in `families/` of which it is an instance.",
    )
    expected_turns: Count = Field(1, description="Replies of the model on the shortest way.")
    notes: str = Field(min_length=1, description="The hinge, the failure it stands for, the key.")
    messages: tuple[Message, ...] = Field(min_length=1, description="What the model is shown.")
    files: dict[str, str] = Field({}, description="Path to text: what the task starts from.")
    protected: tuple[str, ...] = Field((), description="Of these, the files that may not change.")
    tools: tuple[Tool, ...] | Literal["workspace"] = Field(
        (), description="`workspace`: BenchLoop's own tools on `files`."
    )
    replies: Replies | None = Field(None, description="What scripted tools answer.")
    expected: dict[str, Any] = Field(description="Read and checked by the verifier.")
    limits: TaskLimits = TaskLimits()
    reference: str | Trajectory = Field(description="An answer that passes.")
    also_right: tuple[str | Trajectory, ...] = Field(
        (), description="Two or more other forms that pass."
    )
    near_misses: tuple[NearMiss, ...] = Field(
        (), description="Three or more wrong answers, each with the reason of its fail."
    )

    @property
    def turn_limit(self) -> int:
        """Replies after which a tool loop is ended."""
        return TURNS_FACTOR * max(1, self.expected_turns)


class BenchmarkSuite(Protocol):
    """A family of tasks and how their results are judged."""

    @property
    def name(self) -> str:
        """The suite's public name."""

    def tasks(self) -> list[BenchmarkTask]:
        """The official tasks in their fixed order."""

    def evaluate(self, run_result: HarnessRunResult, task: BenchmarkTask) -> TaskScore:
        """Judge what a harness made of one task. Pure: the same input gives the same verdict."""
