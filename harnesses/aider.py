"""Aider, driven by a script: it has no tools, reads the files that it is given, and edits by text.

The model writes its edits into its reply, in the edit format that its prompt asks for; aider
applies them, and sends back with the reason what it cannot apply. It exits 0 whatever happens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import (
    Capability,
    HarnessRunResult,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.place import Command, Place
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.programs.adapter import ProgramAdapter
from bench_loop.programs.asking import (
    ANY,
    ANY_ACCESS,
    Said,
    Scrubber,
    broke,
    config_hash,
    count_of,
    files_of,
    is_workspace_task,
    json_lines,
    question,
    read_state,
    result,
    under,
    write_state,
)
from bench_loop.programs.workspace import changes

VERSION = "0.86.2"

EditFormat = Literal["diff", "whole", "udiff"]
OPTIONS: Mapping[str, tuple[str, ...]] = {"edit_format": get_args(EditFormat)}
Mode = EditFormat | Literal["ask"]
DEFAULT_EDIT_FORMAT: EditFormat = "diff"
"""For every model the same, so that models can be compared: aider itself would choose by the name
of the model, and `whole` for each that it does not know."""

_STATE = "aider"
_QUESTION, _SETTINGS, _METADATA = "question.txt", "settings.yml", "metadata.json"
_CHAT, _HISTORY, _EVENTS = "chat.md", "history.txt", "events.jsonl"
_HEADING = re.compile(r"^(TO LLM|LLM RESPONSE) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
_RULE = "-------"
_THINKING_TAG = "thinking-content-[0-9a-f]{32}"
_THINKING = re.compile(rf"<({_THINKING_TAG})>(.*?)(?:</\1>|\Z)", re.DOTALL)
_ERROR = re.compile(r"litellm\.(?:exceptions\.)?(\w+(?:Error|Timeout)|Timeout)\b")
_TOO_OFTEN = re.compile(r"^Only \d+ reflections allowed, stopping\.$")
_OVER_LIMIT = re.compile(r"^Model \S+ has hit a token limit!$")
_EMPTY = re.compile(r"^Empty response received from LLM\b")
_REFUSED_EDIT = "The LLM did not conform to the edit format."


class Adapter(ProgramAdapter):
    """Aider in one edit format, all files of the workspace given to it; text in its ask mode."""

    name = "aider"
    version = VERSION
    capabilities: frozenset[Capability] = frozenset(
        {"plain_answer", "read_files", "edit_files", "multi_turn"}
    )
    """`multi_turn`: what its editor or its linter objects goes back to the model, three times."""
    needs = Needs(context_window=4096)
    installation: Installation | None = Installation(
        registry="pypi",
        packages=(f"aider-chat=={VERSION}",),
        program="bin/aider",
        licence="Apache-2.0",
        homepage="https://aider.chat",
        size_mb=687,
        runtime=">=3.10,<3.13",
    )

    def __init__(self, edit_format: EditFormat = DEFAULT_EDIT_FORMAT) -> None:
        self.edit_format = edit_format
        self.config_hash: str | None = _config_hash(edit_format)

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Ask it once: to edit the files of a workspace, or else for an answer in words."""
        place, access = self._ready()
        asked = question(task)
        files = files_of(task)
        write_state(place, f"{_STATE}/{_QUESTION}", no_command(asked))
        for name, content in settings_files(access, self.edit_format).items():
            write_state(place, f"{_STATE}/{name}", content)
        argv = command(
            access,
            place.program.inside,
            f"{place.state.inside}/{_STATE}",
            sorted(files),
            mode=self._mode(task),
            has_git=(place.workspace.here / ".git").exists(),
        )
        ended = place.run(Command(argv, access.wall_s, environment(access)))
        scrubber = Scrubber(place, access)
        said = self._said(place, task)
        if not ended.is_timed_out and not said.metadata["exchanges"]:
            raise broke(self.name, ended, scrubber)
        changed = changes(place, files, left_out=(".aider*",))
        return result(ended, said, changed, scrubber)

    def _mode(self, task: BenchmarkTask) -> Mode:
        return self.edit_format if is_workspace_task(task) else "ask"

    def _said(self, place: Place, task: BenchmarkTask) -> Said:
        history, chat, events = (
            read_state(place, f"{_STATE}/{name}") for name in (_HISTORY, _CHAT, _EVENTS)
        )
        said = read(history, chat, events, question(task))
        settings = {"edit_format": self.edit_format, "mode": self._mode(task)}
        return replace(said, metadata={**settings, **said.metadata})


