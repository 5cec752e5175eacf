"""Goose (`goose run`): a native program with its own tools for files and shell.

It always exits 0 and calls every end `completed`; what it could not do it tells in a text of its
own where an answer would stand. Messages of the model carry the model's name, its own do not: by
that they are told apart, whatever the model writes.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench_loop.contracts.chat import CallRecord, Message, ToolCall
from bench_loop.contracts.harness import (
    HarnessRunResult,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.place import Command
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Limit
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
    json_lines,
    objects,
    question,
    result,
    text_of,
    under,
    write_question,
    write_state,
)
from bench_loop.programs.workspace import changes

VERSION = "1.50.0"
MAX_TURNS = 100
"""Replies after which it asks whether to go on, and is ended."""

_AUTHORITY_FILE = "authority.pem"
_AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBnTCCAUOgAwIBAgIUGshpJ45ylGZHL/3Z7wwn6kPZ6SMwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYQmVuY2hMb29wLCBzaWducyBub3RoaW5nMCAXDTI2MTEzMDE2
MjAwNloYDzIxMjYxMTA2MTYyMDA2WjAjMSEwHwYDVQQDDBhCZW5jaExvb3AsIHNp
Z25zIG5vdGhpbmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATEOMt/k9ywDFfH
bZ7RidObTvBPvWxALWU/4f43kDT1fOKHojyQxsO+kSm7dz1NJCTObmQxf7wSf0NT
87exzq8so1MwUTAdBgNVHQ4EFgQUrWdfeYgSVDcTxfiRjkRhU66opTEwHwYDVR0j
BBgwFoAUrWdfeYgSVDcTxfiRjkRhU66opTEwDwYDVR0TAQH/BAUwAwEB/zAKBggq
hkjOPQQDAgNIADBFAiAEMLPEuPMbcUy/Ion0we2/oSu+3C6TaSpPCuXS7lxZkgIh
AIoFF7SbjvbY89GKdNLm3TVW0T+uk3D8a8xapG2izYcS
-----END CERTIFICATE-----
"""
"""Goose does not start without a certificate authority, even to speak plain HTTP to this machine;
in a sandbox there is none. This one was made for it, and its key thrown away: it signs nothing."""

_MAX_TURNS_REACHED = "I've reached the maximum number of actions"
_UNKNOWN_TOOL = re.compile(r"^-32600: Tool '([^']{1,200})'")
_OS = {"win32": "win32"}.get(sys.platform, sys.platform)
_CPU = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
    platform.machine().lower(), platform.machine().lower()
)


