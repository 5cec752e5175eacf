"""Small constructors of trial records, for tests of whatever reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench_loop.contracts.chat import EngineTimings, StreamFacts, TokenCounts
from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import Trial
from bench_loop.scoring.suites import SuiteKey

HASH = "sha256:" + "0" * 64
READABLE = ("pass", "partial", "fail")


def task_trial(
    suite: str = "reasonmath",
    task: str = "a",
    outcome: Outcome = "pass",
    *,
    trial: int = 1,
    score: float | None = None,
    reason: str | None = None,
    answer: str | None = "",
    latency_s: float | None = 1.0,
    is_warmup: bool = False,
) -> Trial:
    """One trial of a quality task; a verdict has a readable answer unless `answer` says else."""
    default = "42" if outcome in READABLE else None
    return Trial(
        suite=suite,
        task_id=f"{suite}.{task}",
        prompt_hash=HASH,
        difficulty="easy",
        trial=trial,
        seed=1000 + trial,
        is_warmup=is_warmup,
        verifier_type="exact",
        outcome=outcome,
        score=score if score is not None else float(outcome == "pass"),
        reason=reason if reason or outcome == "pass" else outcome,
        answer=default if answer == "" else answer,
        latency_s=latency_s,
        finish_reason="length" if outcome == "truncated" else "stop",
        turns=1,
        output="ANSWER: 42",
    )


def suite_trials(suite: str, outcomes: Sequence[Outcome | Sequence[Outcome]]) -> list[Trial]:
    """Trials of tasks t00, t01, ...: one outcome, or the outcomes of several trials, for each."""
    return [
        task_trial(suite, f"t{number:02}", outcome, trial=index)
        for number, task in enumerate(outcomes)
        for index, outcome in enumerate([task] if isinstance(task, str) else task, start=1)
    ]


def suite_key(
    suite: str, trials: Iterable[Trial] = (), *, task_ids: Sequence[str] = ()
) -> SuiteKey:
    """The key of a quality suite with these tasks and those that occur in `trials`."""
    seen = {trial.task_id for trial in trials if trial.suite == suite}
    return SuiteKey(suite, "1.0", HASH, "quality", tuple(sorted(seen.union(task_ids))))


def speed_key(*shapes: str) -> SuiteKey:
    """The key of the speed suite."""
    return SuiteKey("speed", "1.0", HASH, "speed", shapes)


def speed_trial(
    shape: str = "p1024x256",
    *,
    trial: int = 1,
    tps: float = 50.0,
    ttft_s: float = 2.0,
    prompt: int | None = None,
    completion: int | None = None,
    cached: int | None = 0,
    arrivals: int | None = None,
    outcome: Outcome | None = None,
    engine: EngineTimings | None = None,
    finish_reason: str = "length",
    is_warmup: bool = False,
) -> Trial:
    """A speed trial of a steady stream, one token an event, as the client sees it.

    The first token comes after `ttft_s`, the others at `tps` tokens a second.
    """
    target_prompt, target_output = map(int, shape[1:].split("x"))
    tokens = target_output if completion is None else completion
    last_s = ttft_s + (tokens - 1) / tps
    return Trial(
        suite="speed",
        task_id=shape,
        prompt_hash=HASH,
        trial=trial,
        seed=1000 + trial,
        is_warmup=is_warmup,
        outcome=outcome,
        latency_s=last_s,
        t_first_byte_s=ttft_s,
        t_first_answer_s=ttft_s,
        t_last_s=last_s,
        tokens=TokenCounts(
            prompt=target_prompt if prompt is None else prompt,
            cached=cached,
            completion=tokens,
            reasoning=0,
            basis="usage",
        ),
        engine_timings=engine,
        stream=StreamFacts(
            events=tokens, distinct_arrivals=tokens if arrivals is None else arrivals
        ),
        finish_reason=finish_reason,
        turns=1,
        output="words",
    )


def engine_timings(
    *,
    generated: int = 256,
    generation_s: float = 5.1,
    prompt: int = 1024,
    prompt_s: float = 2.0,
    load_s: float | None = None,
) -> EngineTimings:
    """The engine's own clock; by default 256 tokens at 50 tok/s after 1,024 at 512 tok/s."""
    return EngineTimings(
        prompt_tokens=prompt,
        prompt_s=prompt_s,
        generated_tokens=generated,
        generation_s=generation_s,
        load_s=load_s,
    )
