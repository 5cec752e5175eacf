"""OpenClaw: one run of `openclaw agent exec`, or a task sent to its gateway as a chat.

Both end in the same: the words of the path on which it was asked, and what its database keeps of
the session. It reads its own JSON with care: a key that it does not know ends it at the start.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from bench_loop.contracts.chat import Message, ToolCall
from bench_loop.contracts.harness import (
    HarnessRunResult,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.place import Command, Ended, Place, Service
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError
from bench_loop.programs import asking
from bench_loop.programs.adapter import ProgramAdapter
from bench_loop.programs.asking import ANY, ANY_ACCESS
from bench_loop.programs.metadata import flat
from bench_loop.programs.place import free_port
from bench_loop.programs.services import Server, ask_once, events, seconds_left
from bench_loop.programs.transcripts import calls_of
from bench_loop.programs.workspace import changes

Path = Literal["exec", "gateway"]
Choice = Literal["auto", "exec", "gateway"]
OPTIONS: Mapping[str, tuple[str, ...]] = {"path": get_args(Choice)}
"""`path`: how it is asked, by `agent exec` or by a chat with its gateway. `auto` is the gateway for
tasks on files and `agent exec` for questions."""

SMALLEST_WINDOW = 16_384
"""Tokens. Its own prompt takes about 9,000; at 8,192 it asks the model for one token."""

PROVIDER = "bench"
CONFIGURATION = "openclaw.json"
STATE = "openclaw"
"""Its own folder in the state folder."""
DATABASE = f"{STATE}/agents/main/agent/openclaw-agent.sqlite"
LOG = "openclaw.log"

READER = """
const { DatabaseSync } = require("node:sqlite");
const { zstdDecompressSync } = require("node:zlib");
const events = new DatabaseSync(process.argv[1]).prepare(
  "SELECT event_json AS text, event_zstd AS packed FROM transcript_events " +
  "ORDER BY created_at, session_id, seq LIMIT 20000");
for (const { text, packed } of events.iterate())
  console.log(text ?? zstdDecompressSync(packed, { maxOutputLength: 4194304 }).toString());
"""
"""Prints the events of its database, one on a line. It packs those of a kilobyte and more with
zstd, which Python does not have before 3.14, but the Node that it runs on."""
READ_S = 60.0

KEPT = (
    *("ok", "status", "assistantTurns", "toolSummary", "usage"),
    *("codeModeEngaged", "bridgeCalls", "unresolvedError"),
)
"""Of the envelope that `agent exec` prints."""


class Adapter(ProgramAdapter):
    """OpenClaw with its coding tools, and without memory, channels, updates and announcements."""

    name = "openclaw"
    version = "2026.9.6"
    needs = Needs(context_window=SMALLEST_WINDOW, tool_calls=True)
    installation: Installation | None = Installation(
        registry="npm",
        packages=("openclaw@2026.9.6",),
        program="node_modules/.bin/openclaw",
        licence="MIT",
        homepage="https://github.com/openclaw/openclaw",
        size_mb=647,
        runtime="24.21.0",
    )

    def __init__(self, path: Choice = "auto") -> None:
        self.path = path
        self.config_hash: str | None = _config_hash(path)

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Ask it once, and read its database when all is over."""
        place, access = self._ready()
        path = self.path_for(task)
        ask = by_gateway if path == "gateway" else by_exec
        scrubber = asking.Scrubber(place, access)
        try:
            ended, told = ask(place, access, asking.question(task))
        except HarnessError as error:
            raise asking.scrubbed(error, scrubber) from error
        said = heard(told, kept_events(place), {"path": path})
        changed = changes(place, asking.files_of(task))
        return asking.result(ended, said, changed, scrubber)

    def path_for(self, task: BenchmarkTask) -> Path:
        """How it is asked to do `task`."""
        if self.path == "auto":
            return "gateway" if asking.is_workspace_task(task) else "exec"
        return self.path


# --- Its configuration ---


def configuration(access: ModelAccess, workspace: str, state: str) -> dict[str, Any]:
    """Its configuration file on both paths."""
    return {
        "models": {"mode": "replace", "providers": {PROVIDER: _provider(access)}},
        "agents": {
            "defaults": {
                "model": {"primary": f"{PROVIDER}/{model_name(access)}"},
                "workspace": workspace,
                "skipBootstrap": True,
            }
        },
        "tools": {"profile": "coding"},
        "plugins": {"slots": {"memory": "none"}},
        "update": {"checkOnStart": False},
        "discovery": {"mdns": {"mode": "off"}},
        "logging": {"file": f"{state}/{LOG}"},
    }


def model_name(access: ModelAccess) -> str:
    """The model as it is called here; what follows an `@` would be taken for an account.

    The gateway puts the real name back.
    """
    return access.model_id.replace("@", "-")


