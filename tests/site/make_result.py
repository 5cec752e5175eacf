"""Builds valid run results out of the real packs: what a run of this installation would record."""

from __future__ import annotations

import atexit
import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import bench_loop
from bench_loop.contracts.chat import EngineTimings, StreamFacts, TokenCounts
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Trajectory
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.harness_limits import RULE as HARNESS_LIMIT_RULE
from bench_loop.engine.packs import Pack
from bench_loop.engine.plan import SEED_RULE, RunPlan, make_plan
from bench_loop.engine.shelf import Shelf
from bench_loop.engine.speed_plans import PLANS, WARMUP_ROUNDS
from bench_loop.engine.trajectory import example_output
from bench_loop.engine.workspace import artifacts
from bench_loop.machine.record import gpu_class
from bench_loop.result.fingerprint import fingerprint, tagged_hash
from bench_loop.result.records import (
    ContextFacts,
    Gpu,
    HarnessSettings,
    Machine,
    RunResult,
    Settings,
    Software,
    SpeedPlan,
    Subject,
    Trial,
)
from bench_loop.result.store import new_run_id, to_bytes
from bench_loop.sandboxes.ladder import open_sandbox
from bench_loop.scoring.recompute import score_run
from bench_loop.verifiers.judging import judge, task_prompt_hash
from tests.components import need_bubblewrap
from tests.result.documents import result as small_result

Write = Callable[[BenchmarkTask], str | Trajectory]
"""What the model writes for a task, or what it does and then writes."""


def reference(task: BenchmarkTask) -> str | Trajectory:
    """The right answer."""
    return task.reference


def nothing_right(task: BenchmarkTask) -> str:
    """A wrong answer."""
    return "I do not know."


WITHOUT_CODE = ("speed", "instructfollow", "reasonmath")
"""Suites whose verdicts the site computes again, every one."""


def make_result(
    *,
    profile: str | None = None,
    suites: Sequence[str] | None = None,
    write: Write = reference,
    generation_tps: float = 50.0,
    latency_s: float = 2.0,
    model_id: str = "qwen3:8b",
    harness: str = "raw",
    gpu: str | None = "RTX 4090",
    finished_at: datetime | None = None,
    speed_plan: SpeedPlan | None = None,
    fresh_seed: int | None = None,
    subject: dict[str, Any] | None = None,
    machine: dict[str, Any] | None = None,
    seed: int = 0,
) -> RunResult:
    """A complete run of a profile or of suites, whose scores follow from its trials.

    The clocks of one with another `seed` ticked otherwise, by a share that no score shows.

    Of neither: of suites without code. Profiles have some, so that a test of one is skipped where
    no sandbox can run it, and the site leaves their verdicts to a person.
    """
    picked = suites if suites or profile else WITHOUT_CODE
    plan = make_plan(profile=profile, suites=picked, shelf=Shelf(fresh_seed))
    if plan.speed_suite is not None and speed_plan is None:
        speed_plan = plan.profile.speed_plans[-1]
    trials = [
        *(speed_trials(speed_plan, generation_tps) if speed_plan and plan.speed_suite else ()),
        *(
            quality_trial(suite.pack, task, number, write(task), latency_s, generation_tps)
            for suite, task, number in plan.quality_trials
        ),
    ]
    clock = random.Random(f"{model_id} {harness} {gpu} {generation_tps} {latency_s} {seed}")
    trials = [ticked(trial, clock) for trial in trials]
    finished = finished_at or datetime.now(UTC) - timedelta(minutes=10)
    runtime_s = sum(trial.latency_s or 0 for trial in trials) + 20
    return rescored(
        small_result(
            run_id=new_run_id(finished),
            benchmark_version=bench_loop.__version__,
            profile=plan.profile.name,
            started_at=finished - timedelta(seconds=runtime_s),
            finished_at=finished,
            total_runtime_s=runtime_s,
            subject=make_subject(model_id=model_id, harness=harness, **(subject or {})),
            machine=make_machine(gpu, **(machine or {})),
            settings=make_settings(plan, harness=make_harness_settings(harness)),
            sandbox=_sandbox().record() if plan.needs_sandbox else None,
            software=Software(
                bench_loop=bench_loop.__version__,
                python="3.11.7",
                platform="Linux 6.1 x86_64",
                packages={"httpx": "0.28.1"},
            ),
            trials=tuple(trials),
        ),
        suites=[suite.pack.name for suite in plan.suites],
        speed_plan=speed_plan if plan.speed_suite else None,
    )


