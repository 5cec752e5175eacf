"""What a scripted model answers: the next turn of its script, done with the tools on offer.

Pure, and without memory: how far a conversation has come is read off its messages, so that
conversations may cross, and one that is tried again goes on where it was.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench_loop.simulator import edit_formats
from bench_loop.simulator.settings import Act, Call, Turn

SIDE_TEXT = "A scripted conversation"
"""Answer to a request beside the conversation, such as for a title or a summary of it."""

LAST_TEXT = "Done."
"""Answer when the script has come to its end without one."""

_TOOLS: dict[Act, tuple[str, ...]] = {
    "read": ("read", "read_file"),
    "write": ("write", "write_file"),
    "run": ("exec", "terminal", "bash", "shell", "run_terminal_command"),
}
"""Tools of agent harnesses by what they are for, in small letters and without a prefix `x__`."""

_PATHS = ("path", "filepath", "file_path", "filename")
_CONTENTS = ("content", "contents", "file_text")
_COMMANDS = ("command", "cmd")

_FILLERS: dict[str, object] = {
    "string": "scripted",
    "integer": 1,
    "number": 1,
    "boolean": False,
    "array": [],
    "object": {},
}
"""What a parameter gets that a tool requires and a script does not know."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; `turn` is its place in the script from 0, None for a request beside it."""

    text: str = ""
    call: Call | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A turn as these tools can do it."""

    turn: int
    say: str
    call: Call | None


def reply_of(
    script: Sequence[Turn], messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> Reply:
    """The answer to a request with these messages and tool definitions (OpenAI's shapes).

    A turn for which no tool is offered is left out. Without any tools, a script that acts writes
    its files into its text, where the prompt asks for a format of that; otherwise the request is
    one beside the conversation.
    """
    if not tools and any(turn.act in ("read", "write", "run") for turn in script):
        text = edit_formats.edits(script, messages)
        return Reply(SIDE_TEXT) if text is None else Reply(text, turn=0)
    steps = list(_steps(script, tools))
    place = _place(steps, messages)
    if place >= len(steps):
        last = steps[-1] if steps and steps[-1].call is None else None
        return Reply(last.say if last else LAST_TEXT, turn=last.turn if last else len(script))
    step = steps[place]
    return Reply(step.say, step.call, step.turn)


def _steps(script: Sequence[Turn], tools: Sequence[dict[str, Any]]) -> Iterator[_Step]:
    for place, turn in enumerate(script):
        call = _call(turn, tools)
        if call is not None or turn.act is None:
            yield _Step(place, turn.say, call)


def _place(steps: Sequence[_Step], messages: Sequence[dict[str, Any]]) -> int:
    """How many steps the conversation has seen done, in their order.

    A call that was spoilt on its way is no step: the model that the script plays makes it again.
    """
    place = 0
    for message in messages:
        if message.get("role") == "assistant" and place < len(steps):
            place += _is_said(steps[place], message)
    return place


def _is_said(step: _Step, message: dict[str, Any]) -> bool:
    calls = [call for call in message.get("tool_calls") or () if isinstance(call, dict)]
    if step.call is None:
        return not calls and edit_formats.text_of(message).strip() == step.say.strip()
    return any(_is_same(step.call, one.get("function") or {}) for one in calls)


def _is_same(call: Call, made: dict[str, Any]) -> bool:
    """Whether a call of the messages is the script's; harnesses may add what they default to."""
    if made.get("name") != call.name:
        return False
    told, wanted = _parsed(made.get("arguments")), _parsed(call.arguments)
    if not isinstance(told, dict) or not isinstance(wanted, dict):
        return bool(told == wanted)
    return all(told.get(name) == value for name, value in wanted.items())


def _parsed(arguments: Any) -> Any:
    """The value of JSON text, or the text where it is none."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _call(turn: Turn, tools: Sequence[dict[str, Any]]) -> Call | None:
    """The call that does a turn with these tools; None: it has none, or none of them can."""
    if turn.act is None:
        return None
    if turn.act == "call":
        return Call(turn.target, turn.content)
    tool = _tool(turn.act, tools)
    if tool is not None:
        return _filled(tool, turn)
    shell = _tool("run", tools)
    return None if shell is None else _filled(shell, _as_command(turn))


def _tool(act: Act, tools: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The function on offer that is for `act`."""
    functions = [tool.get("function") or tool for tool in tools]
    by_name = {str(one.get("name")).rpartition("__")[2].lower(): one for one in functions}
    return next((by_name[name] for name in _TOOLS[act] if name in by_name), None)


def _as_command(turn: Turn) -> Turn:
    """A turn done in a shell."""
    path = shlex.quote(turn.target)
    if turn.act == "read":
        return Turn(act="run", target=f"cat {path}")
    return Turn(act="run", target=f"printf %s {shlex.quote(turn.content)} > {path}")


def _filled(function: dict[str, Any], turn: Turn) -> Call:
    """A call of `function` whose parameters are known by their names."""
    schema = function.get("parameters") or {}
    properties = schema.get("properties") or {}
    arguments: dict[str, Any] = {}
    for name in properties:
        if name.lower() in _PATHS and turn.act != "run":
            arguments[name] = turn.target
        elif name.lower() in _CONTENTS and turn.act == "write":
            arguments[name] = turn.content
        elif name.lower() in _COMMANDS and turn.act == "run":
            arguments[name] = turn.target
    for name in schema.get("required") or ():
        arguments.setdefault(name, _filler(properties.get(name) or {}))
    return Call(str(function.get("name")), json.dumps(arguments, ensure_ascii=False))


def _filler(parameter: dict[str, Any]) -> object:
    choices = parameter.get("enum")
    return choices[0] if choices else _FILLERS.get(str(parameter.get("type")), "scripted")
