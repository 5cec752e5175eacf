"""What one trial was to the program of a harness, as the result keeps it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench_loop.contracts.chat import CallRecord, ChatReply
from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.recorder import TrialLog
from bench_loop.engine.suitability import way_of
from bench_loop.result.records import HarnessTrial, RequestRecord, WaitedFor

_SCRUBBED = re.compile(r"<(?:workspace|state|program|gateway|key)>")
"""What stands in an answer for what pointed to this machine."""

MOST_SAID = 50
LONGEST_WORD = 200
"""Characters that are kept of one thing that a harness says of itself."""
MOST_FILES = 1000
LONGEST_DIFF = 200_000
LEFTOVERS = "leftovers"
"""What the launcher, and not the harness, says in the metadata."""


def harness_trial(
    task: BenchmarkTask, made: HarnessRunResult, log: TrialLog
) -> HarnessTrial | None:
    """The record of a trial of a program; None: the harness is none."""
    if made.wall_s is None:
        return None
    model_s = min(busy_s(log.requests), made.wall_s)
    tools_s = made.tools_s
    return HarnessTrial(
        way=way_of(task),
        started_at=made.started_at,
        wall_s=made.wall_s,
        model_s=model_s,
        tools_s=tools_s,
        harness_s=max(0.0, made.wall_s - model_s - (tools_s or 0.0)),
        waited_for=_waited_for(made, log.requests),
        failure=made.failure[:LONGEST_WORD] if made.failure else None,
        files_changed=made.files_changed[:MOST_FILES],
        diff=made.diff[:LONGEST_DIFF] if made.diff else None,
        leftovers=made.metadata.get(LEFTOVERS),
        is_answer_seen=is_seen(made.final_text, log.replies),
        unseen_calls=unseen_calls(made.tool_calls, log.requests),
        said=dict(_said(made.metadata)),
    )


def is_seen(text: str, replies: Sequence[ChatReply]) -> bool | None:
    """Whether the gateway saw the model say `text`, line by line; None: there is no text.

    A program's own words, and those that a command wrote where a program keeps its own, were not.
    """
    lines = [_plain(part) for line in text.splitlines() for part in _SCRUBBED.split(line)]
    said = "\n".join(_plain(reply.text) for reply in replies)
    return all(line in said for line in lines) if any(lines) else None


def _plain(text: str) -> str:
    return " ".join(text.split())


def unseen_calls(calls: Sequence[CallRecord], requests: Sequence[RequestRecord]) -> int:
    """How many of the calls that a harness tells are in no reply that the gateway saw."""
    seen = Counter(call.name for request in requests for call in request.tool_calls)
    return (Counter(call.name for call in calls) - seen).total()


def busy_s(requests: Sequence[RequestRecord]) -> float:
    """Seconds in which at least one request was open."""
    total, until = 0.0, 0.0
    for request in sorted(requests, key=lambda one: one.sent_s):
        end = request.sent_s + request.latency_s
        total += max(0.0, end - max(request.sent_s, until))
        until = max(until, end)
    return total


def _waited_for(made: HarnessRunResult, requests: Sequence[RequestRecord]) -> WaitedFor | None:
    """Whom the trial waited for when its time or its tokens were up; None: there was no wait.

    The model, while a request was open; a tool, after a reply that called some; or the harness.
    """
    if made.limit != "wall":
        return "model" if made.limit == "tokens" else None
    sent = [request for request in requests if request.refused is None]
    if not sent:
        return "harness"
    if sent[-1].finish_reason is None:
        return "model"
    return "tool" if sent[-1].tool_calls else "harness"


def _said(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str | int | float | bool | None]]:
    """The plain values of what a harness says, cut to what is kept."""
    plain = [(name, value) for name, value in metadata.items() if name != LEFTOVERS]
    for name, value in plain[:MOST_SAID]:
        if isinstance(value, str):
            yield name[:LONGEST_WORD], value[:LONGEST_WORD]
        elif value is None or isinstance(value, bool | int | float):
            yield name[:LONGEST_WORD], value
