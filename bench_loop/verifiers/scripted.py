"""The scripted world behind a task's tools: what each call answers, and what it changes.

Pure: the same calls give the same replies and the same state, so a verdict needs no more than the
calls. Arguments are type-strict and never repaired.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bench_loop.contracts.chat import CallRecord, ToolCall
from bench_loop.contracts.task import Replies, ReplyRule, Tool
from bench_loop.verifiers.documents import parse_object

_PLACE = re.compile(r"\{(\$?)([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call's arguments, or why they are none.

    `fault`: `hallucinated_tool`, `malformed_arguments`, `missing_argument`, `invented_argument`,
    `wrong_argument_type`; `sentence` tells the model. No way out is named.
    """

    args: dict[str, Any]
    fault: str | None = None
    sentence: str | None = None


def read_call(call: ToolCall, tools: Sequence[Tool]) -> ReadCall:
    """`call` as it would reach its tool. An empty text stands for no arguments."""
    tool = next((tool for tool in tools if tool.name == call.name), None)
    if tool is None:
        return ReadCall({}, "hallucinated_tool", f"no such tool: {call.name[:100]}")
    args = parse_object(call.arguments) if call.arguments.strip() else {}
    if args is None:
        return ReadCall({}, "malformed_arguments", "the arguments are not one JSON object")
    known = tool.parameters.get("properties", {})
    if missing := [name for name in tool.parameters.get("required", []) if name not in args]:
        return ReadCall(args, "missing_argument", f"missing argument: {missing[0]}")
    if invented := [name for name in args if name not in known]:
        return ReadCall(args, "invented_argument", f"unknown argument: {invented[0][:100]}")
    if (path := _first_violation(json.dumps(tool.parameters), args)) is not None:
        return ReadCall(args, "wrong_argument_type", f"argument not allowed: {path}")
    return ReadCall(args)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(schema))


def _first_violation(schema: str, args: Mapping[str, Any]) -> str | None:
    violation = next(_validator(schema).iter_errors(args), None)
    if violation is None:
        return None
    return ".".join(str(part) for part in violation.absolute_path)[:100] or "the whole"


@dataclass(frozen=True, slots=True)
class Deed:
    """One call and what came of it."""

    tool: str
    turn: int
    args: Mapping[str, Any]
    fault: str | None
    reply: Any
    is_refused: bool
    """The tool was reached and answered with an error."""
    has_changed: bool
    is_repeated: bool

    @property
    def is_done(self) -> bool:
        """Whether it reached its tool and was not refused."""
        return self.fault is None and not self.is_refused


