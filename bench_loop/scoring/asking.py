"""What a trial asked of the model: how often, with how many tokens, and which request came first.

From the records that recorder and gateway made, never from what a harness says of itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench_loop.contracts.chat import CallRecord
from bench_loop.result.records import RequestRecord, Trial


def first_request(trial: Trial) -> RequestRecord | None:
    """First request of a task = the earliest that was answered whole, and that offers tools if any
    answered request of the trial does.

    A request that BenchLoop refused, that failed, or whose answer broke off has no count of its
    prompt; its repetition has, and is the same prompt. Harnesses ask for other things beside the
    task, like a title for the session, sometimes before it: such a request offers no tools, where
    the harness's own work does. A harness that works without tools asks for no title before its
    task, as far as has been seen. Null: none was answered, or what passed was not recorded.
    """
    answered = [one for one in _in_order(trial) if one.finish_reason is not None]
    at_work = [one for one in answered if one.tools_offered]
    return next(iter(at_work or answered), None)


def first_prompt_tokens(trial: Trial) -> int | None:
    """Prompt tokens of the first request; None: there is none, or the server does not count."""
    first = first_request(trial)
    return None if first is None else first.tokens.prompt


def prompt_tokens(trial: Trial) -> int | None:
    """Prompt tokens of a task = those of all its answered requests, cached ones included.

    Whatever a harness asks on the way counts, a title too: it costs. What a failed or broken off
    request has cost is not known where the server sent no count, and is left out. Null: nothing was
    answered, a whole answer came without a count, or what passed was not recorded.
    """
    counts = [
        one.tokens.prompt
        for one in trial.requests or ()
        if one.finish_reason is not None or one.tokens.prompt is not None
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def request_count(trial: Trial) -> int | None:
    """Requests of a task = all that were sent to the model, repeated and failed ones included.

    What BenchLoop refused for a limit was not sent. Null: what passed was not recorded.
    """
    if trial.requests is None:
        return None
    return sum(one.refused is None for one in trial.requests)


def model_calls(trial: Trial) -> Sequence[CallRecord]:
    """The tool calls that the model made: as the gateway saw them; where nothing went through it,
    as BenchLoop's own tools did."""
    seen = [call for one in _in_order(trial) for call in one.tool_calls]
    return seen or trial.tool_calls


def malformed_calls(calls: Sequence[CallRecord]) -> int | None:
    """Malformed calls = those of a tool that was not offered, or with arguments that do not fit it.

    Null: of one of them at least it is not known.
    """
    found = [_is_malformed(call) for call in calls]
    return None if None in found else sum(map(bool, found))


def useless_calls(calls: Sequence[CallRecord]) -> int | None:
    """Useless calls = malformed ones, those that BenchLoop's own tools call useless, and each that
    is the same, with the same arguments, as the call just before it.

    Nothing has happened between two such calls. The tools of a harness do not tell whether another
    reply was known before, so this is the least. Null: of one at least it is not known whether it
    is malformed.
    """
    found = [_is_malformed(call) for call in calls]
    if None in found:
        return None
    before: Sequence[CallRecord | None] = (None, *calls)
    return sum(
        bool(is_malformed) or call.is_useful is False or _is_same(call, last)
        for is_malformed, call, last in zip(found, calls, before, strict=False)
    )


def _in_order(trial: Trial) -> list[RequestRecord]:
    """By the time at which they were sent."""
    return sorted(trial.requests or (), key=lambda one: one.sent_s)


def _is_malformed(call: CallRecord) -> bool | None:
    """None: not known."""
    if call.is_offered is False or call.is_well_formed is False:
        return True
    return None if call.is_well_formed is None else False


def _is_same(call: CallRecord, last: CallRecord | None) -> bool:
    return last is not None and (call.name, call.arguments) == (last.name, last.arguments)
