"""A harness: what stands between model and task. One file in `harnesses/` each.

The file `<name>.py` defines a class `Adapter` that follows HarnessAdapter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench_loop.contracts.chat import CallRecord, ChatReply, FinishReason, Message, ToolCall
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Limit


class Chat(Protocol):
    """Sends one conversation to the model under test and records the exchange.

    Model, sampling, seed, budgets and window are the engine's; a harness cannot change them.
    """

    def __call__(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()
    ) -> ChatReply:
        """Raises LimitReachedError when the trial's tokens or time are used up."""


class Toolbox(Protocol):
    """The tools of one trial, and what the calls have done so far."""

    definitions: tuple[dict[str, Any], ...]
    """As model servers take them: `{type: function, function: {name, description, parameters}}`."""

    def call(self, call: ToolCall, turn: int) -> tuple[CallRecord, str]:
        """Do one call: its record, and the reply for the model. A wrong call is never an error."""

    def files(self) -> Mapping[str, bytes] | None:
        """The workspace as it is now; None: these tools have none."""


@dataclass(frozen=True, slots=True)
class HarnessConfig:
    """What the engine gives a harness at set-up."""

    chat: Chat
    state_folder: Path
    """The only folder, beside a task's workspace, that the harness may write to."""
    toolbox: Callable[[BenchmarkTask], Toolbox] | None = None
    """Makes the tools of one trial of a task that has some."""


@dataclass(frozen=True, slots=True)
class HarnessRunResult:
    """What a harness made of one task. Times are seconds; what was not measured is None."""

    final_text: str
    thinking: str = ""
    finish_reason: FinishReason = "stop"
    structured_output: Any = None
    tool_calls: tuple[CallRecord, ...] = ()
    files_changed: tuple[str, ...] = ()
    files: Mapping[str, bytes] | None = None
    """The workspace at the end; None: there was none."""
    limit: Limit | None = None
    transcript: tuple[Message, ...] = ()
    harness_s: float | None = None
    tools_s: float | None = None
    failure: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class HarnessAdapter(Protocol):
    """One agent harness, or the bare model (`raw`)."""

    name: str
    version: str
    capabilities: frozenset[str]

    def setup(self, config: HarnessConfig) -> None:
        """Make ready for any number of tasks. Raises SetupError when a part is missing."""

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Do one task. Raises HarnessError when the harness broke, ProviderError as it comes."""

    def teardown(self) -> None:
        """Leave nothing behind: no process, no file outside the state folder."""
