"""One task, once: the place where what happened becomes an outcome."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from bench_loop.contracts.chat import ChatReply, FinishReason, Message, TokenCounts
from bench_loop.contracts.harness import HarnessAdapter, HarnessRunResult
from bench_loop.contracts.provider import Watch
from bench_loop.contracts.task import BenchmarkSuite, BenchmarkTask
from bench_loop.contracts.verifier import TaskScore
from bench_loop.engine.harness_record import harness_trial
from bench_loop.engine.recorder import TrialLog, TrialSettings
from bench_loop.engine.workspace import artifacts
from bench_loop.errors import EngineRejectedError, HarnessError, ProviderError, SandboxError
from bench_loop.result.records import Trial
from bench_loop.scoring.rates import TRUST
from bench_loop.verifiers.judging import task_prompt_hash


class Recording(Protocol):
    """What keeps the requests of one trial after another: a recorder, or a gateway's."""

    @property
    def log(self) -> TrialLog:
        """What has passed in the trial so far."""

    def begin(self, settings: TrialSettings, watch: Watch | None = None) -> None:
        """Start a trial."""

    def settle(self, made: HarnessRunResult) -> HarnessRunResult:
        """What the harness made, with what only the recorder knows. Raises HarnessError for one
        that did not come to ask the model."""

    def fault(self) -> ProviderError | None:
        """How the server failed the trial, whatever the harness says of it; None: it did not."""


def run_trial(
    suite: BenchmarkSuite,
    task: BenchmarkTask,
    number: int,
    harness: HarnessAdapter,
    recorder: Recording,
    settings: TrialSettings,
    watch: Watch | None = None,
) -> Trial:
    """Let `harness` do `task` and judge what came out. Errors become outcomes, none is raised."""
    recorder.begin(settings, watch)
    made: HarnessRunResult | None = None
    try:
        made = harness.run_task(task)
        made = recorder.settle(made)
        verdict = suite.evaluate(made, task)
    except (ProviderError, HarnessError, SandboxError) as error:
        verdict = _of_error(error)
    # What was done right in spite of the server is done; all else says nothing of the model.
    if verdict.outcome != "pass" and (fault := recorder.fault()) is not None:
        verdict = _of_error(fault)
    return _record(task, number, settings.seed, recorder.log, made, verdict)


def unsent_trial(task: BenchmarkTask, number: int, settings: TrialSettings, why: str) -> Trial:
    """The record of a task that the loaded window cannot hold: it is failed without a request."""
    return _unasked(task, number, settings, _no_answer("fail", "context_overflow", why))


def inapplicable_trial(
    task: BenchmarkTask, number: int, settings: TrialSettings, why: str
) -> Trial:
    """The record of a task that the harness lacks a capability for: it is not asked and counts
    neither for nor against the model."""
    verdict = _no_answer("not_applicable", "harness_lacks_capability", why)
    return _unasked(task, number, settings, verdict)


def _unasked(
    task: BenchmarkTask, number: int, settings: TrialSettings, verdict: TaskScore
) -> Trial:
    log = TrialLog(time.monotonic())
    return _record(task, number, settings.seed, log, None, verdict)


def _of_error(error: ProviderError | HarnessError | SandboxError) -> TaskScore:
    if isinstance(error, EngineRejectedError):
        return _no_answer("fail", error.reason, error.message)
    if isinstance(error, HarnessError):
        return _no_answer("harness_error", "harness_failed", error.message)
    reason = "server_failed" if isinstance(error, ProviderError) else "sandbox_failed"
    return _no_answer("infrastructure_error", reason, error.message)


def _no_answer(outcome: str, reason: str, message: str) -> TaskScore:
    return TaskScore.model_validate(
        {"outcome": outcome, "score": 0.0, "reason": reason, "message": message}
    )


