"""Puts the parts of a run together into the one record."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import bench_loop
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.contracts.provider import ModelFacts, ServerFacts
from bench_loop.contracts.sandbox import Sandbox, SandboxRecord
from bench_loop.engine.context import Usable
from bench_loop.engine.plan import SEED_RULE, RunPlan
from bench_loop.errors import ResultError
from bench_loop.names.parse import parse_model
from bench_loop.result.fingerprint import fingerprint, tagged_hash
from bench_loop.result.records import (
    SCHEMA_VERSION,
    ContextFacts,
    Determinism,
    Machine,
    PeakMemory,
    Power,
    RunHeader,
    RunResult,
    RunStatus,
    Settings,
    Software,
    SpeedPlan,
    Subject,
    Trial,
)
from bench_loop.result.store import load, result_files
from bench_loop.scoring.constants import SCORING_VERSION
from bench_loop.scoring.recompute import score_run

TIMED_PATH_PACKAGES = ("httpx", "httpcore", "h11", "pydantic")
"""Libraries whose version may show in a timing."""

_UNSET_FINGERPRINT = "sha256:" + "0" * 64


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run ran on: read from server and machine before the first trial."""

    model: ModelFacts
    server: ServerFacts
    machine: Machine
    thinking: bool | None
    usable: Usable | None = None
    """What a probe of the window found; None: not probed."""
    determinism: Determinism | None = None


def assemble(
    *,
    run_id: str,
    plan: RunPlan,
    conditions: Conditions,
    harness: HarnessAdapter,
    trials: Sequence[Trial],
    speed_plan: SpeedPlan | None,
    speed_budget_s: float | None,
    status: RunStatus,
    status_reason: str | None,
    started_at: datetime,
    run_index: int,
    left_out: Sequence[str] = (),
    sandbox: Sandbox | None = None,
    power: Power | None = None,
    peak_memory: PeakMemory | None = None,
) -> RunResult:
    """The run result, every score computed from the trials.

    `left_out` are suites that were to be run and are not in `plan`; the sandbox is recorded where a
    suite needed it.
    """
    finished_at = datetime.now(UTC)
    scores = score_run(
        trials,
        [suite.key() for suite in plan.suites],
        plan.profile.name,
        speed_plan,
        load_s=conditions.server.load_s,
        missing_suites=(*missing_suites(plan, trials), *left_out),
    )
    result = RunResult(
        schema_version=SCHEMA_VERSION,
        run_id=run_id,
        run_index=run_index,
        status=status,
        status_reason=status_reason,
        benchmark_version=bench_loop.__version__,
        scoring_version=SCORING_VERSION,
        profile=plan.profile.name,
        started_at=started_at,
        finished_at=finished_at,
        total_runtime_s=(finished_at - started_at).total_seconds(),
        fingerprint=_UNSET_FINGERPRINT,
        subject=subject(conditions, harness),
        machine=conditions.machine,
        settings=_settings(plan, conditions.server, speed_budget_s),
        software=_software(),
        sandbox=_sandbox_record(plan, sandbox),
        power=power,
        peak_memory=peak_memory,
        determinism=conditions.determinism,
        speed=scores.speed,
        aggregates=scores.aggregates,
        suites=scores.suites,
        trials=tuple(trials),
    )
    return result.model_copy(update={"fingerprint": fingerprint(result)})


def _sandbox_record(plan: RunPlan, sandbox: Sandbox | None) -> SandboxRecord | None:
    is_used = any(suite.pack.needs_sandbox for suite in plan.suites)
    return sandbox.record() if sandbox is not None and is_used else None


def missing_suites(plan: RunPlan, trials: Sequence[Trial]) -> tuple[str, ...]:
    """Suites of the plan that lack a trial: an aborted run has some."""
    done = {(trial.task_id, trial.trial) for trial in trials}
    return tuple(
        dict.fromkeys(
            suite.pack.name
            for suite, task, number in plan.quality_trials
            if (task.id, number) not in done
        )
    )


def subject(conditions: Conditions, harness: HarnessAdapter) -> Subject:
    """What is measured, its names normalised."""
    model, server = conditions.model, conditions.server
    name = parse_model(model.model_id, model, provider=server.engine)
    return Subject(
        model_id=name.model_id,
        model_family=name.family,
        parameters_b=name.parameters_b,
        active_parameters_b=name.active_parameters_b,
        quantization=name.quantization,
        bits_per_weight=name.bits_per_weight,
        quant_publisher=name.quant_publisher,
        file_name=model.file_name,
        weights_digest=model.weights_digest,
        chat_template_hash=model.chat_template_hash,
        thinking=conditions.thinking,
        kv_cache_type=server.kv_cache_type,
        speculative=server.speculative,
        offloaded_layers=server.offloaded_layers,
        offloaded_share=model.offloaded_share,
        launch_args=server.launch_args,
        launch_untold=server.untold,
        provider=server.provider,
        provider_version=" ".join(filter(None, (server.engine, server.version))) or None,
        harness=harness.name,
        harness_version=harness.version,
        context=ContextFacts(
            declared=model.context_declared,
            loaded=model.context_loaded,
            usable=conditions.usable.tokens if conditions.usable else None,
            not_usable_reason=conditions.usable.why_not if conditions.usable else None,
        ),
    )


def run_index(folder: Path, conditions: Conditions, harness: HarnessAdapter, plan: RunPlan) -> int:
    """How many complete runs of this configuration lie in `folder` already."""
    key = _configuration(
        subject(conditions, harness).model_dump(mode="json"),
        plan.profile.name,
        {suite.pack.name: suite.pack.pack_hash for suite in plan.suites},
    )
    return sum(
        header.status == "complete"
        and key
        == _configuration(
            header.subject.model_dump(mode="json"),
            header.profile,
            {suite.suite: suite.pack_hash for suite in header.suites},
        )
        for header in _headers(folder)
    )


def _configuration(subject_fields: object, profile: str, packs: dict[str, str]) -> str:
    return tagged_hash({"subject": subject_fields, "profile": profile, "packs": packs})


def _headers(folder: Path) -> list[RunHeader]:
    headers: list[RunHeader] = []
    for file in result_files(folder):
        try:
            headers.append(load(file))
        except ResultError:
            continue  # A foreign or damaged file says nothing of this configuration.
    return headers


def _settings(plan: RunPlan, server: ServerFacts, speed_budget_s: float | None) -> Settings:
    return Settings(
        trials=plan.trials,
        sampling=plan.sampling,
        seed_rule=SEED_RULE,
        answer_budget_rule=plan.answer_budget_rule,
        context_window=plan.context_window,
        thinking_budget=plan.thinking_budget,
        wall_limit_rule=plan.wall_limit_rule,
        speed_budget_s=speed_budget_s,
        use_prompt_cache=True,
        flash_attention=server.flash_attention,
        parallel_slots=server.parallel_slots,
        threads=server.threads,
    )


def _software() -> Software:
    return Software(
        bench_loop=bench_loop.__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        packages={name: found for name in TIMED_PATH_PACKAGES if (found := _version(name))},
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
