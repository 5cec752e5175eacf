"""Arms of a matrix around scripted trials, for tests of what is reckoned from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bench_loop.contracts.chat import CallRecord, TokenCounts
from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import (
    HarnessSettings,
    MatrixArm,
    RequestRecord,
    RunResult,
    Trial,
)
from bench_loop.scoring.recompute import score_run
from tests.scoring.make_runs import keys_of, run_result
from tests.scoring.make_trials import task_trial

MATRIX_ID = "matrix-20260102T030405Z-abcdefghij"
PROGRAM = HarnessSettings(place="bubblewrap", limit_rule="the one")


def request(
    prompt: int | None = 100,
    *,
    sent_s: float = 0.0,
    tools: int | None = 3,
    calls: Sequence[CallRecord] = (),
    **fields: Any,
) -> RequestRecord:
    """A request that was answered whole, as the gateway records it."""
    return RequestRecord(
        **{
            "sent_s": sent_s,
            "latency_s": 0.5,
            "status": 200,
            "finish_reason": "stop",
            "tokens": TokenCounts(prompt=prompt, basis="usage"),
            "messages": 2,
            "tools_offered": tools,
            "tool_calls": tuple(calls),
            **fields,
        }
    )


def failed(*, sent_s: float = 0.0, **fields: Any) -> RequestRecord:
    """A request that the server answered with an error."""
    return request(None, sent_s=sent_s, status=500, finish_reason=None, error="HTTP 500", **fields)


def call(
    name: str = "read_file",
    arguments: str = "{}",
    *,
    is_well_formed: bool | None = True,
    **fields: Any,
) -> CallRecord:
    return CallRecord(
        **{
            "name": name,
            "arguments": arguments,
            "turn": 1,
            "is_offered": True,
            "is_well_formed": is_well_formed,
            **fields,
        }
    )


def asked_trial(
    task: str = "a",
    outcome: Outcome = "pass",
    *,
    suite: str = "loop",
    trial: int = 1,
    seconds: float | None = 1.0,
    requests: Sequence[RequestRecord] | None = (),
    is_cold: bool | None = False,
    **fields: Any,
) -> Trial:
    """A trial of an arm: its outcome, its seconds and its requests."""
    made = task_trial(suite, task, outcome, trial=trial, latency_s=seconds)
    update = {
        "requests": None if requests is None else tuple(requests),
        "is_cold": is_cold,
        **fields,
    }
    return made.model_copy(update=update)


def arm_run(
    trials: Iterable[Trial],
    harness: str = "raw",
    *,
    model: str = "tiny",
    run_id: str | None = None,
    matrix_id: str | None = MATRIX_ID,
    forced: tuple[str, ...] = (),
    subject: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    **header: Any,
) -> RunResult:
    """One arm with these trials and their true scores; each model and harness is a run of its own.

    Its fingerprint is that of a run without trials: to hash them all would take most of a test.
    """
    is_raw = harness == "raw"
    digest = "sha256:" + model.encode().hex().ljust(64, "0")[:64]
    number = sum(f"{model} {harness}".encode())
    arm = MatrixArm(matrix_id=matrix_id, arm=1, arms=("raw", harness)) if matrix_id else None
    frame = run_result(
        (),
        profile="harness",
        subject={
            "model_id": model,
            "weights_digest": digest,
            "harness": harness,
            "harness_version": "1.0",
            "harness_config_hash": None if is_raw else "sha256:" + "c" * 64,
            **(subject or {}),
        },
        settings={
            "trials": 3,
            "harness": None if is_raw else PROGRAM.model_copy(update={"forced": forced}),
            **(settings or {}),
        },
        run_id=run_id or f"20260102T030405Z-{_letters(number)}",
        matrix=arm,
        **header,
    )
    made = tuple(trials)
    scores = score_run(made, keys_of(made), "harness", None)
    return frame.model_copy(
        update={"trials": made, "suites": scores.suites, "aggregates": scores.aggregates}
    )


def arm_trials(
    outcome: Callable[[int, int], Outcome],
    *,
    tasks: int = 12,
    trials: int = 3,
    suite: str = "loop",
    **fields: Any,
) -> list[Trial]:
    """Trials of tasks t00, t01, ... with the outcome of each task and trial."""
    return [
        asked_trial(f"t{task:02}", outcome(task, trial), suite=suite, trial=trial, **fields)
        for trial in range(1, trials + 1)
        for task in range(tasks)
    ]


def passing(tasks: int = 12, **fields: Any) -> list[Trial]:
    return arm_trials(lambda task, trial: "pass", tasks=tasks, **fields)


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:010}")
