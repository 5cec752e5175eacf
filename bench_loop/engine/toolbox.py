"""The tools of one trial: scripted ones with replies and state, or a workspace in memory.

A workspace is a map of paths to bytes and never a folder of this machine: no path of a model's
reaches a file system, and programs get a copy of the files inside a sandbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from bench_loop.contracts.chat import CallRecord, ToolCall
from bench_loop.contracts.harness import Toolbox
from bench_loop.contracts.sandbox import FILES_MAX, Program, Sandbox, SandboxRun
from bench_loop.contracts.task import BenchmarkTask, Tool
from bench_loop.errors import HarnessError
from bench_loop.verifiers.scripted import ScriptedWorld, call_record, exchange_key, read_call

LONGEST_REPLY = 8000
"""Characters of a tool's reply that the model is shown."""
MOST_BYTES = 1_000_000
"""Bytes of all files of a workspace together."""
MOST_HITS = 100


def make_toolbox(task: BenchmarkTask, sandbox: Sandbox | None = None) -> Toolbox:
    """The tools that `task` offers. `run_command` is among a workspace's where there is a sandbox.

    Raises HarnessError for a task without tools.
    """
    if task.tools == "workspace":
        return WorkspaceToolbox(task, sandbox)
    if not task.tools or task.replies is None:
        raise HarnessError(f"{task.id} has no tools.")
    return ScriptedToolbox(task)


def definitions_of(task: BenchmarkTask) -> tuple[dict[str, Any], ...]:
    """The tools of `task` as model servers take them; none: ()."""
    tools = (*FILE_TOOLS, RUN_TOOL) if task.tools == "workspace" else task.tools
    assert not isinstance(tools, str)
    return definitions(tools)


def definitions(tools: tuple[Tool, ...]) -> tuple[dict[str, Any], ...]:
    """`tools` as model servers take them."""
    return tuple({"type": "function", "function": tool.model_dump(mode="json")} for tool in tools)


class ScriptedToolbox:
    """Tools whose replies and effects the task scripts."""

    def __init__(self, task: BenchmarkTask) -> None:
        assert isinstance(task.tools, tuple)
        assert task.replies is not None
        self.definitions = definitions(task.tools)
        self._world = ScriptedWorld(task.tools, task.replies)

    def call(self, call: ToolCall, turn: int) -> tuple[CallRecord, str]:
        deed = self._world.do(call, turn)
        record = call_record(call, turn, deed.fault, is_repeated=deed.is_repeated)
        return record, json.dumps(deed.reply, ensure_ascii=False)

    def files(self) -> None:
        """There is no workspace."""


def _tool(name: str, description: str, *required: str, **optional: str) -> Tool:
    properties = {key: {"type": "string"} for key in (*required, *optional)}
    return Tool(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
    )


FILE_TOOLS = (
    _tool("list_files", "Lists the files in a folder and below it; '.' is the whole.", "path"),
    _tool("read_file", "Gives the text of a file.", "path"),
    _tool("search_files", "Finds the lines that contain a text, with file and number.", "text"),
    _tool("write_file", "Writes a whole file; makes it where it is missing.", "path", "content"),
    _tool(
        "patch_file",
        "Replaces a text that stands exactly once in a file by another.",
        "path",
        "old",
        "new",
    ),
    _tool("delete_file", "Deletes a file.", "path"),
)
RUN_TOOL = _tool(
    "run_command",
    "Runs a program in the workspace without network, like 'python show.py'; gives its output.",
    "command",
)


class ToolFailedError(Exception):
    """A workspace tool can't do what it was called for; the sentence is its reply."""


