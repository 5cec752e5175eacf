"""A harness: what stands between model and task. One file in `harnesses/` each.

The file `<name>.py` defines a class `Adapter` that follows HarnessAdapter. `raw` is our own and
runs in this process; every other one is a program of somebody else, which is found on the machine,
run in a Place, and reaches the model only through the gateway.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from bench_loop.contracts.chat import CallRecord, ChatReply, FinishReason, Message, ToolCall
from bench_loop.contracts.place import Place
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Limit

Capability = Literal[
    "plain_answer",
    "read_files",
    "edit_files",
    "run_commands",
    "native_tools",
    "given_tools",
    "multi_turn",
]
"""What a harness can do.

`plain_answer`: answer a question in words, changing nothing. `read_files`, `edit_files`,
`run_commands`: with its own tools, in a workspace. `native_tools`: its tools are calls that the
model server must be able to stream. `given_tools`: take the tools that a task defines.
`multi_turn`: go on by itself after a tool has answered.
"""


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
class Needs:
    """What a harness asks of the model's side; checked before time is spent on it."""

    context_window: int = 0
    """Tokens below which it refuses to start, or cannot hold its own prompt and an answer."""
    tool_calls: bool = False
    """The server must stream tool calls; without them the harness is a chat that edits nothing."""


@dataclass(frozen=True, slots=True)
class Installation:
    """How a harness is had: pinned packages of one registry, in a folder of BenchLoop's own."""

    registry: Literal["npm", "pypi"]
    packages: tuple[str, ...]
    """Each with its exact version, `name@1.2.3` or `name==1.2.3`; the first is the harness."""
    program: str
    """Its executable, from the folder of the installation."""
    licence: str
    """SPDX."""
    homepage: str
    size_mb: int
    """On disk, measured."""
    runtime: str = ""
    """Versions of Node or Python that it runs on: `>=3.10,<3.13`, or exactly `24.21.0`; "": any.

    Where the machine's Node is none of them, one is installed beside it; a Python must be there.
    """


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The model as a harness reaches it, for one trial."""

    base_url: str
    """Of the gateway, `http://127.0.0.1:<port>/v1`; the same inside and outside a sandbox."""
    key: str
    """Of this trial alone: by it the gateway knows whose a request is."""
    model_id: str
    context_window: int
    answer_tokens: int
    """Of one reply."""
    wall_s: float
    """Time for the whole trial; the harness is ended from outside when it has passed."""


@dataclass(frozen=True, slots=True)
class HarnessConfig:
    """What the engine gives a harness at set-up."""

    chat: Chat
    state_folder: Path
    """The only folder, beside a task's workspace, that the harness may write to."""
    toolbox: Callable[[BenchmarkTask], Toolbox] | None = None
    """Makes the tools of one trial of a task that has some."""
    access: Callable[[], ModelAccess] | None = None
    """The model for the trial that is being run; None: there is no gateway."""
    place: Place | None = None
    """Where its program runs, made ready for each trial by the engine; None: it has none."""


@dataclass(frozen=True, slots=True)
class HarnessRunResult:
    """What a harness made of one task. Times are seconds; what was not measured is None.

    A program that says it failed, or ended badly, is told in `failure`; the task is judged all the
    same, by its files and its text.
    """

    final_text: str
    thinking: str = ""
    finish_reason: FinishReason = "stop"
    tool_calls: tuple[CallRecord, ...] = ()
    files_changed: tuple[str, ...] = ()
    files: Mapping[str, bytes] | None = None
    """The workspace at the end; None: there was none."""
    diff: str | None = None
    """What was changed in the workspace, as a unified diff."""
    limit: Limit | None = None
    transcript: tuple[Message, ...] = ()
    started_at: datetime | None = None
    """When the program was started, UTC."""
    wall_s: float | None = None
    """From the start of the program to its end."""
    harness_s: float | None = None
    """Of that, neither model nor tools."""
    tools_s: float | None = None
    failure: str | None = None
    """The harness's own word for what went wrong; None: nothing, as far as it says."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """What it tells of itself, in its own words."""

    @property
    def structured_output(self) -> Any:
        """The JSON value that the final text is, and nothing beside it; None: it is none."""
        try:
            return json.loads(self.final_text)
        except (ValueError, RecursionError):
            return None


class HarnessAdapter(Protocol):
    """One agent harness, or the bare model (`raw`)."""

    name: str
    version: str
    capabilities: frozenset[Capability]
    needs: Needs
    installation: Installation | None
    """None: it is no program, and needs none."""
    config_hash: str | None
    """Fingerprint of the settings that it is run with, ports, keys and paths left out; None: it
    has none."""

    def setup(self, config: HarnessConfig) -> None:
        """Make ready for any number of tasks. Raises SetupError when a part is missing."""

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Do one task. Raises HarnessError when the harness broke, ProviderError as it comes."""

    def teardown(self) -> None:
        """Leave nothing behind: no process, no file outside the state folder."""
