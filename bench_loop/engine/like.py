"""Repeating anybody's run: its plan from its result, and what of it cannot be the same here."""

from __future__ import annotations

from pathlib import Path

from bench_loop.engine.assemble import planned_settings, subject
from bench_loop.engine.journal import Conditions
from bench_loop.engine.plan import PlannedSuite, RunOptions, RunPlan, make_plan, plan_of
from bench_loop.engine.profiles import CUSTOM, PROFILES
from bench_loop.engine.shelf import Shelf
from bench_loop.errors import SetupError
from bench_loop.result.compare import not_comparable, speed_not_comparable
from bench_loop.result.records import RunHeader, RunResult, SuiteResult
from bench_loop.scoring.constants import SCORING_VERSION

PRIVATE_REMEDY = "They are private packs: give the folder that they lie in with --packs."
WINDOWS = range(512, 1_048_577)
MOST_STREAMS = 64
LONGEST_LOAD_S = 7200.0
"""What a file may ask of this machine: no more than the options of a run may."""


def plan_like(result: RunResult, packs: Path | None = None) -> RunPlan:
    """The plan of the run that made `result`, with the packs of here and private ones in `packs`.

    Raises SetupError where a suite is not here, or the window is none that a run may ask for.
    """
    settings = result.settings
    if result.imported is not None or settings.context_window is None or settings.trials is None:
        raise SetupError(
            "An imported result holds no plan that could be repeated.",
            remedy=f"Measure the model here: bench-loop run --model {result.subject.model_id}",
        )
    shelf = Shelf(settings.fresh_seed, packs)
    here = shelf.names()
    missing = [suite.suite for suite in result.suites if suite.suite not in here]
    if missing or not result.suites:
        names = ", ".join(map(repr, missing)) or "none at all"
        is_private = any(suite.is_private for suite in result.suites if suite.suite in missing)
        raise SetupError(
            f"The run has suites that are not here: {names}.",
            remedy=PRIVATE_REMEDY if is_private else _other_version(result),
        )
    if settings.context_window not in WINDOWS:
        raise SetupError(f"No run may ask for a window of {settings.context_window:,} tokens.")
    is_custom = result.profile == "custom"
    plan = make_plan(
        profile=None if is_custom else result.profile,
        suites=[suite.suite for suite in result.suites] if is_custom else None,
        shelf=shelf,
    )
    return plan_of(plan.profile, plan.suites, settings)


def options_like(result: RunResult) -> RunOptions:
    """What the run measured beside its plan."""
    speed, context = result.speed, result.subject.context
    load = speed.sustained if speed else None
    streams = [point.streams for point in (speed.concurrency or ())] if speed else []
    allowed = PROFILES.get(result.profile, CUSTOM).speed_plans
    curve = (speed.curve or ()) if speed else ()
    has_curve = len(curve) > (result.profile in ("core", "full"))
    return RunOptions(
        speed_budget_s=result.settings.speed_budget_s,
        speed_plan=speed.plan if speed and speed.plan in allowed else None,
        has_context_curve=has_curve,
        concurrency=tuple(number for number in streams if number <= MOST_STREAMS),
        sustained_s=min(60.0 * max(1, round(load.duration_s / 60)), LONGEST_LOAD_S)
        if load
        else None,
        probes_context=bool(context and (context.usable or context.not_usable_reason)),
        probes_determinism=result.determinism is not None,
    )


def refuse_other_plan(result: RunResult, plan: RunPlan) -> None:
    """Raises SetupError, naming each difference, when packs or rules here are others."""
    ours = result.model_copy(
        update={
            "scoring_version": SCORING_VERSION,
            "settings": planned_settings(plan),
            "suites": tuple(map(_expected_suite, plan.suites)),
        }
    )
    reasons = not_comparable(result, ours)
    if reasons:
        raise SetupError(
            f"This run cannot be repeated comparably: {' '.join(reasons)}",
            remedy=_other_version(result),
        )


def differences(
    result: RunResult, plan: RunPlan, now: Conditions
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What differs on this server: what breaks the comparison of quality; what only limits it."""
    settings = planned_settings(plan).model_copy(
        update={
            "flash_attention": now.server.flash_attention,
            "parallel_slots": now.server.parallel_slots,
            "harness": now.harness_settings,
        }
    )
    # The window is known when the model is loaded: the comparison at the end will tell of it.
    here = subject(now).model_copy(update={"context": result.subject.context})
    ours = result.model_copy(update={"settings": settings, "subject": here, "sandbox": now.sandbox})
    limits = [f"Speed will not be comparable: {why}" for why in speed_not_comparable(result, ours)]
    return not_comparable(result, ours), (*_other_model(result, ours), *limits)


def _other_model(theirs: RunHeader, ours: RunHeader) -> list[str]:
    """Whether the weights are the same, as far as both say; that may differ, and is compared."""
    first, second = theirs.subject.weights_digest, ours.subject.weights_digest
    if first is None or second is None:
        return ["Whether the weights are the same cannot be told: not both name a digest."]
    if first == second:
        return []
    return [
        "The weights are others: the comparison is one of two models. "
        f"Theirs {first[7:19]}, ours {second[7:19]}."
    ]


def _expected_suite(suite: PlannedSuite) -> SuiteResult:
    """A suite of the plan as a result will name it."""
    pack = suite.pack
    return SuiteResult(
        suite=pack.name,
        version=pack.version,
        pack_hash=pack.pack_hash,
        dimension=pack.dimension,
        task_count=len(suite.tasks),
        pass_count=0,
        partial_count=0,
        fail_count=0,
        truncated_count=0,
        error_count=0,
        left_out_count=suite.left_out,
        is_private=pack.is_private,
    )


def _other_version(result: RunResult) -> str:
    return f"Install the BenchLoop that made it: version {result.benchmark_version}."