class ScriptedWorld:
    """The state of one trial, and all that was done to it."""

    def __init__(self, tools: Sequence[Tool], replies: Replies) -> None:
        self._tools = tools
        self._replies = replies
        self._fitted: Counter[int] = Counter()
        self._known: set[str] = set()
        self.state: dict[str, Any] = dict(replies.state)
        self.deeds: list[Deed] = []

    def do(self, call: ToolCall, turn: int) -> Deed:
        """Do `call`, made in reply number `turn`."""
        read = read_call(call, self._tools)
        if read.fault is not None:
            reply: Any = {"error": read.sentence}
            deed = self._deed(call, turn, read, reply, is_refused=False, has_changed=False)
        else:
            deed = self._reached(call, turn, read)
        self.deeds.append(deed)
        return deed

    def _reached(self, call: ToolCall, turn: int, read: ReadCall) -> Deed:
        for number, rule in enumerate(self._replies.rules):
            args = self._fitting(number, rule, call.name, read.args)
            if args is None:
                continue
            self._fitted[number] += 1
            reply = {"error": rule.error} if rule.error else self._filled(rule.reply, args)
            before = dict(self.state)
            self._change(rule, args)
            return self._deed(
                call,
                turn,
                ReadCall(args),
                reply,
                is_refused=rule.error is not None,
                has_changed=self.state != before,
            )
        reply = {"error": self._replies.otherwise}
        return self._deed(call, turn, read, reply, is_refused=True, has_changed=False)

    def _deed(
        self,
        call: ToolCall,
        turn: int,
        read: ReadCall,
        reply: Any,
        *,
        is_refused: bool,
        has_changed: bool,
    ) -> Deed:
        key = exchange_key(call.name, read.args if read.fault is None else call.arguments, reply)
        is_repeated = key in self._known and not has_changed
        self._known.add(key)
        return Deed(
            call.name, turn, read.args, read.fault, reply, is_refused, has_changed, is_repeated
        )

    def _fitting(
        self, number: int, rule: ReplyRule, tool: str, args: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The arguments in the rule's own spelling; None: the rule does not fit."""
        if rule.tool != tool or (rule.times is not None and self._fitted[number] >= rule.times):
            return None
        if any(not is_same(self.state.get(key), value) for key, value in rule.where.items()):
            return None
        spelled = dict(args)
        for name, wanted in rule.when.items():
            choices = wanted if isinstance(wanted, list) else [wanted]
            found = [one for one in choices if name in args and self._is_meant(args[name], one)]
            if not found:
                return None
            spelled[name] = found[0]
        return spelled

    def _is_meant(self, got: Any, wanted: Any) -> bool:
        if self._replies.ignores_case and isinstance(got, str) and isinstance(wanted, str):
            return got.strip().casefold() == wanted.strip().casefold()
        return is_same(got, wanted)

    def _change(self, rule: ReplyRule, args: Mapping[str, Any]) -> None:
        """All keys and values are read from the state before the call."""
        added = {self._key(key, args): amount for key, amount in rule.add.items()}
        new = {self._key(key, args): self._filled(value, args) for key, value in rule.set.items()}
        for key, amount in added.items():
            self.state[key] = self.state.get(key, 0) + (
                int(amount) if amount.is_integer() else amount
            )
        self.state.update(new)

    def _key(self, template: str, args: Mapping[str, Any]) -> str:
        def place(found: re.Match[str]) -> str:
            source: Mapping[str, Any] = self.state if found[1] else args
            return str(source.get(found[2], found[0]))

        return _PLACE.sub(place, template)

    def _filled(self, value: Any, args: Mapping[str, Any]) -> Any:
        if isinstance(value, dict):
            if set(value) == {"$state"}:
                return self.state.get(self._key(value["$state"], args))
            if set(value) == {"$arg"}:
                return args.get(value["$arg"])
            return {key: self._filled(part, args) for key, part in value.items()}
        if isinstance(value, list):
            return [self._filled(part, args) for part in value]
        return value


def exchange_key(tool: str, args: Any, reply: Any) -> str:
    """The same for the same call with the same reply."""
    return json.dumps([tool, args, reply], sort_keys=True, default=str)


def call_record(call: ToolCall, turn: int, fault: str | None, *, is_repeated: bool) -> CallRecord:
    """What is recorded of a call that had `fault`, or none."""
    return CallRecord(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        turn=turn,
        is_offered=fault != "hallucinated_tool",
        is_well_formed=fault is None,
        is_repeated=is_repeated,
        is_useful=fault is None and not is_repeated,
    )


def is_same(got: Any, wanted: Any) -> bool:
    """JSON equality by type and value: 6 is 6.0, and neither is "6" nor true."""
    if isinstance(wanted, bool) or isinstance(got, bool) or wanted is None or got is None:
        return got is wanted
    if isinstance(wanted, dict):
        return (
            isinstance(got, dict)
            and got.keys() == wanted.keys()
            and all(is_same(got[key], value) for key, value in wanted.items())
        )
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(is_same, got, wanted))
    is_number = isinstance(wanted, int | float)
    return isinstance(got, int | float if is_number else type(wanted)) and bool(got == wanted)
