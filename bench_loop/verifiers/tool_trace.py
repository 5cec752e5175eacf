"""Tool calls: right when the world is as it must be, and came to be so in an allowed way.

The calls are done again in the scripted world, so nothing that a harness says of them is believed.
Order counts only where an invariant says so: what must be read, or refused, before what. A call
knows the replies of earlier turns only, so calls made together come before none of each other.
Reading more than needed is counted and costs no pass; changing more does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from bench_loop.contracts.record import Count, Record
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Replies, ReplyRule, Tool
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.conduct import credit, is_efficient
from bench_loop.verifiers.expectation import failed, read_expected, refuse
from bench_loop.verifiers.reports import (
    Broken,
    Report,
    broken_report,
    check_report,
    mentions,
    read_report,
)
from bench_loop.verifiers.scripted import Deed, ScriptedWorld, is_same

Comparison = Literal["text", "set"]
"""`text`: but for case and outer blanks. `set`: a list in any order. Else by type and value."""

_FAULTS = {
    "hallucinated_tool": "A tool was called that is not offered.",
    "invented_argument": "A call had an argument that its tool does not have.",
    "missing_argument": "A call lacked an argument that its tool needs.",
    "malformed_arguments": "The arguments of a call are not one JSON object.",
    "wrong_argument_type": "An argument is of the wrong type.",
}


class CallPattern(Record):
    """Calls of `tool` whose arguments hold `args`; others may be there."""

    tool: str
    args: dict[str, Any] = {}


class ExpectedCall(CallPattern):
    """A call that must have been done, with `args` and no argument beyond `optional`."""

    compare: dict[str, Comparison] = Field({}, description="Argument to a looser comparison.")
    optional: tuple[str, ...] = Field((), description="Further arguments that may be there.")


class Invariant(Record):
    """`first` was called in an earlier turn than the first call of `then`."""

    first: CallPattern
    then: CallPattern


class Expected(Record):
    """What a tool_trace task expects; every rule that is given must hold."""

    abstains: bool = Field(False, description="No tool is called at all, not even a wrong one.")
    calls: tuple[ExpectedCall, ...] = Field((), description="In any order.")
    state: dict[str, Any] = Field({}, description="Entries of the scripted state at the end.")
    changes: Count | None = Field(None, description="Calls that changed the state, exactly.")
    refused: tuple[CallPattern, ...] = Field((), description="Calls that were tried and refused.")
    before: tuple[Invariant, ...] = ()
    refused_before: tuple[Invariant, ...] = Field(
        (), description="`first` was refused in an earlier turn than `then` was done."
    )
    answer: Report | None = Field(None, description="The line ANSWER: ... of the final text.")
    mentions: tuple[str, ...] = Field((), description="Phrases of the final text, whole words.")
    least_calls: Count = Field(0, description="Calls of the shortest way.")


def check(task: BenchmarkTask) -> None:
    """Raises PackError when a rule names what is not there, or nothing would have to be done."""
    expected = read_expected(task, Expected)
    if not isinstance(task.tools, tuple) or not task.tools or task.replies is None:
        raise refuse(task, "*", "the task needs `tools` and `replies`")
    does_something = expected.calls or expected.state or expected.refused or expected.before
    if not does_something and not (expected.abstains or expected.answer):
        raise refuse(task, "*", "at least one rule is needed")
    if expected.abstains and not (expected.answer or expected.mentions):
        raise refuse(task, "abstains", "needs an answer, or silence would be right")
    if expected.answer is not None:
        check_report(task, expected.answer)
    if unknown := sorted(expected.state.keys() - task.replies.state.keys()):
        raise refuse(task, f"state.{unknown[0]}", "is no entry of replies.state")
    named: list[CallPattern | ReplyRule] = [*task.replies.rules, *expected.calls, *expected.refused]
    for rule in (*expected.before, *expected.refused_before):
        named += [rule.first, rule.then]
    tools = {tool.name for tool in task.tools}
    for pattern in named:
        if pattern.tool not in tools:
            raise refuse(task, "*", f"there is no tool {pattern.tool!r}")


def needs_sandbox(task: BenchmarkTask) -> bool:
    """Never: the scripted world runs no code."""
    return False


def judge(output: Output, task: BenchmarkTask, sandbox: Sandbox | None = None) -> TaskScore:
    """The verdict on the calls and the final text of `output`.

    `partial`: the outcome is right, and what had to be seen or tried before was not, or a tool or
    an argument was made up.
    """
    expected = read_expected(task, Expected)
    assert isinstance(task.tools, tuple)
    deeds, state = replay(output, task.tools, task.replies)
    ignores_case = task.replies is not None and task.replies.ignores_case
    trace = _Trace(expected, tuple(deeds), state, output.text, ignores_case)
    answer = _answer(trace)
    if broken := _first_broken(OUTCOME_RULES, trace):
        return failed(*broken, answer=answer)
    broken = _first_broken(EVIDENCE_RULES, trace)
    score = credit(
        is_efficient=is_efficient(len(deeds), expected.least_calls),
        is_sober=not _made_up(trace),
        has_evidence=broken is None or broken[0] in _FAULTS,
    )
    if broken is None:
        return TaskScore(outcome="pass", score=score, answer=answer)
    reason, message = broken
    return TaskScore(outcome="partial", score=score, reason=reason, message=message, answer=answer)


def replay(
    output: Output, tools: Sequence[Tool], replies: Replies | None
) -> tuple[list[Deed], dict[str, Any]]:
    """All calls of `output` done in a fresh world, and the state that they lead to."""
    world = ScriptedWorld(tools, replies or Replies(rules=(ReplyRule(tool="-"),)))
    for number, call in enumerate(output.tool_calls):
        world.do(call, number if call.turn is None else call.turn)
    return world.deeds, world.state


@dataclass(frozen=True, slots=True)
class _Trace:
    """What the rules look at."""

    expected: Expected
    deeds: tuple[Deed, ...]
    state: dict[str, Any]
    text: str
    ignores_case: bool

    def fits(self, deed: Deed, pattern: CallPattern) -> bool:
        """Whether `deed` is a call as `pattern` says."""
        return deed.tool == pattern.tool and all(
            name in deed.args and self.is_meant(deed.args[name], value)
            for name, value in pattern.args.items()
        )

    def is_expected(self, deed: Deed, call: ExpectedCall) -> bool:
        """Whether `deed` is `call`, with no argument too many."""
        return (
            deed.tool == call.tool
            and deed.args.keys() - set(call.optional) <= call.args.keys()
            and all(
                name in deed.args and self.is_meant(deed.args[name], value, call.compare.get(name))
                for name, value in call.args.items()
            )
        )

    def is_meant(self, got: Any, wanted: Any, how: Comparison | None = None) -> bool:
        """Whether an argument means what it must, by `how` or else as the tools read it."""
        is_text = isinstance(got, str) and isinstance(wanted, str)
        if is_text and (how == "text" or self.ignores_case):
            return bool(got.strip().casefold() == wanted.strip().casefold())
        if how == "set" and isinstance(got, list) and isinstance(wanted, list):
            return len(got) == len(wanted) and all(
                sum(is_same(one, part) for one in got) == sum(is_same(one, part) for one in wanted)
                for part in wanted
            )
        return is_same(got, wanted)


def _first_turn(deeds: Iterable[Deed]) -> int | None:
    """The turn of the first of `deeds`; None: there is none."""
    return next((deed.turn for deed in deeds), None)


Rule = Callable[[_Trace], Broken | None]


def _first_broken(rules: Sequence[Rule], trace: _Trace) -> Broken | None:
    return next((broken for rule in rules if (broken := rule(trace))), None)


def _answer(trace: _Trace) -> str | None:
    """What could be read: the answer line, else the number of calls, else nothing."""
    if (line := read_report(trace.text)) is not None:
        return line
    if trace.deeds:
        return f"{len(trace.deeds)} calls"
    return trace.text.strip() or None if trace.expected.abstains else None


def _abstention(trace: _Trace) -> Broken | None:
    if trace.expected.abstains and trace.deeds:
        return "unwanted_call", "A tool was called, though none was needed."
    return None


def _calls_done(trace: _Trace) -> Broken | None:
    """Each expected call is done, one deed for each."""
    free = [deed for deed in trace.deeds if deed.is_done]
    for call in trace.expected.calls:
        done = next((deed for deed in free if trace.is_expected(deed, call)), None)
        if done is None:
            return _why_missing(trace, call)
        free.remove(done)
    return None


def _why_missing(trace: _Trace, call: ExpectedCall) -> Broken:
    """The nearest reason why `call` was not done."""
    for deed in trace.deeds:
        if deed.fault and (deed.tool == call.tool or deed.fault == "hallucinated_tool"):
            return deed.fault, _FAULTS[deed.fault]
    for deed in trace.deeds:
        is_other = not any(trace.is_expected(deed, one) for one in trace.expected.calls)
        if deed.tool == call.tool and deed.is_done and is_other:
            return _what_differs(deed, call)
    return "missing_call", f"A call of {call.tool} that had to be done was not."


def _what_differs(deed: Deed, call: ExpectedCall) -> Broken:
    if missing := [name for name in call.args if name not in deed.args]:
        return "missing_argument", f"{deed.tool} was called without {missing[0]}."
    if deed.args.keys() - call.args.keys() - set(call.optional):
        return "extra_argument", f"{deed.tool} was called with more than was asked for."
    return "wrong_value", f"{deed.tool} was called with another value."


def _state_reached(trace: _Trace) -> Broken | None:
    for key, value in trace.expected.state.items():
        if not is_same(trace.state.get(key), value):
            return f"wrong_state:{key}", f"{key} is not as it must be at the end."
    return None


def _changes_counted(trace: _Trace) -> Broken | None:
    """No call changed more than it had to; a change that was taken back is one too many."""
    changed = [deed for deed in trace.deeds if deed.has_changed]
    wanted = trace.expected.changes
    if wanted is None and not trace.expected.state:
        asked = list(trace.expected.calls)
        for deed in changed:
            call = next((call for call in asked if trace.is_expected(deed, call)), None)
            if call is None:
                return "extra_effect", f"{deed.tool} changed what was not to be changed."
            asked.remove(call)
    elif wanted is not None and len(changed) != wanted:
        return "extra_effect", f"{len(changed)} calls changed something, {wanted} had to."
    return None


def _reported(trace: _Trace) -> Broken | None:
    expected = trace.expected
    if expected.answer is not None and (broken := broken_report(expected.answer, trace.text)):
        return broken
    if not mentions(trace.text, expected.mentions):
        return "wrong_answer", "The final text does not say what it had to."
    return None


def _refusals(trace: _Trace) -> Broken | None:
    for pattern in trace.expected.refused:
        if not any(deed.is_refused and trace.fits(deed, pattern) for deed in trace.deeds):
            return "missing_refusal", f"{pattern.tool} was never refused as it had to be."
    return None


def _refused_before(trace: _Trace) -> Broken | None:
    for rule in trace.expected.refused_before:
        refused = _first_turn(
            deed for deed in trace.deeds if deed.is_refused and trace.fits(deed, rule.first)
        )
        done = _first_turn(
            deed for deed in trace.deeds if deed.is_done and trace.fits(deed, rule.then)
        )
        if refused is None or done is None or refused >= done:
            return "missing_refusal", "What had to be tried first was not, or came too late."
    return None


def _order(trace: _Trace) -> Broken | None:
    for rule in trace.expected.before:
        seen = _first_turn(
            deed for deed in trace.deeds if deed.is_done and trace.fits(deed, rule.first)
        )
        acted = _first_turn(deed for deed in trace.deeds if trace.fits(deed, rule.then))
        if acted is not None and (seen is None or seen >= acted):
            return "acted_before_reading", f"{rule.then.tool} came before {rule.first.tool}."
    return None


def _made_up(trace: _Trace) -> Broken | None:
    """A tool or an argument that does not exist, wherever it stands."""
    for fault in ("hallucinated_tool", "invented_argument"):
        if any(deed.fault == fault for deed in trace.deeds):
            return fault, _FAULTS[fault]
    return None


OUTCOME_RULES: tuple[Rule, ...] = (
    _abstention,
    _calls_done,
    _state_reached,
    _changes_counted,
    _reported,
)
EVIDENCE_RULES: tuple[Rule, ...] = (_refusals, _refused_before, _order, _made_up)
