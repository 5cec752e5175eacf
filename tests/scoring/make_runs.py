"""A small run result around trials, for tests of whatever reads whole runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench_loop.contracts.chat import Sampling
from bench_loop.result.records import (
    ContextFacts,
    Machine,
    Profile,
    RunResult,
    Settings,
    SpeedPlan,
    Subject,
    Trial,
)
from bench_loop.scoring.recompute import SuiteKey, score_run
from tests.result.documents import result
from tests.scoring.make_trials import speed_key, suite_key

SUBJECT = Subject(
    model_id="tiny:latest",
    model_family="tiny",
    parameters_b=0.135,
    quantization="Q4_1",
    weights_digest="sha256:" + "a" * 64,
    chat_template_hash="sha256:" + "b" * 64,
    provider="openai_compat",
    provider_version="llama.cpp b1",
    harness="raw",
    harness_version="1.0",
    context=ContextFacts(declared=8192, loaded=8192),
)
SETTINGS = Settings(
    trials=1,
    sampling=Sampling(),
    seed_rule="1000 + trial",
    answer_budget_rule="4 x reference, at least 256",
    context_window=8192,
    wall_limit_rule="120 s + 3 x expected",
    use_prompt_cache=True,
)


def keys_of(trials: Sequence[Trial]) -> list[SuiteKey]:
    """The key of every suite that occurs in `trials`."""
    names = sorted({trial.suite for trial in trials})
    shapes = sorted({trial.task_id for trial in trials if trial.suite == "speed"})
    return [speed_key(*shapes) if name == "speed" else suite_key(name, trials) for name in names]


def run_result(
    trials: Sequence[Trial],
    *,
    profile: Profile = "core",
    plan: SpeedPlan = "headline",
    subject: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    **header: Any,
) -> RunResult:
    """A complete run with these trials and its true scores; the rest as a plain local run has it.

    `subject`, `settings` and further keywords change single fields.
    """
    has_speed = any(trial.suite == "speed" for trial in trials)
    scores = score_run(trials, keys_of(trials), profile, plan if has_speed else None)
    moment = "2026-01-02T03:04:05Z"
    fields: dict[str, Any] = {
        "run_id": "20260102T030405Z-abcdefghij",
        "profile": profile,
        "started_at": moment,
        "finished_at": moment,
        "subject": SUBJECT.model_copy(update=dict(subject or {})),
        "machine": Machine(machine_id="0" * 16, device_class="cpu", is_local=True),
        "settings": SETTINGS.model_copy(update=dict(settings or {})),
        "speed": scores.speed,
        "aggregates": scores.aggregates,
        "suites": scores.suites,
        "trials": tuple(trials),
    }
    return result(**(fields | header))
