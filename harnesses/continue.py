"""Continue's command line (`cn -p`): a Node program with its own tools for files and shell.

It prints the model's last words as they are, and exits 0 even when it was ended by a signal. The
conversation is in a session file that it writes when it comes to an end by itself, and not before.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_loop.contracts.chat import CallRecord, Message, ToolCall
from bench_loop.contracts.harness import (
    HarnessRunResult,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.place import Command, Ended, Place
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError
from bench_loop.programs.asking import (
    ANY,
    ANY_ACCESS,
    Said,
    Scrubber,
    clean,
    config_hash,
    count_of,
    fed,
    files_of,
    json_lines,
    json_object,
    last_line,
    objects,
    question,
    read_state,
    result,
    text_of,
    under,
    write_question,
    write_state,
)
from bench_loop.programs.ripgrep import RIPGREP, SearchingAdapter, ripgrep_folder
from bench_loop.programs.workspace import changes

VERSION = "1.5.47"

_STATE = "continue"
_CONFIG = f"{_STATE}/config.yaml"
_SESSIONS = f"{_STATE}/sessions"
_INDEX = "sessions.json"
_MOST_SESSIONS = 10
_ANSWER_SHARE = 4
"""At most one part in so many of the window is set aside for a reply, else no prompt would fit."""

_ALLOWED = ("Write", "Edit", "MultiEdit")
_EXCLUDED = ("AskQuestion", "Fetch")
_NOWHERE = "http://127.0.0.1:9"
"""The discard port, where nobody listens."""

_UNKNOWN_TOOL = "Tool {} not found"
_ARGUMENT_ERRORS = ("Required parameter ", "Invalid arguments")


class Adapter(SearchingAdapter):
    """Continue with its tools Bash, Edit or MultiEdit, List, Read, Write and some of its own.

    `--auto` would offer all tools whatever else is said, AskQuestion among them: a call of it ends
    the program without a word, since there is nobody to answer. So the tools that change files are
    allowed by name instead, without which they would not be offered.
    """

    name = "continue"
    version = VERSION
    needs = Needs(context_window=4096, tool_calls=True)
    installation: Installation | None = Installation(
        registry="npm",
        packages=(f"@continuedev/cli@{VERSION}", RIPGREP),
        program="node_modules/.bin/cn",
        licence="Apache-2.0",
        homepage="https://continue.dev",
        size_mb=86,
        runtime="24.21.0",
    )

    def __init__(self) -> None:
        self.config_hash: str | None = config_hash(
            {
                "command": command(ANY, ANY, ANY, ANY),
                "configuration": configuration(ANY_ACCESS),
                "environment": environment(ANY),
                "answer_share": _ANSWER_SHARE,
                "search": RIPGREP,
            }
        )

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Ask it once, with the workspace as its folder."""
        assert self.installation is not None
        place, access = self._ready()
        write_state(place, _CONFIG, json.dumps(configuration(access), indent=1))
        argv = command(
            f"{place.program.inside}/{self.installation.program}",
            ripgrep_folder(place),
            place.state.inside,
            write_question(place, task),
        )
        ended = place.run(Command(argv, access.wall_s, environment(place.state.inside)))
        said = read(ended, _session(place), question(task))
        return result(ended, said, changes(place, files_of(task)), Scrubber(place, access))


def command(program: str, path: str, state: str, asked: str) -> tuple[str, ...]:
    """The command line that asks what stands in the file `asked`.

    Without `--format json`, which makes it tell the model to answer in JSON and nothing else.
    """
    return (
        *fed(asked, path, program),
        *("--config", f"{state}/{_CONFIG}"),
        *(word for tool in _ALLOWED for word in ("--allow", tool)),
        *(word for tool in _EXCLUDED for word in ("--exclude", tool)),
        "-p",
    )


