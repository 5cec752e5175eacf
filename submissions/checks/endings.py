"""How a trial ended, told by what is stored of it and never by what it says of itself.

`outcome`, `score`, `reason` and `answer` of a trial are read nowhere here: the output is judged
again, and where there is none, the requests show whether the engine or the harness failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Outcome, TaskScore
from bench_loop.engine.packs import Pack
from bench_loop.result.records import RequestRecord, Trial
from bench_loop.scoring.constants import ENGINE_FAULTS
from bench_loop.verifiers.judging import judge, judge_ending, needs_sandbox

OVERFLOW = "context_overflow"

Failing = Literal["no", "perhaps", "yes"]
"""Whether the server failed a request that it never made good."""


def _ended(outcome: Outcome, reason: str) -> TaskScore:
    return TaskScore(outcome=outcome, score=0.0, reason=reason)


FAULTS = tuple(_ended("fail", reason) for reason in sorted(ENGINE_FAULTS))
"""The engine failed; which word it had for that is in no record, and counts nowhere."""
UNSENT = _ended("fail", OVERFLOW)
HARNESS_ERROR = _ended("harness_error", "harness_failed")
NOT_APPLICABLE = _ended("not_applicable", "harness_lacks_capability")
JUDGED = ("outcome", "score", "reason", "answer")
"""The fields of a trial that are a verdict's."""
CODE_OUTCOMES = ("pass", "partial", "fail")


@dataclass(frozen=True, slots=True)
class Harness:
    """What this installation knows of the upload's harness."""

    is_program: bool
    """It can fail by itself; raw can not."""
    lacks: bool | None
    """Whether it lacks a capability that the task needs; None: it is not known here."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The verdicts that a trial may have, the likeliest first."""

    verdicts: tuple[TaskScore, ...]
    is_open: bool = False
    """It may also be what code would say that was not run."""

    @property
    def is_certain(self) -> bool:
        """Whether all verdicts count the same."""
        return len({(one.outcome, one.score, one.answer) for one in self.verdicts}) < 2

    def leaves_open(self, outcome: str | None, reason: str | None) -> bool:
        """Whether only code that was not run could tell that this is not the verdict."""
        return self.is_open and outcome in CODE_OUTCOMES and reason not in ENGINE_FAULTS

    def verdict(self, outcome: str | None, reason: str | None) -> TaskScore | None:
        """The verdict like this if the trial may have it, else the likeliest; None: all is open."""
        fitting = (one for one in self.verdicts if (one.outcome, one.reason) == (outcome, reason))
        return next(fitting, self.verdicts[0] if self.verdicts else None)


def ending_of(
    trial: Trial, task: BenchmarkTask, pack: Pack, harness: Harness, sandbox: Sandbox | None
) -> Ending:
    """How a quality trial ended. Without a `sandbox` the verdicts on code are left open."""
    failing = _failing(trial.requests or ())
    if trial.output is None:
        return _without_output(trial, harness, failing)
    if harness.is_program and trial.requests == () and trial.limit is None:
        return Ending((HARNESS_ERROR,))  # Nothing was asked of the model: it is no output of it.
    verdict = _verdict(trial, task, pack, sandbox)
    if verdict is None:
        return Ending(FAULTS if failing != "no" else (), is_open=True)
    if failing == "no" or verdict.outcome == "pass":
        return Ending((verdict,))
    return Ending(FAULTS if failing == "yes" else (verdict, *FAULTS))


def with_verdict(trial: Trial, verdict: TaskScore) -> Trial:
    """`trial` with all that is scored taken from `verdict`."""
    return trial.model_copy(update={name: getattr(verdict, name) for name in JUDGED})


def _without_output(trial: Trial, harness: Harness, failing: Failing) -> Ending:
    is_asked = bool(trial.requests or trial.turns)
    if failing != "no":
        return Ending(FAULTS)
    if not is_asked and harness.lacks:
        return Ending((NOT_APPLICABLE,))
    found = [HARNESS_ERROR] if harness.is_program else []
    if not is_asked:
        found += [NOT_APPLICABLE] if harness.lacks is None else []
        # The window does not hold the task; older results do not tell their requests.
        found += [UNSENT] if trial.requests is not None else FAULTS
    return Ending(tuple(found) or (_ended("fail", "empty_answer"),))


def _verdict(
    trial: Trial, task: BenchmarkTask, pack: Pack, sandbox: Sandbox | None
) -> TaskScore | None:
    output = pack.stored_output(trial)
    if sandbox is None and needs_sandbox(task):
        return judge_ending(output)
    return judge(output, task, sandbox)


def _failing(requests: Sequence[RequestRecord]) -> Failing:
    """As the gateway tells it: a failure is made good by an answer to as many messages or more.

    One that did not fit the window is so by any answer, and its record does not say that it was.
    """
    failing: Failing = "no"
    depth = 0
    for request in requests:
        messages = request.messages or 0
        if request.refused or request.fault:
            continue
        if request.error is not None:
            failing, depth = "yes", max(depth, messages)
        elif request.finish_reason is not None and messages >= depth:
            failing, depth = "no", 0
        elif request.finish_reason is not None:
            failing = "perhaps" if failing != "no" else "no"
    return failing