def no_command(asked: str) -> str:
    """`asked` so that aider takes it for a message: what begins with / or ! it would run."""
    return f"\n{asked}" if asked[:1] in ("/", "!") else asked


def command(
    access: ModelAccess,
    program: str,
    state: str,
    files: Sequence[str],
    *,
    mode: Mode,
    has_git: bool = True,
) -> tuple[str, ...]:
    """The command line, by the paths inside: of the installation and of aider's part of the state.

    Python is isolated (-I), or files of the task would be taken for modules of aider's.
    """
    return (
        *(f"{program}/bin/python", "-I", "-B", "-m", "aider"),
        *("--model", _model(access), "--edit-format", mode),
        *("--model-settings-file", f"{state}/{_SETTINGS}"),
        *("--model-metadata-file", f"{state}/{_METADATA}"),
        *("--message-file", f"{state}/{_QUESTION}"),
        *("--chat-history-file", f"{state}/{_CHAT}", "--llm-history-file", f"{state}/{_HISTORY}"),
        *("--input-history-file", f"{state}/input.txt", "--analytics-log", f"{state}/{_EVENTS}"),
        *("--no-analytics", "--no-check-update", "--no-show-release-notes"),
        *("--no-show-model-warnings", "--disable-playwright", "--no-detect-urls"),
        *("--yes-always", "--no-suggest-shell-commands", "--map-tokens", "0"),
        *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore"),
        *("--no-pretty", "--no-fancy-input", "--timeout", "3600"),
        *(() if has_git else ("--no-git",)),
        *(f"--file={path}" for path in files),
    )


def environment(access: ModelAccess) -> dict[str, str]:
    """The model's address; no price list is fetched, and no page of help shown in a browser."""
    return {
        "OPENAI_API_BASE": access.base_url,
        "OPENAI_API_KEY": access.key,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "BROWSER": "true",
    }


def settings_files(access: ModelAccess, edit_format: EditFormat) -> dict[str, str]:
    """The two files with what aider should know of the model; JSON, which is YAML as well."""
    settings = {
        "name": _model(access),
        "edit_format": edit_format,
        "weak_model_name": _model(access),
        "use_repo_map": False,
        "streaming": True,
        "extra_params": {"max_tokens": access.answer_tokens},
    }
    metadata = {
        "max_input_tokens": access.context_window,
        "max_output_tokens": access.answer_tokens,
        "max_tokens": access.answer_tokens,
        "input_cost_per_token": 0,
        "output_cost_per_token": 0,
        "litellm_provider": "openai",
        "mode": "chat",
    }
    return {
        _SETTINGS: json.dumps([settings]),
        _METADATA: json.dumps({_model(access): metadata}),
    }


def _config_hash(edit_format: EditFormat) -> str:
    return config_hash(
        {
            "edit": command(ANY_ACCESS, ANY, ANY, (), mode=edit_format),
            "ask": command(ANY_ACCESS, ANY, ANY, (), mode="ask"),
            "environment": environment(ANY_ACCESS),
            "files": settings_files(ANY_ACCESS, edit_format),
        }
    )


def _model(access: ModelAccess) -> str:
    return f"openai/{access.model_id}"


# --- What it wrote down ---