def _provider(access: ModelAccess) -> dict[str, Any]:
    """The model server. Without a time of its own, two silent minutes count as a failure."""
    model = {
        "id": model_name(access),
        "name": model_name(access),
        "contextWindow": access.context_window,
        "maxTokens": access.answer_tokens,
        "input": ["text"],
        "reasoning": False,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    return {
        "baseUrl": access.base_url,
        "apiKey": access.key,
        "api": "openai-completions",
        "timeoutSeconds": math.ceil(access.wall_s),
        "models": [model],
    }


def gateway_configuration(port: int, token: str) -> dict[str, Any]:
    """What the configuration holds beside that for the gateway."""
    return {
        "mode": "local",
        "port": port,
        "bind": "loopback",
        "auth": {"mode": "token", "token": token},
        "controlUi": {"enabled": False},
        "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
    }


def environment(state: str) -> dict[str, str]:
    """What it does not take from its configuration file."""
    return {
        "OPENCLAW_STATE_DIR": f"{state}/{STATE}",
        "OPENCLAW_CONFIG_PATH": f"{state}/{CONFIGURATION}",
        "OPENCLAW_NO_AUTO_UPDATE": "1",
        "OPENCLAW_DISABLE_BONJOUR": "1",
        "OPENCLAW_NO_RESPAWN": "1",
        "OPENCLAW_SKIP_CHANNELS": "1",
        "OPENCLAW_SKIP_CRON": "1",
    }


def _config_hash(path: Choice) -> str:
    return asking.config_hash(
        {
            "path": path,
            "configuration": configuration(ANY_ACCESS, ANY, ANY),
            "gateway": None if path == "exec" else gateway_configuration(0, ANY),
            "environment": environment(ANY),
        }
    )


def _prepare(place: Place, access: ModelAccess, more: Mapping[str, Any]) -> str:
    """Write its configuration; the path of that file inside."""
    (place.state.here / STATE).mkdir(exist_ok=True)
    settings = configuration(access, place.workspace.inside, place.state.inside)
    return asking.write_state(place, CONFIGURATION, json.dumps({**settings, **more}))


# --- Asking it ---


@dataclass(frozen=True, slots=True)
class Told:
    """What it told by the path on which it was asked."""

    final_text: str = ""
    failure: str | None = None
    is_timed_out: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)


def by_exec(place: Place, access: ModelAccess, question: str) -> tuple[Ended, Told]:
    """Run `agent exec` to its end or the deadline."""
    state = place.state.inside
    settings = _prepare(place, access, {})
    asked = asking.write_state(place, asking.QUESTION_FILE, question)
    argv = (
        *("program", "agent", "exec", "--json"),
        *("--cwd", place.workspace.inside, "--config", settings),
        *("--model", f"{PROVIDER}/{model_name(access)}", "--state-dir", f"{state}/{STATE}"),
        *("--timeout", str(math.ceil(access.wall_s)), "--message-file", asked),
    )
    ended = place.run(Command(argv, access.wall_s, environment(state)))
    return ended, told_by_envelope(ended)


def told_by_envelope(ended: Ended) -> Told:
    """What the JSON object on its standard output tells; one that was ended prints none.

    Raises HarnessError when it printed none though it ended by itself.
    """
    if ended.is_timed_out:
        return Told(is_timed_out=True)
    if b"{" not in ended.stdout:
        why = asking.last_line(ended.stderr)
        raise HarnessError(f"openclaw ended with {ended.exit_status} and no answer: {why}")
    envelope = asking.json_object(ended.stdout, "openclaw")
    return Told(
        final_text=asking.text_of(envelope.get("final")),
        failure=None if envelope.get("ok") is True else _failure(envelope),
        metadata={key: _without_cost(envelope[key]) for key in KEPT if key in envelope},
    )


def _without_cost(value: object) -> object:
    """It makes up a price for a local model."""
    if not isinstance(value, dict):
        return value
    return {key: one for key, one in value.items() if key != "cost"}


def _failure(envelope: Mapping[str, Any]) -> str:
    kind = asking.text_of(asking.under(envelope, "error", "kind"))
    message = asking.text_of(asking.under(envelope, "error", "message"))
    word = kind or asking.text_of(envelope.get("status")) or "error"
    return f"{word}: {message}" if message else word


def by_gateway(place: Place, access: ModelAccess, question: str) -> tuple[Ended, Told]:
    """Start its gateway, chat with it, and follow the answer to its end or the deadline."""
    port, token = free_port(), secrets.token_hex(24)
    bearer = {"Authorization": f"Bearer {token}"}
    _prepare(place, access, {"gateway": gateway_configuration(port, token)})
    argv = ("program", "gateway", "run", "--port", str(port), "--bind", "loopback")
    server = Server(argv, environment(place.state.inside), port, "/v1/models", bearer)
    served = ask_once(
        place, server, access.wall_s, lambda at, deadline: chat(at, bearer, question, deadline)
    )
    told = served.told or Told(is_timed_out=True)
    return served.ended, replace(told, metadata={**told.metadata, "start_s": served.start_s})


