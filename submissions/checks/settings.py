"""Subject and settings: names agree, and the rules of every run were followed."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.contracts.chat import Sampling
from bench_loop.engine.harness_limits import RULE as HARNESS_LIMIT_RULE
from bench_loop.engine.plan import (
    FIRST_SEED,
    SEED_RULE,
    UNMEASURED_WALL_LIMIT_RULE,
    WALL_LIMIT_RULE,
    make_plan,
)
from bench_loop.engine.profiles import PROFILES
from bench_loop.names.lines import OTHER
from bench_loop.names.parse import parse_model
from bench_loop.registry import names
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import HARNESSES, PROVIDERS, Upload

SIZE_TOLERANCE = 0.25
"""Names round a model's size, and some leave its embeddings out."""
SMALL_MODEL_B = 1.0
SMALL_SURPLUS = 0.35
"""Files of small models hold their embeddings twice: 0.63 where 0.494 is right (Qwen2.5 0.5B)."""


def check_subject(upload: Upload) -> Iterator[Finding]:
    """The model's name, size and quantization agree; harness and provider are known here."""
    subject = upload.result.subject
    name = parse_model(subject.model_id, None)
    claimed_b, named_b = subject.parameters_b, name.parameters_b
    if claimed_b and named_b and not _is_near(claimed_b, named_b):
        yield needs_review(
            "name_mismatch",
            "subject.parameters_b",
            "The model's id names another size.",
            claimed=claimed_b,
            named=named_b,
        )
    if name.parameters_b and subject.active_parameters_b:
        # A smaller one would let any speed seem possible; of a dense model all are active.
        active_b = subject.active_parameters_b
        least_b = name.active_parameters_b or name.parameters_b
        if active_b < least_b * (1 - SIZE_TOLERANCE):
            yield needs_review(
                "name_mismatch",
                "subject.active_parameters_b",
                "The model of this id has more active parameters.",
                claimed=active_b,
                named=least_b,
            )
    if name.family not in (None, OTHER) and subject.model_family not in (None, name.family):
        yield needs_review(
            "name_mismatch",
            "subject.model_family",
            f"The model's id names another family: {name.family}.",
        )
    if name.quantization and subject.quantization not in (None, name.quantization):
        yield needs_review(
            "name_mismatch",
            "subject.quantization",
            f"The model's id names another quantization: {name.quantization}.",
        )
    for field, folder in (("harness", HARNESSES), ("provider", PROVIDERS)):
        if getattr(subject, field) not in names(folder):
            yield needs_review(
                f"unknown_{field}", f"subject.{field}", f"This site knows no such {field}."
            )


def _is_near(claimed_b: float, named_b: float) -> bool:
    surplus = SMALL_SURPLUS if named_b < SMALL_MODEL_B else SIZE_TOLERANCE
    return -SIZE_TOLERANCE <= claimed_b / named_b - 1 <= surplus


def check_settings(upload: Upload) -> Iterator[Finding]:
    """The rules that every run of BenchLoop follows were followed: none of them is an option."""
    result = upload.result
    settings = result.settings
    budget = result.profile in PROFILES and make_plan(profile=result.profile).answer_budget_rule
    is_timed = any(suite.dimension == "speed" for suite in result.suites)
    rules: dict[str, object] = {
        "seed_rule": SEED_RULE,
        "wall_limit_rule": WALL_LIMIT_RULE if is_timed else UNMEASURED_WALL_LIMIT_RULE,
        "answer_budget_rule": budget or settings.answer_budget_rule,
        "use_prompt_cache": True,
    }
    if not result.subject.thinking:
        rules["sampling"] = Sampling()
    for field, rule in rules.items():
        if getattr(settings, field) != rule:
            yield _other_settings(field)
    if not result.subject.thinking and not all(
        settings.sampling_of(name) == pack.settings.sampling
        for name, pack in upload.packs.items()
        if pack.dimension == "quality"
    ):
        yield _other_settings("by_suite")
    for index, trial in enumerate(result.trials):
        # By the rule that the run names; two trials with one seed may be one trial twice.
        has_seed = trial.seed is not None and trial.suite != "speed"
        if has_seed and trial.seed != FIRST_SEED + trial.trial:
            yield needs_review(
                "other_settings", f"trials[{index}].seed", f"The rule is: {SEED_RULE}."
            )
    yield from _harness_settings_findings(upload)


def _harness_settings_findings(upload: Upload) -> Iterator[Finding]:
    """A program of a harness is run by BenchLoop's rule, and `raw` is no program."""
    settings = upload.result.settings.harness
    name = upload.result.subject.harness
    if name not in names(HARNESSES):
        return
    is_raw = name == "raw"
    if is_raw and upload.result.subject.harness_config_hash is not None:
        # It would be a league of its own, with one run in it.
        where, sentence = "subject.harness_config_hash", "The raw harness is not configured."
        yield needs_review("other_settings", where, sentence)
    if is_raw is not (settings is None):
        yield _other_settings("harness")
    elif settings is not None and settings.limit_rule != HARNESS_LIMIT_RULE:
        yield _other_settings("harness.limit_rule")
    if not is_raw:
        return
    for index, trial in enumerate(upload.result.trials):
        if trial.harness is not None:
            where = f"trials[{index}].harness"
            yield refused("marks_reversed", where, "The raw harness is no program and has none.")


def _other_settings(field: str) -> Finding:
    return needs_review(
        "other_settings", f"settings.{field}", "BenchLoop's own runs do this otherwise."
    )