def configuration(access: ModelAccess) -> dict[str, Any]:
    """Its configuration file: one model. It reads the window from no other place than here."""
    reply = min(access.answer_tokens, access.context_window // _ANSWER_SHARE)
    model = {
        "name": "bench",
        "provider": "openai",
        "model": access.model_id,
        "apiBase": access.base_url,
        "apiKey": access.key,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use"],
        "defaultCompletionOptions": {"contextLength": access.context_window, "maxTokens": reply},
    }
    return {"name": "bench", "version": "1.0.0", "schema": "v1", "models": [model]}


def environment(state: str) -> dict[str, str]:
    """Its own folder, and no way to its maker, whom it tells the machine's id at each start."""
    return {
        "CONTINUE_GLOBAL_DIR": f"{state}/{_STATE}",
        "CONTINUE_CLI_AUTO_UPDATED": "1",
        "CONTINUE_CLI_ENABLE_TELEMETRY": "0",
        "CONTINUE_METRICS_ENABLED": "0",
        "CONTINUE_API_BASE": f"{_NOWHERE}/",
        "NODE_USE_ENV_PROXY": "1",
        "HTTP_PROXY": _NOWHERE,
        "HTTPS_PROXY": _NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
    }


def read(ended: Ended, session: Mapping[str, Any], asked: str) -> Said:
    """What its output and its session file say; no session: it was ended, or never began one.

    Raises HarnessError when it told nothing at all.
    """
    story = _Story()
    for item in objects(session.get("history")):
        story.add(item)
    words = clean(ended.stdout.decode(errors="replace")).removesuffix("\n")
    failure = _failure(ended, story)
    if not (words or session or failure or ended.is_timed_out):
        raise HarnessError(
            f"continue ended with status {ended.exit_status} and told nothing: "
            f"{last_line(ended.stderr)}"
        )
    told = story.messages or ([Message(role="assistant", content=words)] if words else [])
    return Said(
        final_text=words,
        transcript=(Message(role="user", content=asked), *told),
        tool_calls=tuple(story.calls),
        failure=failure,
        metadata=_totals(session),
    )


def _failure(ended: Ended, story: _Story) -> str | None:
    """Its own word for what went wrong.

    Its tool Exit ends it with status 1 and leaves neither word nor session: only that much is told.
    """
    errors = [one for one in json_lines(ended.stderr) if one.get("status") == "error"]
    if errors:
        return text_of(errors[-1].get("message")) or "error"
    if story.refusal is not None:
        return story.refusal
    if ended.exit_status == 1 and not ended.stderr.strip():
        return "ended with status 1, as its tool Exit makes it"
    return None


def _totals(session: Mapping[str, Any]) -> dict[str, int]:
    """The tokens that it counted; its costs are made up."""
    names = (("input_tokens", "promptTokens"), ("output_tokens", "completionTokens"))
    told = {name: count_of(under(session, "usage", key)) for name, key in names}
    return {name: count for name, count in told.items() if count is not None}


def _session(place: Place) -> dict[str, Any]:
    """The session file of the trial; empty where there is none that can be read."""
    for name in _session_files(place.state.here / _SESSIONS):
        try:
            return json_object(read_state(place, f"{_SESSIONS}/{name}").encode(), "continue")
        except HarnessError:
            continue
    return {}


def _session_files(folder: Path) -> list[str]:
    """The first names in `folder`; none where a link is in its place, or nothing that is read."""
    try:
        if folder.is_symlink() or not folder.is_dir():
            return []
        names = (path.name for path in folder.glob("*.json") if path.name != _INDEX)
        return heapq.nsmallest(_MOST_SESSIONS, names)
    except OSError:
        return []


@dataclass(slots=True)
class _Story:
    """What happened, put together from the items of a session."""

    messages: list[Message] = field(default_factory=list)
    """The conversation after the question."""
    calls: list[CallRecord] = field(default_factory=list)
    refusal: str | None = None
    """What it said of a call that it would not do, which ends its work."""
    _turn: int = 0

    def add(self, item: Mapping[str, Any]) -> None:
        message = under(item, "message")
        content = _content(under(message, "content"))
        if under(message, "role") == "assistant":
            self._add_reply(content, objects(item.get("toolCallStates")))
        elif under(message, "role") == "user" and self.messages:
            self.messages.append(Message(role="user", content=content))

    def _add_reply(self, content: str, states: list[dict[str, Any]]) -> None:
        self._turn += 1
        calls = [_call(state, self._turn) for state in states]
        self.calls += calls
        plain = tuple(ToolCall(id=one.id, name=one.name, arguments=one.arguments) for one in calls)
        self.messages.append(Message(role="assistant", content=content, tool_calls=plain))
        self.refusal = None
        for call, state in zip(calls, states, strict=True):
            output = _output(state)
            self.messages.append(Message(role="tool", content=output, tool_call_id=call.id))
            if state.get("status") == "canceled":
                self.refusal = f"{call.name}: {output}"


def _call(state: Mapping[str, Any], turn: int) -> CallRecord:
    """A call; arguments that were no JSON are lost to it, and stand here as `{}`."""
    name = text_of(under(state, "toolCall", "function", "name"))
    output = _output(state)
    is_error = state.get("status") == "errored"
    is_unknown = is_error and output == _UNKNOWN_TOOL.format(name)
    return CallRecord(
        id=text_of(state.get("toolCallId")) or None,
        name=name,
        arguments=text_of(under(state, "toolCall", "function", "arguments")),
        turn=turn,
        is_offered=False if is_unknown else None,
        is_well_formed=False if is_error and output.startswith(_ARGUMENT_ERRORS) else None,
    )


def _output(state: Mapping[str, Any]) -> str:
    return "\n".join(text_of(part.get("content")) for part in objects(state.get("output")))


def _content(value: object) -> str:
    """Text of a message, which is a text or a list of parts."""
    if isinstance(value, list):
        return "\n".join(text_of(part.get("text")) for part in objects(value))
    return text_of(value)
