"""The bare model: one direct call, or for tasks with tools the shortest loop that there is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal

from bench_loop.contracts.chat import CallRecord, ChatReply, Message, ToolCall
from bench_loop.contracts.harness import (
    Capability,
    HarnessConfig,
    HarnessRunResult,
    Installation,
    Needs,
    Toolbox,
)
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError, LimitReachedError

TOOL_LOOP_VERSION = "1"
"""Changes with every change to what the tool loop sends; part of the harness's version."""


class Adapter:
    """The baseline that every other harness is measured against.

    With tools it is shown as `raw (tools)`. It says no word of its own: the model gets the task's
    messages, the tools, its own calls and their replies.
    """

    name = "raw"
    version = f"1.{TOOL_LOOP_VERSION}"
    capabilities: frozenset[Capability] = frozenset(
        {
            *("plain_answer", "native_tools", "given_tools", "multi_turn"),
            *("read_files", "edit_files", "run_commands"),
        }
    )
    needs = Needs()
    installation: Installation | None = None
    config_hash: str | None = None

    def __init__(self) -> None:
        self._config: HarnessConfig | None = None

    def setup(self, config: HarnessConfig) -> None:
        """Keep the way to the model; there is nothing to start."""
        self._config = config

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Send the task's messages as they are, and do the calls that the model makes."""
        if self._config is None:
            raise HarnessError("raw was asked for a task before its set-up.")
        if task.tools:
            if self._config.toolbox is None:
                raise HarnessError("raw was given a task with tools, and no tools.")
            return ToolLoop(self._config, self._config.toolbox(task)).go(task)
        reply = self._config.chat(task.messages)
        return HarnessRunResult(
            final_text=reply.text,
            thinking=reply.thinking,
            finish_reason=reply.finish_reason,
            tool_calls=tuple(CallRecord(**call.model_dump(), turn=1) for call in reply.tool_calls),
        )

    def teardown(self) -> None:
        """Nothing was started, so nothing is left."""
        self._config = None


class ToolLoop:
    """Asks the model, does the calls of its reply, and asks again, until it calls no more.

    Only native calls count; a cut reply's calls are not done. A call is answered even if it is
    wrong, so that the model may mend it.
    """

    def __init__(self, config: HarnessConfig, toolbox: Toolbox) -> None:
        self._chat = config.chat
        self._toolbox = toolbox
        self._messages: list[Message] = []
        self._calls: list[CallRecord] = []
        self._tools_s = 0.0

    def go(self, task: BenchmarkTask) -> HarnessRunResult:
        """Do `task` in at most `task.turn_limit` replies of the model."""
        self._messages = list(task.messages)
        reply: ChatReply | None = None
        for turn in range(1, task.turn_limit + 1):
            try:
                reply = self._chat(self._messages, self._toolbox.definitions)
            except LimitReachedError as error:
                return self._result(task, reply, limit=error.limit)
            if not reply.tool_calls or reply.finish_reason not in ("stop", "tool_calls"):
                self._messages.append(Message(role="assistant", content=reply.text))
                return self._result(task, reply)
            self._do(reply, turn)
        return self._result(task, reply, limit="turns")

    def _do(self, reply: ChatReply, turn: int) -> None:
        """Do the calls of `reply` in their order, and put their replies into the conversation."""
        calls = [_with_id(call, turn, number) for number, call in enumerate(reply.tool_calls, 1)]
        self._messages.append(
            Message(role="assistant", content=reply.text, tool_calls=tuple(calls))
        )
        for call in calls:
            started = time.monotonic()
            record, answer = self._toolbox.call(call, turn)
            self._tools_s += time.monotonic() - started
            self._calls.append(record)
            self._messages.append(
                Message(role="tool", content=answer, tool_call_id=call.id, name=call.name)
            )

    def _result(
        self,
        task: BenchmarkTask,
        reply: ChatReply | None,
        limit: Literal["turns", "tokens", "wall"] | None = None,
    ) -> HarnessRunResult:
        files = self._toolbox.files()
        return HarnessRunResult(
            final_text=reply.text if reply is not None else "",
            thinking=reply.thinking if reply is not None else "",
            finish_reason=reply.finish_reason if reply is not None else "limit",
            tool_calls=tuple(self._calls),
            files=files,
            files_changed=_changed(task, files),
            limit=limit,
            tools_s=self._tools_s,
            transcript=tuple(self._messages[len(task.messages) :]),
        )


def _with_id(call: ToolCall, turn: int, number: int) -> ToolCall:
    """`call` with an id, so that its reply can name it; servers that give none get ours."""
    return call if call.id else call.model_copy(update={"id": f"call_{turn}_{number}"})


def _changed(task: BenchmarkTask, files: Mapping[str, bytes] | None) -> tuple[str, ...]:
    """Paths that were written, made or deleted, sorted."""
    if files is None:
        return ()
    before = {path: text.encode() for path, text in task.files.items()}
    paths = before.keys() | files.keys()
    return tuple(sorted(path for path in paths if before.get(path) != files.get(path)))
