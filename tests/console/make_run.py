"""A realistic run of a small model, made by hand, for everything that shows a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bench_loop.contracts.chat import Sampling, TokenCounts
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.result.records import (
    Aggregates,
    ContextFacts,
    Gpu,
    Machine,
    RunResult,
    Settings,
    ShapeSpeed,
    Speed,
    Spread,
    Subject,
    SuiteResult,
    Trial,
)
from tests.result.documents import document

HASH = "sha256:" + "ab" * 32
STARTED = datetime(2026, 11, 29, 14, 2, tzinfo=UTC)
LETTERS = {
    "p": "pass",
    "h": "partial",
    "f": "fail",
    "t": "truncated",
    "e": "harness_error",
    "i": "infrastructure_error",
    "n": "not_applicable",
}
REASONS = {
    "partial": ("missing_evidence", "The outcome is right, but no unit was given."),
    "fail": ("wrong_value", "The answer is 12.5 L and 15 L was expected."),
    "truncated": ("answer_budget", "The answer was cut at its budget of 192 tokens."),
    "harness_error": ("harness_crashed", "The harness ended with exit status 139."),
    "infrastructure_error": ("server_unreachable", "127.0.0.1:8080 refused 3 tries in 41 s."),
    "not_applicable": ("no_tools", "The harness has no tools."),
}
TASKS = ("rain-tank-overflow", "two-trains", "nested-enum", "bulk-discount", "night-shift")


def make_trial(suite: str, number: int, outcome: str | None, **changes: Any) -> Trial:
    reason, message = REASONS.get(outcome or "pass", (None, None))
    fields: dict[str, Any] = {
        "suite": suite,
        "task_id": f"{suite}.{TASKS[number % len(TASKS)]}-{number + 1}",
        "prompt_hash": HASH,
        "difficulty": "medium",
        "capability_tags": ("arithmetic",),
        "trial": 1,
        "seed": 1001,
        "verifier_type": "exact",
        "outcome": outcome,
        "score": 1.0 if outcome == "pass" else 0.0,
        "reason": reason,
        "message": message,
        "latency_s": 3.2,
        "tokens": TokenCounts(prompt=180, cached=0, completion=96, basis="usage"),
        "finish_reason": "stop",
        "turns": 1,
        "output": "ANSWER: 12.5 L",
    }
    return Trial(**(fields | changes))


def make_suite(name: str, letters: str, score: float, interval: tuple[float, float]) -> SuiteResult:
    return SuiteResult(
        suite=name,
        version=load_pack(name).version if name in pack_names() else "1",
        pack_hash=HASH,
        dimension="quality",
        score=score,
        score_interval=interval,
        diagnostic_score=score,
        score_of_finished=score,
        task_count=len(letters),
        pass_count=letters.count("p"),
        partial_count=letters.count("h"),
        fail_count=letters.count("f"),
        truncated_count=letters.count("t"),
        error_count=letters.count("e") + letters.count("i"),
        median_latency_s=3.2,
    )


def make_speed(**changes: Any) -> Speed:
    generation = Spread(
        peak=41.2, mean=40.28, median=40.31, stdev=0.24, n=3, basis="engine_timings"
    )
    fields: dict[str, Any] = {
        "plan": "headline",
        "generation_tps": generation,
        "prompt_tps": Spread(
            peak=1210.4, mean=1210.4, median=1210.4, stdev=None, n=1, basis="engine_timings"
        ),
        "ttft_s": Spread(peak=0.412, mean=0.404, median=0.402, stdev=0.008, n=3),
        "ttfa_s": Spread(peak=0.412, mean=0.404, median=0.402, stdev=0.008, n=3),
        "load_s": Spread(peak=3.12, mean=3.12, median=3.12, stdev=None, n=1),
        "generation_half_width": 0.0148,
        "ttft_half_width": 0.049,
        "shapes": (ShapeSpeed(prompt_tokens=1024, output_tokens=256, generation_tps=generation),),
    }
    return Speed(**(fields | changes))


CORE = Aggregates(
    overall_score=74.9,
    overall_score_interval=(71.8, 78.0),
    quality_score=72.33,
    quality_score_interval=(67.2, 77.1),
    speed_score=56.8,
    speed_score_interval=(56.4, 57.2),
    reliability_score=95.0,
    reliability_score_interval=(92.0, 97.0),
    value_score=38.1,
    value_score_interval=(35.1, 41.2),
    answers_per_minute=12.34,
)
SMOKE = Aggregates(
    quality_score=56.3,
    quality_score_interval=(33.1, 76.9),
    reliability_score=81.3,
    reliability_score_interval=(57.0, 93.4),
    answers_per_minute=4.1,
)
CORE_SUITES = {
    "reasonmath": ("ppppfpepppptppppppppppp", 87.0, (67.9, 95.5)),
    "loop_schema": ("ppppfpppphpppppppppppppppppppppetppppfpp", 87.5, (73.9, 94.5)),
    "instructfollow": ("pfpfpppphppppppfpppppppp", 79.2, (59.5, 90.8)),
}


def make_run(
    suites: dict[str, tuple[str, float, tuple[float, float]]] | None = None, **changes: Any
) -> RunResult:
    """A complete run of the core profile; `suites` maps a name to outcomes, score, interval."""
    suites = CORE_SUITES if suites is None else suites
    fields: dict[str, Any] = {
        "run_id": "20261129T140200Z-abcdefgh23",
        "profile": "core",
        "started_at": STARTED,
        "finished_at": STARTED + timedelta(seconds=312),
        "total_runtime_s": 312.0,
        "fingerprint": HASH,
        "subject": Subject(
            model_id="qwen3.5:27b",
            model_family="qwen",
            parameters_b=27.0,
            quantization="Q4_K_M",
            provider="openai_compat",
            provider_version="llama.cpp b7421",
            harness="raw",
            harness_version="1",
            context=ContextFacts(declared=131072, loaded=8192),
        ),
        "machine": Machine(
            machine_id="0123456789abcdef",
            device_class="rtx-4090",
            cpu_model="AMD Ryzen 9 7950X",
            gpus=(Gpu(model="RTX 4090", vendor="NVIDIA", memory_gb=24.0),),
            gpu_memory_gb=24.0,
            system_memory_gb=64.0,
            is_local=True,
        ),
        "settings": Settings(
            trials=1,
            sampling=Sampling(),
            seed_rule="1000 + trial",
            answer_budget_rule="4 x reference",
            context_window=8192,
            wall_limit_rule="120 s + 3 x expected",
            use_prompt_cache=True,
        ),
        "speed": make_speed(),
        "aggregates": CORE,
        "suites": tuple(make_suite(name, *facts) for name, facts in suites.items()),
        "trials": tuple(
            make_trial(name, number, LETTERS[letter])
            for name, (letters, _, _) in suites.items()
            for number, letter in enumerate(letters)
        ),
    }
    return RunResult.model_validate(document(**(fields | changes)), strict=False)