class Adapter(ProgramAdapter):
    """Goose with its `developer` tools (edit, read_image, shell, tree, write), for text too."""

    name = "goose"
    version = VERSION
    needs = Needs(context_window=4096, tool_calls=True)
    installation: Installation | None = Installation(
        registry="npm",
        packages=(f"@aaif/goose-acp@{VERSION}",),
        program=f"node_modules/@aaif/goose-binary-{_OS}-{_CPU}/bin/goose",
        licence="Apache-2.0",
        homepage="https://github.com/aaif-goose/goose",
        size_mb=301,
    )

    def __init__(self) -> None:
        self.config_hash: str | None = config_hash(
            {"command": command(ANY), "environment": environment(ANY_ACCESS, ANY)}
        )

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Ask it once, with the workspace as its folder."""
        place, access = self._ready()
        asked = write_question(place, task)
        write_state(place, _AUTHORITY_FILE, _AUTHORITY)
        env = environment(access, place.state.inside)
        ended = place.run(Command(command(asked), access.wall_s, env))
        scrubber = Scrubber(place, access)
        if not ended.is_timed_out and not any(json_lines(ended.stdout)):
            raise broke(self.name, ended, scrubber)
        said = read(ended.stdout, question(task))
        return result(ended, said, changes(place, files_of(task)), scrubber)


def command(asked: str) -> tuple[str, ...]:
    """The command line that asks what stands in the file `asked`.

    One JSON message on each line, so that what was done is known even if it has to be ended.
    """
    return (
        *("program", "run", "--quiet", "--no-profile", "--with-builtin", "developer"),
        *("--max-turns", str(MAX_TURNS), "--output-format", "stream-json"),
        *("--instructions", asked),
    )


def environment(access: ModelAccess, state: str) -> dict[str, str]:
    """Its whole configuration; it reads no file."""
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": access.model_id,
        "OPENAI_API_KEY": access.key,
        "OPENAI_HOST": access.base_url.removesuffix("/v1"),
        "OPENAI_BASE_PATH": "v1/chat/completions",
        "GOOSE_CONTEXT_LIMIT": str(access.context_window),
        "GOOSE_MAX_TOKENS": str(access.answer_tokens),
        "GOOSE_MODE": "auto",
        "GOOSE_PATH_ROOT": f"{state}/goose",
        "SSL_CERT_FILE": f"{state}/{_AUTHORITY_FILE}",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_DISABLE_SESSION_NAMING": "true",
        "GOOSE_TELEMETRY_ENABLED": "false",
    }


def read(output: bytes, asked: str) -> Said:
    """What the lines of its output say."""
    story = _Story()
    for event in json_lines(output):
        story.add(event)
    return Said(
        final_text=story.replies[-1].text if story.replies else "",
        thinking=story.replies[-1].thinking if story.replies else "",
        transcript=(Message(role="user", content=asked), *story.messages()),
        tool_calls=tuple(story.calls),
        failure=story.failure,
        limit=story.limit,
        metadata={
            "notices": "; ".join(story.notices),
            **story.totals,
        },
    )


@dataclass(slots=True)
class _Reply:
    """One reply of the model, which comes in pieces."""

    text: str = ""
    thinking: str = ""
    calls: list[ToolCall] = field(default_factory=list)


@dataclass(slots=True)
class _Story:
    """What happened, put together from the messages as they come."""

    replies: list[_Reply] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    failure: str | None = None
    limit: Limit | None = None
    notices: list[str] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    _told: list[_Reply | Message] = field(default_factory=list)

    def add(self, event: Mapping[str, Any]) -> None:
        message = under(event, "message")
        parts = objects(under(message, "content"))
        if event.get("type") == "complete":
            names = ("input_tokens", "output_tokens")
            told = {name: count_of(event.get(name)) for name in names}
            self.totals = {name: count for name, count in told.items() if count is not None}
        elif event.get("type") == "error":
            self.failure = text_of(event.get("error")) or "error"
        elif under(message, "role") == "user":
            for part in parts:
                self._add_response(part)
        elif under(message, "metadata", "inference") is None:
            for part in parts:
                self._add_own_words(part)
        else:
            for part in parts:
                self._add_model_words(part)

    def messages(self) -> tuple[Message, ...]:
        """The conversation after the question."""
        return tuple(
            Message(role="assistant", content=one.text, tool_calls=tuple(one.calls))
            if isinstance(one, _Reply)
            else one
            for one in self._told
        )

    def _add_own_words(self, part: Mapping[str, Any]) -> None:
        if part.get("type") == "text":
            self.failure = text_of(part.get("text"))
            self.limit = "turns" if self.failure.startswith(_MAX_TURNS_REACHED) else None
        elif part.get("type") == "systemNotification" and len(self.notices) < 20:
            self.notices.append(text_of(part.get("msg"))[:200])

    def _add_model_words(self, part: Mapping[str, Any]) -> None:
        self.failure = self.limit = None
        reply = self._open_reply()
        match part.get("type"):
            case "text":
                reply.text += text_of(part.get("text"))
            case "thinking":
                reply.thinking += text_of(part.get("thinking"))
            case "toolRequest":
                call = _call(part, turn=len(self.replies))
                self.calls.append(call)
                reply.calls.append(ToolCall(id=call.id, name=call.name, arguments=call.arguments))

    def _open_reply(self) -> _Reply:
        """The reply to which the next piece belongs: one lasts until a tool has answered."""
        if not self._told or not isinstance(self._told[-1], _Reply):
            self.replies.append(_Reply())
            self._told.append(self.replies[-1])
        return self.replies[-1]

    def _add_response(self, part: Mapping[str, Any]) -> None:
        if part.get("type") == "toolResponse":
            outcome = part.get("toolResult")
            texts = objects(under(outcome, "value", "content"))
            content = "\n".join(text_of(one.get("text")) for one in texts)
            self._told.append(
                Message(
                    role="tool",
                    content=content or text_of(under(outcome, "error")),
                    tool_call_id=text_of(part.get("id")),
                )
            )


def _call(part: Mapping[str, Any], turn: int) -> CallRecord:
    """A call of the model; of one that goose refuses it tells the reason, and not always a name."""
    error = text_of(under(part, "toolCall", "error"))
    unknown = _UNKNOWN_TOOL.match(error)
    name = unknown[1] if unknown else text_of(under(part, "toolCall", "value", "name"))
    arguments = under(part, "toolCall", "value", "arguments")
    return CallRecord(
        id=text_of(part.get("id")) or None,
        name=name,
        arguments="" if arguments is None else json.dumps(arguments, ensure_ascii=False),
        turn=turn,
        is_offered=False if unknown else None,
        is_well_formed=False if error and not unknown else None,
    )