def read(history: str, chat: str, events: str, asked: str) -> Said:
    """What its three logs say: every request with its reply, its own words, and its counts."""
    exchanges = tuple(_exchanges(history))
    replies = [one for one in exchanges if one.reply]
    last = replies[-1] if replies else _Exchange()
    own_words = _own_words(chat, last.raw)
    sent = [one["properties"] for one in _events(events, "message_send")]
    return Said(
        final_text=last.reply,
        thinking=last.thinking,
        transcript=tuple(_transcript(exchanges, asked)),
        failure=_failure(own_words),
        metadata={
            "exchanges": len(exchanges),
            "edits_refused": _count_lines(chat, _REFUSED_EDIT),
            **{name: _total(sent, name) for name in ("prompt_tokens", "completion_tokens")},
        },
    )


@dataclass(frozen=True, slots=True)
class _Exchange:
    """One request, known by its last message, and the reply, which is empty where none came."""

    asked: str = ""
    messages: int = 0
    """Of the request; one that is tried again has as many as before."""
    raw: str = ""

    @property
    def reply(self) -> str:
        return _THINKING.sub("", self.raw).strip("\n") if "<thinking-" in self.raw else self.raw

    @property
    def thinking(self) -> str:
        return "\n".join(found[2].strip() for found in _THINKING.finditer(self.raw))


def _exchanges(history: str) -> Iterator[_Exchange]:
    """The requests of the log, in which each line of a message has its role before it."""
    sent: _Exchange | None = None
    for kind, lines in _sections(history):
        if kind == "TO LLM":
            if sent is not None:
                yield sent
            sent = _Exchange(_last_message(lines), lines.count(_RULE))
        elif sent is not None:
            raw = "\n".join(line.removeprefix("ASSISTANT ") for line in lines)
            yield replace(sent, raw=raw)
            sent = None
    if sent is not None:
        yield sent


def _sections(history: str) -> Iterator[tuple[str, list[str]]]:
    kind, lines = "", list[str]()
    for line in history.split("\n"):
        if heading := _HEADING.match(line):
            if kind:
                yield kind, lines
            kind, lines = heading[1], []
        elif line:
            lines.append(line)
    if kind:
        yield kind, lines


def _last_message(lines: Sequence[str]) -> str:
    """The last message of a request, which is the user's."""
    start = max((i for i, line in enumerate(lines) if line == _RULE), default=-1)
    return "\n".join(line.removeprefix("USER ") for line in lines[start + 1 :])


def _transcript(exchanges: Sequence[_Exchange], asked: str) -> Iterator[Message]:
    """The conversation without aider's own prompts, which it puts before and after each message.

    What follows the question in the first request follows each later message too.
    """
    yield Message(role="user", content=asked)
    first = exchanges[0] if exchanges else _Exchange()
    before, found, after = first.asked.partition(no_command(asked).strip())
    messages = first.messages
    for one in exchanges:
        if one.messages != messages:
            text = one.asked.removesuffix(after) if found else one.asked
            yield Message(role="user", content=text.removeprefix(before).strip())
        messages = one.messages
        if one.reply:
            yield Message(role="assistant", content=one.reply)


def _own_words(chat: str, reply: str) -> list[str]:
    """What aider itself said after the model's last reply; before it a model may have forged it."""
    start = chat.rfind(reply.strip()) if reply.strip() else 0
    tail = chat[start + len(reply.strip()) :] if start >= 0 else chat
    return [line[2:].strip() for line in tail.split("\n") if line.startswith("> ")]


def _failure(own_words: Sequence[str]) -> str | None:
    """The last of its own words that says that something went wrong."""
    for line in reversed(own_words):
        if any(pattern.search(line) for pattern in (_ERROR, _TOO_OFTEN, _OVER_LIMIT, _EMPTY)):
            return line
    return None


def _events(events: str, name: str) -> list[dict[str, Any]]:
    found = (one for one in json_lines(events.encode()) if one.get("event") == name)
    return [one for one in found if isinstance(under(one, "properties"), dict)]


def _total(sent: Sequence[dict[str, Any]], name: str) -> int:
    return sum(count_of(properties.get(name)) or 0 for properties in sent)


def _count_lines(chat: str, words: str) -> int:
    return sum(line.strip() == f"> {words}" for line in chat.split("\n"))
