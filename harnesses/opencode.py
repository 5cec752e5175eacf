"""OpenCode (`opencode run`): a native program with its own tools for files and shell.

It prints what happens as one JSON event a line. A server that fails it asks again without end, and
says so in its log alone; a stream that was cut it asks for again without end, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench_loop.contracts.chat import CallRecord, Message, ToolCall
from bench_loop.contracts.harness import (
    HarnessRunResult,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.place import Command, Ended
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError
from bench_loop.programs.asking import (
    ANY,
    ANY_ACCESS,
    MOST_MESSAGES,
    Said,
    Scrubber,
    clean,
    config_hash,
    count_of,
    fed,
    files_of,
    json_lines,
    last_line,
    question,
    result,
    text_of,
    under,
    write_question,
    write_state,
)
from bench_loop.programs.ripgrep import RIPGREP, SearchingAdapter, ripgrep_folder
from bench_loop.programs.workspace import changes

VERSION = "1.18.33"

_CONFIG = "opencode/opencode.json"
_PROVIDER = "bench"
_ANSWER_SHARE = 4
"""At most one part in so many of the window is set aside for a reply, else it compacts at once."""

_STREAM_ERROR = ("level=ERROR ", 'message="stream error"', ' error.error="')
"""What stands in a line of its log before a stream's error, in this order."""
_QUOTED = re.compile(r'((?:[^"\\]|\\.)*)"')
_UNKNOWN_TOOL = "Model tried to call unavailable tool "
_SPOILT = ("Text: ", "Value: ")
_SPOILT_END = ".\nError message: "


