"""Puts what the journal of a run tells together into the one record."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import bench_loop
from bench_loop.engine.context import Usable
from bench_loop.engine.journal import Conditions
from bench_loop.engine.plan import SEED_RULE, RunPlan
from bench_loop.engine.recorded import Recorded
from bench_loop.names.parse import parse_model
from bench_loop.result.fingerprint import UNSET, fingerprinted, tagged_hash
from bench_loop.result.records import (
    SCHEMA_VERSION,
    ContextFacts,
    RunResult,
    Settings,
    Software,
    Subject,
)
from bench_loop.result.signature import signed_if_possible
from bench_loop.result.store import readable, result_files
from bench_loop.scoring.constants import SCORING_VERSION
from bench_loop.scoring.recompute import score_run

TIMED_PATH_PACKAGES = ("httpx", "httpcore", "h11", "pydantic")
"""Libraries whose version may show in a timing."""

_FOUND_IN_CONTEXT = ("usable", "not_usable_reason")
"""Fields of the context that a probe of the window fills."""


def finished(run: Recorded) -> RunResult:
    """What is written when a run ends: its result, signed where it is complete.

    Called when nothing more is measured, since signing loads a library.
    """
    result = assemble(run)
    return signed_if_possible(result) if result.status == "complete" else result


def assemble(run: Recorded) -> RunResult:
    """The run result of what a journal tells, every score computed from the trials.

    Suites that were to be run and could not be are told by the scores that are null.
    """
    planned, conditions = run.planned, run.conditions
    scores = score_run(
        run.trials,
        run.suites,
        planned.profile,
        run.speed_plan,
        load_s=conditions.server.load_s,
        missing_suites=(*run.missing_suites(), *run.left_out),
    )
    result = RunResult(
        schema_version=SCHEMA_VERSION,
        run_id=run.run_id,
        run_index=planned.run_index,
        status=run.end.status,
        status_reason=run.end.status_reason,
        benchmark_version=conditions.software.bench_loop,
        scoring_version=SCORING_VERSION,
        profile=planned.profile,
        started_at=run.parts[0].began.started_at,
        finished_at=max(part.last_at for part in run.parts),
        total_runtime_s=run.runtime_s,
        parts=run.part_records(),
        matrix=planned.matrix,
        fingerprint=UNSET,
        subject=subject(conditions, run.usable),
        machine=conditions.machine,
        settings=_settings(run),
        software=conditions.software,
        sandbox=conditions.sandbox,
        power=run.power,
        peak_memory=run.peak_memory,
        determinism=run.determinism.found if run.determinism else None,
        speed=scores.speed,
        aggregates=scores.aggregates,
        suites=scores.suites,
        trials=tuple(run.trials),
    )
    return fingerprinted(result)


def subject(conditions: Conditions, usable: Usable | None = None) -> Subject:
    """What is measured, its names normalised. `usable` None: the window was not probed."""
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
        harness=conditions.harness,
        harness_version=conditions.harness_version,
        harness_config_hash=conditions.harness_config_hash,
        context=ContextFacts(
            declared=model.context_declared,
            loaded=model.context_loaded,
            usable=usable.tokens if usable else None,
            not_usable_reason=usable.why_not if usable else None,
        ),
    )


def run_index(folder: Path, conditions: Conditions, plan: RunPlan) -> int:
    """How many complete runs of this configuration lie in `folder` already."""
    key = _configuration(
        subject(conditions).model_dump(mode="json"),
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
        for header in readable(result_files(folder))
    )


def _configuration(
    subject_fields: dict[str, Any], profile: str, packs: dict[str, str | None]
) -> str:
    """What a run is set up as; what a probe found in it is a finding and no setting."""
    context = dict(subject_fields["context"] or {}) | dict.fromkeys(_FOUND_IN_CONTEXT)
    told = subject_fields | {"context": context}
    return tagged_hash({"subject": told, "profile": profile, "packs": packs})


def planned_settings(plan: RunPlan) -> Settings:
    """The settings that a plan fixes; those of server and calibration are still unknown."""
    return Settings(
        trials=plan.trials,
        sampling=plan.sampling,
        by_suite=plan.own_settings,
        seed_rule=SEED_RULE,
        answer_budget_rule=plan.answer_budget_rule,
        context_window=plan.context_window,
        thinking_budget=plan.thinking_budget,
        wall_limit_rule=plan.wall_limit_rule,
        use_prompt_cache=True,
        fresh_seed=plan.fresh_seed,
    )


def _settings(run: Recorded) -> Settings:
    server = run.conditions.server
    return run.planned.settings.model_copy(
        update={
            "speed_budget_s": run.speed.budget_s if run.speed else None,
            "flash_attention": server.flash_attention,
            "parallel_slots": server.parallel_slots,
            "threads": server.threads,
            "harness": run.conditions.harness_settings,
        }
    )


def software() -> Software:
    """What takes part in a measurement here, apart from the engine."""
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