class WorkspaceToolbox:
    """Files that a model may list, read, search, write, patch and delete, and run programs on."""

    def __init__(self, task: BenchmarkTask, sandbox: Sandbox | None) -> None:
        self._tools = (*FILE_TOOLS, RUN_TOOL) if sandbox is not None else FILE_TOOLS
        self._sandbox = sandbox
        self._wall_s = task.limits.wall_s
        self._files = {path: text.encode() for path, text in task.files.items()}
        self._known: set[str] = set()
        self._doers: dict[str, Callable[..., str]] = {
            "list_files": self._list,
            "read_file": self._read,
            "search_files": self._search,
            "write_file": self._write,
            "patch_file": self._patch,
            "delete_file": self._delete,
            "run_command": self._run,
        }
        self.definitions = definitions(self._tools)

    def files(self) -> Mapping[str, bytes]:
        return dict(self._files)

    def call(self, call: ToolCall, turn: int) -> tuple[CallRecord, str]:
        read = read_call(call, self._tools)
        before = dict(self._files)
        reply = f"error: {read.sentence}"
        if read.fault is None:
            try:
                reply = self._doers[call.name](**read.args)
            except ToolFailedError as error:
                reply = f"error: {error}"
        key = exchange_key(call.name, read.args or call.arguments, reply)
        is_repeated = key in self._known and self._files == before
        self._known.add(key)
        return call_record(call, turn, read.fault, is_repeated=is_repeated), _shown(reply)

    def _list(self, path: str) -> str:
        folder = _path(path)
        inside = [name for name in sorted(self._files) if _is_below(name, folder)]
        if not inside:
            raise ToolFailedError(f"no such folder: {path}")
        return "\n".join(inside)

    def _read(self, path: str) -> str:
        return self._text(path)

    def _search(self, text: str) -> str:
        if not text:
            raise ToolFailedError("the text is empty")
        hits = [
            f"{path}:{number}: {line}"
            for path in sorted(self._files)
            for number, line in enumerate(_decoded(self._files[path]).splitlines(), 1)
            if text in line
        ]
        return "\n".join(hits[:MOST_HITS]) or "no line contains that text"

    def _write(self, path: str, content: str) -> str:
        name = _path(path)
        if not name or any(_is_below(other, name) and other != name for other in self._files):
            raise ToolFailedError(f"is a folder: {path}")
        if any(str(parent) in self._files for parent in PurePosixPath(name).parents):
            raise ToolFailedError(f"no folder can be made for: {path}")
        self._keep({**self._files, name: content.encode("utf-8", "replace")})
        return "written"

    def _patch(self, path: str, old: str, new: str) -> str:
        text = self._text(path)
        count = text.count(old) if old else 0
        if count != 1:
            raise ToolFailedError(f"the old text was found {count} times in {path}")
        return self._write(path, text.replace(old, new))

    def _delete(self, path: str) -> str:
        name = self._existing(path)
        del self._files[name]
        return "deleted"

    def _run(self, command: str) -> str:
        """Run a command line; what it leaves of files, if all is known, is the workspace then."""
        assert self._sandbox is not None
        argv = tuple(command.split())
        if not argv:
            raise ToolFailedError("the command is empty")
        env = {"PYTHONDONTWRITEBYTECODE": "1"}
        program = Program(argv, self._files, env=env, wants_files=True)
        run = self._sandbox.run(program, wall_s=self._wall_s)
        if run.is_read_back:
            self._keep({name: content for name, content in run.files.items() if _is_plain(name)})
        return _told(run)

    def _keep(self, files: Mapping[str, bytes]) -> None:
        if len(files) > FILES_MAX or sum(map(len, files.values())) > MOST_BYTES:
            raise ToolFailedError("the workspace is full")
        self._files = dict(files)

    def _existing(self, path: str) -> str:
        name = _path(path)
        if name not in self._files:
            raise ToolFailedError(f"no such file: {path}")
        return name

    def _text(self, path: str) -> str:
        try:
            return self._files[self._existing(path)].decode()
        except UnicodeDecodeError as error:
            raise ToolFailedError(f"is not text: {path}") from error


def _path(path: str) -> str:
    """`path` from the workspace's top, without `.` parts; "" is the top itself."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    is_odd = not path.isprintable() or "\\" in path or ":" in path or len(path) > 200
    if path.startswith("/") or ".." in parts or is_odd:
        raise ToolFailedError(f"outside the workspace: {path[:200]}")
    return "/".join(parts)


def _is_plain(path: str) -> bool:
    try:
        return _path(path) == path
    except ToolFailedError:
        return False


def _is_below(name: str, folder: str) -> bool:
    return not folder or name.startswith(f"{folder}/")


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _shown(reply: str) -> str:
    if len(reply) <= LONGEST_REPLY:
        return reply
    return f"{reply[:LONGEST_REPLY]}\n[{len(reply) - LONGEST_REPLY} more characters]"


def _told(run: SandboxRun) -> str:
    """What the model is shown of a run."""
    parts = [_decoded(run.stdout), _decoded(run.stderr)]
    if run.limit is not None:
        parts.append(f"[ended by a limit: {run.limit}]")
    elif run.exit_status != 0:
        parts.append(f"[exit status {run.exit_status}]")
    return "\n".join(part.rstrip() for part in parts if part.strip()) or "[no output]"