def chat(service: Service, bearer: Mapping[str, str], question: str, deadline: float) -> Told:
    """Its answer, streamed: it works on for a client that can't hang up."""
    body = {
        "model": "openclaw/default",
        "messages": [{"role": "user", "content": question}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    left_s = seconds_left(deadline)
    with service.lines(
        "POST", "/v1/chat/completions", body=body, headers=bearer, wall_s=left_s
    ) as lines:
        return told_by_chunks(chunk for _, chunk in events(lines))


def told_by_chunks(chunks: Iterable[Mapping[str, Any]]) -> Told:
    """What a streamed chat tells. Raises HarnessError when it ends before the answer does."""
    text: list[str] = []
    usage: Mapping[str, Any] = {}
    is_finished = False
    for chunk in chunks:
        if error := chunk.get("error"):
            return Told("".join(text), failure=asking.text_of(asking.under(error, "message")))
        for choice in asking.objects(chunk.get("choices")):
            text.append(asking.text_of(asking.under(choice, "delta", "content")))
            is_finished |= choice.get("finish_reason") is not None
        usage = chunk["usage"] if isinstance(chunk.get("usage"), dict) else usage
    if not is_finished:
        raise HarnessError("openclaw ended its answer before it was whole.")
    return Told("".join(text), metadata={"usage": usage} if usage else {})


# --- Reading what it kept ---


def kept_events(place: Place) -> list[dict[str, Any]] | None:
    """The events of its transcript, read where it ran; None: there is no database to be read."""
    command = ("node", "--no-warnings", "-e", READER, f"{place.state.inside}/{DATABASE}")
    ended = place.run(Command(command, READ_S))
    return list(asking.json_lines(ended.stdout)) if ended.exit_status == 0 else None


def heard(
    told: Told, log: Sequence[Mapping[str, Any]] | None, metadata: Mapping[str, Any]
) -> asking.Said:
    """What it told, with what its database keeps; None: there is no database to be read."""
    kept = [event for event in log or () if event.get("type") == "message"]
    messages = tuple(message for one in kept if (message := read_message(one)) is not None)
    return asking.Said(
        final_text=told.final_text,
        thinking=_last_thinking(kept),
        transcript=messages,
        tool_calls=tuple(calls_of(messages)),
        failure=_with_reason(told.failure, kept),
        tools_s=None if log is None else tools_s(kept),
        metadata=flat({**metadata, **told.metadata, "transcript_read": log is not None}),
    )


def read_message(event: Mapping[str, Any]) -> Message | None:
    """One message of its transcript; None for a role that is none of a conversation."""
    message = event.get("message")
    role = asking.under(message, "role")
    content = asking.under(message, "content")
    if role == "toolResult":
        call_id, name = asking.under(message, "toolCallId"), asking.under(message, "toolName")
        return Message(
            role="tool",
            content=_texts(content, "text"),
            tool_call_id=call_id if isinstance(call_id, str) else None,
            name=name if isinstance(name, str) else None,
        )
    if role not in ("user", "assistant"):
        return None
    return Message(role=role, content=_texts(content, "text"), tool_calls=tuple(_calls(content)))


def _texts(content: object, kind: str) -> str:
    """The parts of one kind, put together; content that is no list of parts is one text."""
    if isinstance(content, str):
        return asking.clean(content) if kind == "text" else ""
    parts = [part for part in asking.objects(content) if part.get("type") == kind]
    return "\n".join(asking.text_of(part.get(kind)) for part in parts)


def _calls(content: object) -> Iterator[ToolCall]:
    for part in asking.objects(content):
        if part.get("type") == "toolCall":
            call_id = part.get("id")
            yield ToolCall(
                id=call_id if isinstance(call_id, str) else None,
                name=asking.text_of(part.get("name")),
                arguments=asking.text_of(part.get("arguments")),
            )


def _last_thinking(kept: Sequence[Mapping[str, Any]]) -> str:
    last = _last_reply(kept)
    return _texts(asking.under(last, "message", "content"), "thinking")


def _with_reason(failure: str | None, kept: Sequence[Mapping[str, Any]]) -> str | None:
    """`failure` with what the transcript says of it, which its gateway keeps to itself."""
    reason = asking.text_of(asking.under(_last_reply(kept), "message", "errorMessage"))
    return failure if failure is None or reason in failure else f"{failure}: {reason}"


def _last_reply(kept: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    replies = [one for one in kept if asking.under(one, "message", "role") == "assistant"]
    return replies[-1] if replies else None


def tools_s(kept: Iterable[Mapping[str, Any]]) -> float:
    """Seconds from each reply with calls to the last of their results, by its own dates."""
    total, since, until = 0.0, None, None
    for event in kept:
        if asking.under(event, "message", "role") == "toolResult":
            until = _date(event)
            continue
        total += _between(since, until)
        since, until = _date(event), None
    return total + _between(since, until)


def _between(since: datetime | None, until: datetime | None) -> float:
    return 0.0 if since is None or until is None else max(0.0, (until - since).total_seconds())


def _date(event: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(event.get("timestamp"))).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