def ticked(trial: Trial, clock: random.Random) -> Trial:
    """`trial` with the beginning of its answer as one real run has it, and no other."""
    first_s, timings = trial.t_first_byte_s, trial.engine_timings
    return trial.model_copy(
        update={
            "t_first_byte_s": first_s and first_s * clock.uniform(0.9, 1),
            "engine_timings": timings
            and timings.model_copy(
                update={"prompt_s": (timings.prompt_s or 0.0) * clock.uniform(0.9999, 1)}
            ),
        }
    )


def rescored(
    result: RunResult, *, suites: Sequence[str] | None = None, speed_plan: SpeedPlan | None = None
) -> RunResult:
    """`result` with scores and fingerprint computed anew from its trials."""
    names = [suite.suite for suite in result.suites] if suites is None else suites
    profile = None if result.profile == "custom" else result.profile
    shelf = Shelf(result.settings.fresh_seed)
    plan = make_plan(profile=profile, suites=None if profile else names, shelf=shelf)
    plan_name = speed_plan or (result.speed.plan if result.speed and "speed" in names else None)
    scores = score_run(
        result.trials,
        [suite.key() for suite in plan.suites if suite.pack.name in names],
        result.profile,
        plan_name,
        missing_suites=[suite.pack.name for suite in plan.suites if suite.pack.name not in names],
    )
    scored = result.model_copy(
        update={"speed": scores.speed, "aggregates": scores.aggregates, "suites": scores.suites}
    )
    return scored.model_copy(update={"fingerprint": fingerprint(scored)})


def quality_trial(
    pack: Pack,
    task: BenchmarkTask,
    number: int,
    example: str | Trajectory,
    latency_s: float = 2.0,
    tps: float = 50.0,
) -> Trial:
    """One task, answered with `example` at `tps` tokens a second and judged by its verifier.

    It takes `latency_s`, or longer where that many tokens do.
    """
    output, verdict = _judged(pack, task, example)
    tokens = len(output.text) // 4 + 1
    stream_s = (tokens - 1) / tps
    latency_s = max(latency_s, (stream_s + 0.2) / 0.79)
    last_s = latency_s * 0.99
    return Trial(
        suite=pack.name,
        task_id=task.id,
        prompt_hash=task_prompt_hash(task),
        difficulty=task.difficulty,
        capability_tags=task.capability_tags,
        family=None if pack.fresh_seed is None else task.family,
        trial=number,
        seed=1000 + number,
        verifier_type=task.verifier_type,
        outcome=verdict.outcome,
        score=verdict.score,
        reason=verdict.reason,
        message=verdict.message,
        answer=verdict.answer,
        latency_s=latency_s,
        t_first_byte_s=latency_s * 0.2,
        t_first_answer_s=last_s - stream_s,
        t_last_s=last_s,
        tokens=TokenCounts(
            prompt=300, cached=0, completion=tokens, reasoning=0, basis="engine_timings"
        ),
        stream=StreamFacts(events=tokens, distinct_arrivals=tokens),
        finish_reason="stop",
        turns=1 if isinstance(example, str) else len(example.trajectory),
        tool_calls=output.tool_calls,
        verifier=verdict.verifier,
        output=output.text,
        artifacts=artifacts(_files(output)),
    )


def _files(output: Output) -> dict[str, bytes]:
    return {path: (text or "").encode() for path, text in (output.files or {}).items()}


_known: dict[tuple[str, str, str], tuple[Output, TaskScore]] = {}


def _judged(pack: Pack, task: BenchmarkTask, example: str | Trajectory) -> tuple[Output, TaskScore]:
    """What comes of an answer; the same one is judged once, since code takes a sandbox."""
    key = (pack.pack_hash, task.id, str(example))
    if key not in _known:
        sandbox = _sandbox() if pack.needs_sandbox else None
        output = example_output(pack, task, example, sandbox)
        _known[key] = (output, judge(output, task, sandbox))
    return _known[key]


@cache
def _sandbox() -> Sandbox:
    need_bubblewrap()
    opened = open_sandbox("bubblewrap")
    atexit.register(opened.close)
    return opened


def speed_trials(plan: SpeedPlan, tps: float) -> list[Trial]:
    """Every timing of `plan`: a steady stream at `tps` tokens a second, first token after 0.5 s."""
    done: dict[str, int] = {}
    trials = []
    for index, one_round in enumerate(PLANS[plan]):
        is_warmup = index < WARMUP_ROUNDS[plan]
        for shape in one_round:
            done[shape.task_id] = done.get(shape.task_id, 0) + (not is_warmup)
            number = 0 if is_warmup else done[shape.task_id]
            trials.append(
                speed_trial(shape.prompt_tokens, shape.output_tokens, number, tps + 0.1 * number)
            )
    return trials


def speed_trial(prompt: int, output: int, number: int, tps: float) -> Trial:
    """One timing of a shape; number 0 is a warm-up."""
    generation_s = (output - 1) / tps
    last_s = 0.5 + generation_s
    return Trial(
        suite="speed",
        task_id=f"p{prompt}x{output}",
        prompt_hash=tagged_hash({"prompt": prompt, "output": output}),
        trial=number,
        seed=1000 + number,
        is_warmup=number == 0,
        latency_s=last_s + 0.01,
        t_first_byte_s=0.45,
        t_first_answer_s=0.5,
        t_last_s=last_s,
        tokens=TokenCounts(
            prompt=prompt, cached=0, completion=output, reasoning=0, basis="engine_timings"
        ),
        engine_timings=EngineTimings(
            prompt_tokens=prompt,
            prompt_s=0.45,
            generated_tokens=output,
            generation_s=output / tps,
        ),
        stream=StreamFacts(events=output, distinct_arrivals=output),
        finish_reason="length",
        turns=1,
        output="word " * output,
    )


def make_subject(**changes: Any) -> Subject:
    fields: dict[str, Any] = {
        "model_id": "qwen3:8b",
        "model_family": "qwen",
        "parameters_b": 8.2,
        "active_parameters_b": 8.2,
        "quantization": "Q4_K_M",
        "bits_per_weight": 4.9,
        "provider": "ollama",
        "provider_version": "ollama 0.13.0",
        "harness": "raw",
        "harness_version": "1",
        "context": ContextFacts(declared=40960, loaded=8192),
    }
    return Subject(**{**fields, **changes})


def make_machine(gpu: str | None = "RTX 4090", **changes: Any) -> Machine:
    gpus = (Gpu(model=gpu, vendor="NVIDIA", memory_gb=24.0),) if gpu else ()
    fields: dict[str, Any] = {
        "machine_id": "0123456789abcdef",
        "device_class": gpu_class(gpus, 64.0) or "cpu-ryzen-7-7700-8c-64gb",
        "cpu_model": "Ryzen 7 7700",
        "gpus": gpus,
        "gpu_memory_gb": 24.0 if gpu else None,
        "unified_memory": False,
        "system_memory_gb": 64.0,
        "os": "Debian 12",
        "backend": "cuda" if gpu else "cpu",
        "is_local": True,
    }
    return Machine(**{**fields, **changes})


def make_settings(plan: RunPlan, **changes: Any) -> Settings:
    fields: dict[str, Any] = {
        "trials": plan.trials,
        "sampling": plan.sampling,
        "by_suite": plan.own_settings,
        "seed_rule": SEED_RULE,
        "answer_budget_rule": plan.answer_budget_rule,
        "context_window": plan.context_window,
        "wall_limit_rule": plan.wall_limit_rule,
        "speed_budget_s": 720.0,
        "use_prompt_cache": True,
        "fresh_seed": plan.fresh_seed,
    }
    return Settings(**{**fields, **changes})


def make_harness_settings(harness: str, **changes: Any) -> HarnessSettings | None:
    """Those of a harness that is a program in its sandbox; None for raw."""
    if harness == "raw":
        return None
    return HarnessSettings(**{"place": "bubblewrap", "limit_rule": HARNESS_LIMIT_RULE, **changes})


def make_bytes(**changes: Any) -> bytes:
    """The file of `make_result(**changes)`."""
    return to_bytes(make_result(**changes))


def make_document(**changes: Any) -> dict[str, Any]:
    """The JSON of `make_result(**changes)`, to be changed by a test."""
    document: dict[str, Any] = json.loads(make_bytes(**changes))
    return document