def _record(
    task: BenchmarkTask,
    number: int,
    seed: int,
    log: TrialLog,
    made: HarnessRunResult | None,
    verdict: TaskScore,
) -> Trial:
    return Trial.model_validate(
        {
            "suite": task.suite,
            "task_id": task.id,
            "prompt_hash": task_prompt_hash(task),
            "difficulty": task.difficulty,
            "capability_tags": task.capability_tags,
            "trial": number,
            "seed": seed,
            "verifier_type": task.verifier_type,
            "outcome": verdict.outcome,
            "score": verdict.score,
            "reason": verdict.reason,
            "message": verdict.message,
            "answer": verdict.answer,
            "latency_s": _latency_s(log, made),
            "tokens": total_tokens(log.replies),
            "finish_reason": _finish_reason(log.replies, made),
            "turns": len(log.replies),
            "tool_calls": made.tool_calls if made else (),
            "limit": made.limit if made else None,
            "state_at_cut": verdict.state_at_cut,
            "verifier": verdict.verifier,
            "retries": log.retries,
            "output": made.final_text if made else None,
            "thinking": made.thinking or None if made else None,
            "artifacts": artifacts(made.files) if made and made.files is not None else (),
            "transcript": _transcript(made.transcript) if made and made.transcript else None,
            "requests": tuple(log.requests),
            "harness": harness_trial(task, made, log) if made else None,
            **_clocks(log.replies),
        }
    )


def _finish_reason(
    replies: Sequence[ChatReply], made: HarnessRunResult | None
) -> FinishReason | None:
    """How the output ended that was judged; where there is none, the last reply."""
    if made is not None:
        return made.finish_reason
    return replies[-1].finish_reason if replies else None


def _latency_s(log: TrialLog, made: HarnessRunResult | None) -> float | None:
    """Seconds of model and tools on the trial; where no reply came, those of the vain tries.

    Of the program of a harness, those from its start to its end.
    """
    if made is not None and made.wall_s is not None:
        return made.wall_s
    spent = [exchange.latency_s for exchange in log.replies or log.requests]
    if made is not None and made.tools_s is not None:
        spent.append(made.tools_s)
    return sum(spent) if spent else None


def _transcript(messages: Sequence[Message]) -> tuple[dict[str, object], ...]:
    return tuple(message.model_dump(mode="json", exclude_defaults=True) for message in messages)


def _clocks(replies: Sequence[ChatReply]) -> dict[str, object]:
    """The clocks of a trial of one exchange; of several, only when the first one began to answer.

    The tokens of a trial are those of all exchanges, and belong to no single one's clocks.
    """
    fields = clock_fields(replies[0] if replies else None)
    if len(replies) > 1:
        fields |= {"t_last_s": None, "engine_timings": None, "stream": None}
    return fields


def clock_fields(reply: ChatReply | None) -> dict[str, object]:
    """The fields of a Trial that come from the clocks of its first exchange."""
    if reply is None:
        return {}
    return {
        "t_first_byte_s": reply.t_first_byte_s,
        "t_first_thinking_s": reply.t_first_thinking_s,
        "t_first_answer_s": reply.t_first_answer_s,
        "t_last_s": reply.t_last_s,
        "engine_timings": reply.engine_timings,
        "stream": reply.stream,
    }


def total_tokens(replies: Sequence[ChatReply]) -> TokenCounts:
    """Tokens of all exchanges together; a count that one of them lacks is unknown for all."""
    if not replies:
        return TokenCounts()

    def total(name: str) -> int | None:
        counts = [getattr(reply.tokens, name) for reply in replies]
        return None if None in counts else sum(counts)

    bases = {reply.tokens.basis for reply in replies}
    weakest = next((basis for basis in reversed(TRUST) if basis in bases), None)
    return TokenCounts(
        prompt=total("prompt"),
        cached=total("cached"),
        completion=total("completion"),
        reasoning=total("reasoning"),
        basis=None if None in bases else weakest,
    )