class Adapter(SearchingAdapter):
    """OpenCode as its agent `build`, allowed everything but to fetch and search the web."""

    name = "opencode"
    version = VERSION
    needs = Needs(context_window=16384, tool_calls=True)
    installation: Installation | None = Installation(
        registry="npm",
        packages=(f"opencode-ai@{VERSION}", RIPGREP),
        program="node_modules/.bin/opencode",
        licence="MIT",
        homepage="https://opencode.ai",
        size_mb=359,
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
        config = write_state(place, _CONFIG, json.dumps(configuration(access), indent=1))
        argv = command(
            f"{place.program.inside}/{self.installation.program}",
            ripgrep_folder(place),
            access.model_id,
            write_question(place, task),
        )
        ended = place.run(Command(argv, access.wall_s, environment(config)))
        said = read(ended, question(task))
        return result(ended, said, changes(place, files_of(task)), Scrubber(place, access))


def command(program: str, path: str, model_id: str, asked: str) -> tuple[str, ...]:
    """The command line that asks what stands in the file `asked`.

    As an argument a text with blanks would reach the model in quotation marks. A title saves the
    request for one; the log is the only place that tells of a server that fails.
    """
    return (
        *fed(asked, path, program),
        *("run", "--format", "json", "--thinking", "--pure"),
        *("--print-logs", "--log-level", "ERROR"),
        *("--model", f"{_PROVIDER}/{model_id}", "--title", "task"),
    )


def configuration(access: ModelAccess) -> dict[str, Any]:
    """Its configuration file: one model, and nothing that depends on what else is installed.

    It would format files with the formatters that it finds, and ask language servers about them.
    """
    model = f"{_PROVIDER}/{access.model_id}"
    reply = min(access.answer_tokens, access.context_window // _ANSWER_SHARE)
    limit = {"context": access.context_window, "output": reply}
    return {
        "provider": {
            _PROVIDER: {
                "npm": "@ai-sdk/openai-compatible",
                "name": _PROVIDER,
                "options": {"baseURL": access.base_url, "apiKey": access.key, "timeout": False},
                "models": {access.model_id: {"name": access.model_id, "limit": limit}},
            }
        },
        "enabled_providers": [_PROVIDER],
        "model": model,
        "small_model": model,
        "permission": {"*": "allow", "webfetch": "deny", "websearch": "deny", "codesearch": "deny"},
        "share": "disabled",
        "autoupdate": False,
        "formatter": False,
        "lsp": False,
    }


def environment(config: str) -> dict[str, str]:
    """Its configuration file and no other, and no way to its maker and to npm."""
    names = (
        *("AUTOUPDATE", "CLAUDE_CODE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH"),
        *("PROJECT_CONFIG", "SHARE"),
    )
    return {
        "OPENCODE_CONFIG": config,
        **{f"OPENCODE_DISABLE_{name}": "1" for name in names},
        "npm_config_offline": "true",
    }


def read(ended: Ended, asked: str) -> Said:
    """What the lines of its output and its log say. Raises HarnessError when there is none."""
    story = _Story()
    events = 0
    for event in json_lines(ended.stdout):
        events += 1
        story.add(event)
    if not events and not ended.is_timed_out:
        raise HarnessError(
            f"opencode ended with status {ended.exit_status} and no event: "
            f"{last_line(ended.stderr)}"
        )
    return Said(
        final_text=story.last.text,
        thinking=story.last.thinking,
        transcript=(Message(role="user", content=asked), *story.messages()),
        tool_calls=tuple(call for reply in story.replies.values() for call, _ in reply.calls),
        failure=_failure(ended, story),
        tools_s=_covered_s(story.spans),
        metadata=story.totals,
    )


def _failure(ended: Ended, story: _Story) -> str | None:
    """Its own word for what went wrong; its log counts only where it did not come to an end."""
    if story.failure is not None:
        return story.failure
    if ended.is_timed_out:
        log = clean(ended.stderr.decode(errors="replace"))
        errors = [error for line in log.split("\n") if (error := _stream_error(line)) is not None]
        if errors:
            return f"stream error: {errors[-1]}"
        return "step finished: unknown" if story.last.end == "unknown" else None
    return f"ended with status {ended.exit_status}" if ended.exit_status else None


def _stream_error(line: str) -> str | None:
    """The error of a stream that a line of its log tells; None: it tells none."""
    for words in _STREAM_ERROR:
        _, found, line = line.partition(words)
        if not found:
            return None
    quoted = _QUOTED.match(line)
    return quoted[1] if quoted else None


@dataclass(slots=True)
class _Reply:
    """One reply of the model, told in several events."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[CallRecord, str]] = field(default_factory=list)
    """Each with what the tool answered."""
    end: str = ""
    """The program's word for how it ended; empty: it was not told yet."""


@dataclass(slots=True)
class _Story:
    """What happened, put together from the events as they come."""

    replies: dict[str, _Reply] = field(default_factory=dict)
    """By the program's id of the message."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """Beginning and end of each call, in seconds."""
    failure: str | None = None
    totals: dict[str, int] = field(default_factory=dict)

    @property
    def last(self) -> _Reply:
        return next(reversed(self.replies.values()), _Reply())

    def add(self, event: Mapping[str, Any]) -> None:
        kind, part = event.get("type"), under(event, "part")
        if kind == "error":
            self.failure = _error(event.get("error"))
        message_id = text_of(under(part, "messageID"))
        if not message_id:
            return
        reply = self._reply(message_id)
        match kind:
            case "text":
                reply.text += text_of(under(part, "text"))
            case "reasoning":
                reply.thinking += text_of(under(part, "text"))
            case "tool_use":
                self._add_call(reply, part)
            case "step_finish":
                reply.end = text_of(under(part, "reason"))
                self._count(under(part, "tokens"))

    def messages(self) -> tuple[Message, ...]:
        """The conversation after the question."""
        told: list[Message] = []
        for reply in self.replies.values():
            plain = tuple(
                ToolCall(id=call.id, name=call.name, arguments=call.arguments)
                for call, _ in reply.calls
            )
            told.append(Message(role="assistant", content=reply.text, tool_calls=plain))
            told += (
                Message(role="tool", content=output, tool_call_id=call.id)
                for call, output in reply.calls
            )
        return tuple(told[:MOST_MESSAGES])

    def _reply(self, message_id: str) -> _Reply:
        """The reply to which an event belongs. A new one means that what failed went on."""
        if message_id not in self.replies:
            self.failure = None
            self.replies[message_id] = _Reply()
        return self.replies[message_id]

    def _add_call(self, reply: _Reply, part: Any) -> None:
        reply.calls.append((_call(part, turn=len(self.replies)), _output(part)))
        start, end = (under(part, "state", "time", name) for name in ("start", "end"))
        if (begun := count_of(start)) is not None and (ended := count_of(end)) is not None:
            self.spans.append((begun / 1000, ended / 1000))

    def _count(self, tokens: object) -> None:
        for name, key in (("input_tokens", "input"), ("output_tokens", "output")):
            if (count := count_of(under(tokens, key))) is not None:
                self.totals[name] = self.totals.get(name, 0) + count


def _error(error: object) -> str:
    name, message = text_of(under(error, "name")), text_of(under(error, "data", "message"))
    return ": ".join(word for word in (name or "error", message) if word)


def _call(part: Any, turn: int) -> CallRecord:
    """A call; what the program could not do stands in a call of its own tool `invalid`."""
    name, asked = text_of(under(part, "tool")), under(part, "state", "input")
    call_id = text_of(under(part, "callID")) or None
    if name != "invalid":
        return CallRecord(id=call_id, name=name, arguments=text_of(asked), turn=turn)
    error = text_of(under(asked, "error"))
    is_unknown = error.startswith(_UNKNOWN_TOOL)
    return CallRecord(
        id=call_id,
        name=text_of(under(asked, "tool")),
        arguments=_spoilt(error),
        turn=turn,
        is_offered=False if is_unknown else None,
        is_well_formed=None if is_unknown else False,
    )


def _spoilt(error: str) -> str:
    """The arguments that were no JSON, as its error quotes them; empty where it quotes none."""
    quoted, end, _ = error.rpartition(_SPOILT_END)
    starts = [at + len(word) for word in _SPOILT if (at := quoted.find(word)) >= 0]
    return quoted[min(starts) :] if end and starts else ""


def _output(part: Any) -> str:
    state = under(part, "state")
    return text_of(under(state, "output")) or text_of(under(state, "error"))


def _covered_s(spans: Sequence[tuple[float, float]]) -> float:
    """Seconds in which at least one call was being done; calls may be done side by side."""
    covered, reached = 0.0, 0.0
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered
