"""Hermes Agent: a run of its API server, with events, or its one-shot command."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from bench_loop.programs.databases import Row, Value, json_of, read_rows
from bench_loop.programs.metadata import flat
from bench_loop.programs.place import free_port
from bench_loop.programs.services import Server, ask_once, events, seconds_left
from bench_loop.programs.transcripts import calls_of, last_words
from bench_loop.programs.workspace import changes

Path = Literal["runs", "oneshot"]
Role = Literal["user", "assistant", "tool"]
OPTIONS: Mapping[str, tuple[str, ...]] = {"path": get_args(Path)}
"""`path`: how it is asked, by a run of its API server or by its one-shot command."""

SMALLEST_WINDOW = 64_000
"""Tokens; below this Hermes refuses to start."""

FOLDER = "hermes"
"""Its own folder in the state folder: configuration, database, logs."""
USAGE = "usage.json"
USAGE_KEPT = ("api_calls", "completed", "failed", "input_tokens", "output_tokens")
TOOLSETS = ("file", "terminal")
LONGEST_ARGUMENT = 120_000
"""Bytes; Linux starts no program with an argument of 128 KiB."""

ROWS = """
SELECT role, content, tool_calls, tool_call_id, tool_name, reasoning_content, reasoning
FROM messages ORDER BY id
"""

ROLES: Mapping[object, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
"""What is kept of its database; it holds notes of its own beside the conversation."""

_STRUCTURED = "\x00json:"
"""Stands before content that Hermes keeps as JSON, a list of parts."""


class Adapter(ProgramAdapter):
    """Hermes with its file and terminal tools, and nothing that outlives a task: no memory, no
    checkpoints, no language servers, nothing that it would install while it runs.
    """

    name = "hermes"
    version = "0.19.0"
    needs = Needs(context_window=SMALLEST_WINDOW, tool_calls=True)
    installation: Installation | None = Installation(
        registry="pypi",
        packages=("hermes-agent==0.19.0", "aiohttp==3.14.1"),
        program="bin/hermes",
        licence="MIT",
        homepage="https://github.com/NousResearch/hermes-agent",
        size_mb=228,
        runtime=">=3.11,<3.14",
    )

    def __init__(self, path: Path = "runs") -> None:
        self.path = path
        self.config_hash: str | None = asking.config_hash(
            {"path": path, "configuration": configuration(ANY_ACCESS, ANY)}
        )

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Ask it once, in a server of its own, and read its database when all is over."""
        place, access = self._ready()
        settings = configuration(access, place.workspace.inside)
        asking.write_state(place, f"{FOLDER}/config.yaml", json.dumps(settings))
        ask = by_run if self.path == "runs" else by_one_shot
        scrubber = asking.Scrubber(place, access)
        try:
            ended, told = ask(place, access, asking.question(task))
        except HarnessError as error:
            raise asking.scrubbed(error, scrubber) from error
        rows = read_rows(place.state.here, f"{FOLDER}/state.db", ROWS)
        said = heard(told, rows, {"path": self.path, "window": _window(access)})
        changed = changes(place, asking.files_of(task))
        return asking.result(ended, said, changed, scrubber)


# --- Its configuration ---

SETTINGS: Mapping[str, Any] = {
    "memory": {"memory_enabled": False, "user_profile_enabled": False},
    "checkpoints": {"enabled": False},
    "display": {"streaming": False},
    "lsp": {"enabled": False},
    "security": {"allow_lazy_installs": False, "tirith_enabled": False},
    "agent": {"verify_on_stop": False},
    "approvals": {"mode": "off"},
    "model_catalog": {"enabled": False},
    "platform_toolsets": {"api_server": list(TOOLSETS)},
}
"""What is the same in every trial. `lsp`, lazy installs and `tirith`, which scans commands, would
fetch programs at run time; `verify_on_stop` adds turns of its own; nobody is there to approve."""


def configuration(access: ModelAccess, workspace: str) -> dict[str, Any]:
    """Its `config.yaml`, as JSON, which is YAML too."""
    return {
        "model": {
            "default": access.model_id,
            "provider": "custom",
            "base_url": access.base_url,
            "api_key": access.key,
            "context_length": _window(access),
            "max_tokens": access.answer_tokens,
        },
        "terminal": {"backend": "local", "cwd": workspace},
        **SETTINGS,
    }


def _window(access: ModelAccess) -> int:
    """The window that it is told: the model's, or the smallest that it would start with."""
    return max(SMALLEST_WINDOW, access.context_window)


def _environment(place: Place) -> dict[str, str]:
    return {"HERMES_HOME": f"{place.state.inside}/{FOLDER}"}


# --- Asking it ---


@dataclass(frozen=True, slots=True)
class Told:
    """What it told by the path on which it was asked."""

    output: str = ""
    """Its final text, which may be a sentence of its own."""
    failure: str | None = None
    tools_s: float | None = None
    is_timed_out: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)


def by_run(place: Place, access: ModelAccess, question: str) -> tuple[Ended, Told]:
    """Start its API server, start a run, and follow the events to the end or the deadline."""
    port, key = free_port(), secrets.token_hex(24)
    bearer = {"Authorization": f"Bearer {key}"}
    env = {
        **_environment(place),
        "API_SERVER_ENABLED": "true",
        "API_SERVER_HOST": "127.0.0.1",
        "API_SERVER_PORT": str(port),
        "API_SERVER_KEY": key,
    }
    server = Server(("program", "gateway", "run"), env, port, "/health", bearer)
    served = ask_once(
        place, server, access.wall_s, lambda at, deadline: follow(at, bearer, question, deadline)
    )
    told = served.told or Told(is_timed_out=True)
    return served.ended, replace(told, metadata={**told.metadata, "start_s": served.start_s})


def follow(service: Service, bearer: Mapping[str, str], question: str, deadline: float) -> Told:
    """Start a run, which works on whoever listens, and stop it if its end can't be waited for."""
    status, body = service.request(
        "POST",
        "/v1/runs",
        body={"input": question},
        headers=bearer,
        wall_s=seconds_left(deadline),
    )
    run_id = asking.json_object(body, "hermes").get("run_id") if status == 202 else None
    if not isinstance(run_id, str) or not run_id.isidentifier():
        raise HarnessError(f"hermes took no run (HTTP {status}): {asking.last_line(body)}")
    run = f"/v1/runs/{run_id}"
    left_s = seconds_left(deadline)
    try:
        with service.lines(
            "GET", f"{run}/events", body=None, headers=bearer, wall_s=left_s
        ) as lines:
            return told_by_events(event for _, event in events(lines))
    except HarnessError:
        with suppress(HarnessError):
            service.request("POST", f"{run}/stop", headers=bearer)
        raise


def told_by_events(happened: Iterable[Mapping[str, Any]]) -> Told:
    """What a run's events tell. Raises HarnessError when they end before the run does."""
    tools_s = 0.0
    for event in happened:
        match event.get("event"):
            case "tool.completed":
                tools_s += _seconds(event.get("duration"))
            case "run.completed":
                return Told(
                    output=asking.text_of(event.get("output")),
                    tools_s=tools_s,
                    metadata={"usage": event.get("usage")},
                )
            case "run.failed" | "run.cancelled" as word:
                failure = asking.text_of(event.get("error")) or str(word)
                return Told(failure=failure, tools_s=tools_s)
    raise HarnessError("hermes ended the events of its run before the run.")


def _seconds(value: object) -> float:
    if not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < 1e6 else 0.0


def by_one_shot(place: Place, access: ModelAccess, question: str) -> tuple[Ended, Told]:
    """Run it once to its end or the deadline."""
    if len(question.encode()) > LONGEST_ARGUMENT:
        raise HarnessError(
            f"hermes takes no question over {LONGEST_ARGUMENT:,} bytes as an argument.",
            remedy="Choose --harness-option path=runs.",
        )
    usage = f"{place.state.inside}/{USAGE}"
    ended = place.run(
        Command(
            ("program", f"--oneshot={question}", "--usage-file", usage, "-t", ",".join(TOOLSETS)),
            wall_s=access.wall_s,
            env=_environment(place),
        )
    )
    return ended, told_by_usage(ended, asking.read_state(place, USAGE))


def told_by_usage(ended: Ended, usage_file: str) -> Told:
    """What standard output and usage file tell; a run that was ended from outside has no file."""
    output = asking.clean(ended.stdout.decode(errors="replace")).strip()
    if not usage_file:
        if ended.is_timed_out:
            return Told(output=output, is_timed_out=True)
        raise HarnessError(f"hermes wrote no usage file: {asking.last_line(ended.stderr)}")
    usage = asking.json_object(usage_file.encode(), "hermes")
    failure = asking.text_of(usage.get("failure")) or None
    if failure is None and (usage.get("failed") or usage.get("completed") is False):
        failure = output or "it says that it failed, and no more"
    return Told(
        output="" if failure else output,
        failure=failure,
        is_timed_out=ended.is_timed_out,
        metadata={key: usage.get(key) for key in USAGE_KEPT},
    )


# --- Reading what it kept ---


def heard(told: Told, rows: Sequence[Row] | None, metadata: Mapping[str, Any]) -> asking.Said:
    """What it told, with what its database keeps; None: there is no database to be read."""
    messages = tuple(read_messages(rows or ()))
    answer = Answer(told.output.strip())
    if rows is not None and not told.is_timed_out:
        answer = parted(told.output.strip(), last_words(messages).strip())
    return asking.Said(
        final_text=answer.text,
        thinking=last_thinking(rows or ()),
        transcript=messages,
        tool_calls=tuple(calls_of(messages)),
        failure=told.failure or answer.failure,
        tools_s=told.tools_s,
        metadata=flat(
            {**metadata, **told.metadata, "note": answer.note, "transcript_read": rows is not None}
        ),
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A final text in its parts."""

    text: str
    """The model's words."""
    note: str = ""
    """What Hermes added to them."""
    failure: str | None = None
    """What it said in their place."""


def parted(text: str, last: str) -> Answer:
    """The parts of a final text, by the model's last message.

    It takes thinking out, which that message still has; it adds a note on edits that failed; and
    where it gave up, though it calls the run completed, the text is a sentence of its own.
    """
    if last and last in text:
        return Answer(last, note=text.replace(last, "", 1).strip())
    if text and text in last:
        return Answer(text)
    return Answer(last, failure=text or "it gave no answer")


def read_messages(rows: Iterable[Row]) -> Iterator[Message]:
    """The messages of its database from the question on."""
    for role, content, tool_calls, call_id, tool_name, *_ in rows:
        if role not in ROLES:
            continue
        yield Message(
            role=ROLES[role],
            content=_content(content),
            tool_calls=tuple(_calls(tool_calls)),
            tool_call_id=call_id if isinstance(call_id, str) else None,
            name=tool_name if isinstance(tool_name, str) else None,
        )


def _content(value: Value) -> str:
    text = value if isinstance(value, str) else ""
    if not text.startswith(_STRUCTURED):
        return asking.clean(text)
    parts = asking.objects(json_of(text.removeprefix(_STRUCTURED)))
    return "\n".join(asking.text_of(part.get("text")) for part in parts)


def _calls(value: Value) -> Iterator[ToolCall]:
    for call in asking.objects(json_of(value)):
        call_id = call.get("id")
        yield ToolCall(
            id=call_id if isinstance(call_id, str) else None,
            name=asking.text_of(asking.under(call, "function", "name")),
            arguments=asking.text_of(asking.under(call, "function", "arguments")),
        )


def last_thinking(rows: Sequence[Row]) -> str:
    """The thinking of the last reply, which may stand in one column or the other."""
    replies = [row for row in rows if row[0] == "assistant"]
    return asking.text_of(replies[-1][-2] or replies[-1][-1]) if replies else ""
