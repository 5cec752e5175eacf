"""Result records for tests of what is shown, scored by the real formulas."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bench_loop.contracts.chat import EngineTimings, Sampling, StreamFacts, TokenCounts
from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import (
    ContextFacts,
    Gpu,
    Machine,
    Profile,
    RunResult,
    Settings,
    Subject,
    Trial,
)
from bench_loop.scoring.recompute import score_run
from bench_loop.scoring.suites import SuiteKey
from tests.result.documents import document

HASH = "sha256:" + "a1" * 32
SUITES = ("reasonmath", "loop_schema", "instructfollow")
REASONS: dict[Outcome, tuple[str, str]] = {
    "partial": ("evidence_incomplete", "The value is right, its unit is missing."),
    "fail": ("wrong_value", "The answer is 41, expected 42."),
    "truncated": ("answer_budget", "The answer ended at 256 tokens."),
    "harness_error": ("harness_crashed", "The harness ended with code 1."),
    "infrastructure_error": ("server_down", "The server could not be reached."),
    "not_applicable": ("no_tools", "The harness has no tools."),
}


def subject(**changes: object) -> Subject:
    """Qwen3 8B on llama.cpp, bare."""
    known = {
        "model_id": "qwen3:8b",
        "model_family": "qwen3",
        "parameters_b": 8.2,
        "quantization": "Q4_K_M",
        "weights_digest": HASH,
        "chat_template_hash": HASH,
        "provider": "openai_compat",
        "provider_version": "llama.cpp b7421",
        "harness": "raw",
        "harness_version": "1",
        "kv_cache_type": "f16",
        "context": ContextFacts(declared=40960, loaded=8192),
    }
    return Subject(**{**known, **changes})


def machine(**changes: object) -> Machine:
    """A desktop with one RTX 4090."""
    known = {
        "machine_id": "0123456789abcdef",
        "device_class": "rtx-4090-24",
        "cpu_model": "AMD Ryzen 9 7950X",
        "gpus": (Gpu(model="RTX 4090", vendor="NVIDIA", memory_gb=24.0),),
        "gpu_memory_gb": 24.0,
        "system_memory_gb": 62.6,
        "os": "Debian 12",
        "backend": "cuda",
        "is_local": True,
    }
    return Machine(**{**known, **changes})


def quality_trial(
    suite: str,
    task: int,
    outcome: Outcome = "pass",
    *,
    trial: int = 1,
    output: str = "The tank holds 42 litres.\nANSWER: 42",
    **changes: object,
) -> Trial:
    """One judged trial."""
    reason, message = REASONS.get(outcome, (None, None))
    known: dict[str, object] = {
        "suite": suite,
        "task_id": f"{suite}.task-{task:02}",
        "prompt_hash": HASH,
        "difficulty": ("easy", "medium", "hard")[task % 3],
        "trial": trial,
        "seed": 1000 + trial,
        "verifier_type": "exact",
        "outcome": outcome,
        "score": {"pass": 1.0, "partial": 0.5}.get(outcome, 0.0),
        "reason": reason,
        "message": message,
        "answer": "42" if outcome in ("pass", "partial", "fail") else None,
        "latency_s": 6.92,
        "t_first_byte_s": 0.31,
        "t_first_answer_s": 0.40,
        "t_last_s": 6.92,
        "tokens": TokenCounts(prompt=1140, cached=0, completion=262, reasoning=0, basis="usage"),
        "finish_reason": "length" if outcome == "truncated" else "stop",
        "turns": 1,
        "output": output,
    }
    return Trial(**{**known, **changes})


def speed_trials(tps: float = 40.3, ttft_s: float = 0.4) -> list[Trial]:
    """The `headline` plan: three trials of 1K x 256, one of 4K x 64, one of 128 x 64."""
    shapes = [(1024, 256)] * 3 + [(4096, 64), (128, 64)]
    return [
        _speed_trial(prompt, output, number, tps * (1 + 0.004 * (number - 2)), ttft_s)
        for number, (prompt, output) in enumerate(shapes, start=1)
    ]


def _speed_trial(prompt: int, output: int, number: int, tps: float, ttft_s: float) -> Trial:
    first = ttft_s * prompt / 1024
    last = first + (output - 1) / tps
    return Trial(
        suite="speed",
        task_id=f"p{prompt}x{output}",
        prompt_hash=HASH,
        trial=number,
        seed=1000 + number,
        latency_s=last,
        t_first_byte_s=first,
        t_first_answer_s=first,
        t_last_s=last,
        tokens=TokenCounts(prompt=prompt, cached=0, completion=output, reasoning=0, basis="usage"),
        engine_timings=EngineTimings(
            prompt_tokens=prompt,
            prompt_s=first * 0.95,
            generated_tokens=output,
            generation_s=(output - 1) / tps,
        ),
        stream=StreamFacts(events=output, distinct_arrivals=output),
        finish_reason="length",
        turns=1,
        output="words",
    )


def result(
    outcomes: Sequence[Outcome] = ("pass", "pass", "fail", "pass", "partial", "truncated"),
    *,
    profile: Profile = "quick",
    trials: Sequence[Trial] | None = None,
    speed: Sequence[Trial] | None = None,
    number: int = 1,
    about: Subject | None = None,
    on: Machine | None = None,
    **changes: object,
) -> RunResult:
    """A whole run: each suite has one task per outcome, unless `trials` are given."""
    quality = (
        list(trials)
        if trials is not None
        else [
            quality_trial(suite, task, outcome, latency_s=6.92 + number / 1000)
            for suite in SUITES
            for task, outcome in enumerate(outcomes)
        ]
    )
    measured = list(speed_trials() if speed is None else speed)
    keys = [
        SuiteKey(
            suite,
            "1.0",
            HASH,
            "quality",
            tuple(sorted({t.task_id for t in quality if t.suite == suite})),
        )
        for suite in dict.fromkeys(trial.suite for trial in quality)
    ]
    if measured:
        shapes = tuple(dict.fromkeys(trial.task_id for trial in measured))
        keys.insert(0, SuiteKey("speed", "1.0", HASH, "speed", shapes))
    scores = score_run(
        [*measured, *quality], keys, profile, "headline" if measured else None, load_s=None
    )
    finished = datetime(2026, 11, 29, 14, 2, tzinfo=UTC) + timedelta(minutes=number)
    known: dict[str, object] = {
        "run_id": f"20261129T1402{number:02}Z-abcdefghij",
        "profile": profile,
        "started_at": finished - timedelta(minutes=9),
        "finished_at": finished,
        "total_runtime_s": 540.0,
        "fingerprint": HASH,
        "subject": about or subject(),
        "machine": on or machine(),
        "settings": Settings(
            trials=1,
            sampling=Sampling(),
            seed_rule="1000 + number of the trial",
            answer_budget_rule="4 x the longest reference answer, at least 256 tokens",
            context_window=8192,
            wall_limit_rule="120 s + 3 x expected",
            use_prompt_cache=True,
            flash_attention=True,
            parallel_slots=1,
        ),
        "speed": scores.speed,
        "aggregates": scores.aggregates,
        "suites": scores.suites,
        "trials": (*measured, *quality),
    }
    return RunResult.model_validate(document(**{**known, **changes}), strict=False)


def many(count: int = 14, seed: int = 7) -> list[RunResult]:
    """Different stacks with seeded outcomes, for pages with many rows."""
    dice = random.Random(seed)
    models = (
        "qwen3:8b",
        "qwen3:14b",
        "gemma3:27b",
        "llama3.1:8b",
        "mistral-small:24b",
        "gpt-oss:20b",
    )
    cards = (("RTX 4090", 24.0), ("RTX 3060", 12.0), ("RX 7900 XTX", 24.0))
    runs = []
    for number in range(1, count + 1):
        weights = (dice.randint(3, 12), 1, dice.randint(1, 5), 1)
        outcomes = dice.choices(("pass", "partial", "fail", "truncated"), weights, k=12)
        card, memory = dice.choice(cards)
        runs.append(
            result(
                outcomes,
                number=number,
                profile="smoke" if number % 7 == 0 else "quick",
                speed=speed_trials(dice.uniform(12, 190), dice.uniform(0.1, 0.9)),
                about=subject(
                    model_id=dice.choice(models), quantization=dice.choice(("Q4_K_M", "Q8_0"))
                ),
                on=machine(
                    device_class=card.lower().replace(" ", "-"),
                    gpus=(Gpu(model=card, vendor="NVIDIA", memory_gb=memory),),
                    gpu_memory_gb=memory,
                ),
            )
        )
    return runs
