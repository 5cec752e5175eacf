"""The record of one request, and of the tool calls in its reply: pure, from what passed by."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bench_loop.contracts.chat import CallRecord, ChatReply, ToolCall
from bench_loop.errors import ProviderError
from bench_loop.providers._text import as_dict, as_dicts
from bench_loop.result.records import RequestRecord
from bench_loop.verifiers.documents import parse_object

MOST_CALLS = 1000
MOST_STEPS = 20_000
"""Keywords that are looked at for one call: a small schema can ask for more than there is time."""
LONGEST_SCHEMA = 100_000
"""Characters; a longer one is none that a tool has."""
_NO_CHECK = (
    *("pattern", "patternProperties", "format", "propertyNames"),
    *("uniqueItems", "unevaluatedItems", "unevaluatedProperties"),
)
"""Keywords that are not looked at: one of them from outside may take for ever by itself."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a harness that is over, with what came of it."""

    record: RequestRecord
    reply: ChatReply | None = None
    """None: there was no whole reply."""
    failure: ProviderError | None = None
    """What was wrong with the model server or its answer; None: nothing, or the harness hung up."""
    cut: ChatReply | None = None
    """What came of a reply that is not whole."""

    @property
    def generated_tokens(self) -> int:
        """Tokens of the reply; where the server did not count, its events are taken for it."""
        reply = self.reply or self.cut
        if reply is None:
            return 0
        events = reply.stream.events if reply.stream is not None else 0
        return reply.tokens.completion or events


@dataclass(frozen=True, slots=True)
class Probe:
    """A request for something else than a reply: the list of models, a health check."""

    sent_s: float
    """Seconds after the trial began."""
    method: str
    path: str
    status: int


def offered_tools(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The parameters of each tool that a request offers, by its name; both APIs' forms."""
    tools: dict[str, Mapping[str, Any]] = {}
    for tool in as_dicts(body.get("tools")):
        function = as_dict(tool.get("function")) or tool
        if isinstance(name := function.get("name"), str):
            tools[name] = as_dict(function.get("parameters"))
    return tools


def call_records(
    calls: Sequence[ToolCall], tools: Mapping[str, Mapping[str, Any]], turn: int
) -> tuple[CallRecord, ...]:
    """The calls of reply number `turn`, the first MOST_CALLS of them."""
    names = {call.name for call in calls[:MOST_CALLS]}
    schemas = {name: json.dumps(tools.get(name, {})) for name in names}
    return tuple(
        CallRecord(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            turn=turn,
            is_offered=call.name in tools,
            is_well_formed=_fits(call.arguments, schemas[call.name]),
        )
        for call in calls[:MOST_CALLS]
    )


def is_well_formed(arguments: str, parameters: Mapping[str, Any]) -> bool | None:
    """Whether `arguments` are one JSON object that fits the JSON Schema `parameters`.

    An empty text stands for no arguments. None: the schema is none, or asks for too much, so nobody
    can tell.
    """
    return _fits(arguments, json.dumps(parameters))


def _fits(arguments: str, schema: str) -> bool | None:
    args = parse_object(arguments) if arguments.strip() else {}
    if args is None:
        return False
    if len(schema) > LONGEST_SCHEMA:
        return None
    try:
        validator, steps = _validator(schema)
        steps.left = MOST_STEPS
        return bool(validator.is_valid(args))
    except Exception:  # A schema from outside can fail in any way; None records that it did.
        return None


@lru_cache(maxsize=256)
def _validator(schema: str) -> tuple[Any, _Steps]:
    import jsonschema
    import referencing

    steps = _Steps()
    base: Any = jsonschema.Draft202012Validator
    checked = {name: steps.counted(rule) for name, rule in base.VALIDATORS.items()}
    extend: Any = jsonschema.validators.extend
    kind = extend(base, checked | dict.fromkeys(_NO_CHECK))
    # An empty registry: no reference is ever fetched.
    return kind(json.loads(schema), registry=referencing.Registry()), steps


class _Steps:
    """Keywords that may still be looked at."""

    left = 0

    def counted(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """`rule`, which raises ValueError when there is no step left."""

        def counting(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            self.left -= 1 + (len(value) if isinstance(value, list) else 0)
            if self.left < 0:
                raise ValueError("the schema asks for too much")
            return rule(validator, value, instance, schema)

        return counting
