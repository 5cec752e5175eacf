"""Reasons why two runs are not comparable."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.contracts.chat import Sampling
from bench_loop.result.compare import (
    core_settings,
    not_comparable,
    speed_not_comparable,
    window_class,
)
from bench_loop.result.records import ContextFacts, HarnessSettings, Machine, RunResult
from tests.scoring.make_runs import run_result
from tests.scoring.make_trials import speed_trial, suite_trials

TRIALS = [*suite_trials("reasonmath", ["pass", "fail"]), speed_trial()]
BASE = run_result(TRIALS)


def with_suite(**fields: Any) -> RunResult:
    suites = tuple(
        suite.model_copy(update=fields) if suite.suite == "reasonmath" else suite
        for suite in BASE.suites
    )
    return BASE.model_copy(update={"suites": suites})


def test_a_run_is_comparable_with_itself() -> None:
    assert not_comparable(BASE, BASE) == ()
    assert speed_not_comparable(BASE, BASE) == ()


def test_model_quantization_and_machine_are_what_is_compared() -> None:
    other = run_result(
        TRIALS,
        subject={
            "model_id": "other:8b",
            "quantization": "Q8_0",
            "weights_digest": "sha256:" + "c" * 64,
            "chat_template_hash": "sha256:" + "d" * 64,
        },
        machine=Machine(machine_id="1" * 16, device_class="rtx-4090", is_local=True),
    )
    assert not_comparable(BASE, other) == ()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"trials": 3}, "They differ in number of trials: 1 against 3."),
        ({"seed_rule": "fixed"}, "They differ in seed rule: 1000 + trial against fixed."),
        ({"thinking_budget": 4096}, "Only one of them states its thinking budget: 4096."),
        (
            {"fresh_seed": 7},
            "One of them ran the official tasks, the other fresh instances of them (seed 7): what "
            "may be known by heart is not compared with what cannot be.",
        ),
        (
            {"use_prompt_cache": False},
            "They differ in use of the prompt cache: on against off.",
        ),
        (
            {"sampling": Sampling(temperature=0.7, top_p=0.95)},
            "They differ in temperature: 0.0 against 0.7.",
        ),
    ],
)
def test_another_setting_is_a_reason(settings: dict[str, Any], reason: str) -> None:
    assert reason in not_comparable(BASE, run_result(TRIALS, settings=settings))


def test_another_profile_is_a_reason() -> None:
    other = run_result(TRIALS, profile="quick")
    assert not_comparable(BASE, other) == ("They differ in profile: core against quick.",)


def test_another_scoring_version_is_a_reason() -> None:
    other = run_result(TRIALS, scoring_version="2.0")
    assert not_comparable(BASE, other) == ("They differ in scoring version: 1.1 against 2.0.",)


def test_thinking_on_and_off_are_apart() -> None:
    on, off = (run_result(TRIALS, subject={"thinking": value}) for value in (True, False))
    assert not_comparable(on, off) == ("They differ in thinking mode: on against off.",)


def test_another_suite_version_is_a_reason_with_the_remedy() -> None:
    assert not_comparable(BASE, with_suite(version="2.0")) == (
        "The suite reasonmath has version 1.0 against 2.0: run again with the current pack.",
    )


def test_a_changed_pack_is_a_reason() -> None:
    assert not_comparable(BASE, with_suite(pack_hash="sha256:" + "f" * 64)) == (
        "The pack of reasonmath differs (00000000 against ffffffff): one of them was changed.",
    )


def test_a_suite_on_one_side_is_a_reason() -> None:
    other = run_result([*TRIALS, *suite_trials("coding", ["pass"])])
    assert not_comparable(BASE, other) == ("The suite coding was run in only one of them.",)


def test_windows_of_one_class_are_comparable() -> None:
    near = run_result(TRIALS, subject={"context": ContextFacts(loaded=8448)})
    far = run_result(TRIALS, subject={"context": ContextFacts(loaded=4096)})
    assert not_comparable(BASE, near) == ()
    assert not_comparable(BASE, far) == ("The context windows differ: 8,192 against 4,096 tokens.",)


def test_a_window_class_is_the_largest_usual_window_inside() -> None:
    assert (window_class(8191), window_class(8192), window_class(500)) == (4096, 8192, 500)


def test_two_templates_for_one_model_are_a_reason() -> None:
    other = run_result(TRIALS, subject={"chat_template_hash": "sha256:" + "d" * 64})
    assert not_comparable(BASE, other) == (
        "The chat templates of the same model differ: bbbbbbbb against dddddddd.",
    )


def test_the_harness_must_be_the_same_unless_it_is_what_is_compared() -> None:
    other = run_result(TRIALS, subject={"harness": "other", "harness_version": "9"})
    assert not_comparable(BASE, other) == (
        "They differ in harness: raw against other.",
        "They differ in harness version: 1.0 against 9.",
    )
    assert not_comparable(BASE, other, may_harness_differ=True) == ()


def in_program(name: str, **fields: Any) -> RunResult:
    settings = HarnessSettings(**{"place": "bubblewrap", "limit_rule": "as raw", **fields})
    return run_result(TRIALS, subject={"harness": name}, settings={"harness": settings})


def test_a_program_is_comparable_with_raw_across_harnesses() -> None:
    assert not_comparable(BASE, in_program("goose"), may_harness_differ=True) == ()


@pytest.mark.parametrize("name", ["goose", "aider"])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"place": "direct"}, "They differ in place of the harness: bubblewrap against direct."),
        ({"limit_rule": "none"}, "They differ in limits of the harness: as raw against none."),
        (
            {"forced": ("tool_calls",)},
            "They differ in needs of the harness that were overridden: none against tool_calls.",
        ),
    ],
)
def test_two_programs_must_be_run_in_the_same_way(
    name: str, fields: dict[str, Any], reason: str
) -> None:
    other = in_program(name, **fields)
    assert not_comparable(in_program("goose"), other, may_harness_differ=True) == (reason,)
    same_way = in_program("goose")
    assert core_settings(in_program("goose")) == core_settings(same_way)
    assert core_settings(in_program("goose", **fields)) != core_settings(same_way)


def test_ranks_of_raw_runs_know_no_settings_of_programs() -> None:
    assert "place of the harness" not in core_settings(BASE)


def test_a_window_that_a_harness_needs_is_to_be_given_to_both() -> None:
    wide = run_result(
        TRIALS, subject={"context": ContextFacts(loaded=16384), "harness": "opencode"}
    )
    assert not_comparable(BASE, wide, may_harness_differ=True) == (
        "The context windows differ: 8,192 against 16,384 tokens: run both with the larger one "
        "(--context-window 16384).",
    )


def test_settings_of_the_engine_are_reasons_for_speed_only() -> None:
    other = run_result(
        TRIALS,
        subject={"kv_cache_type": "q8_0", "provider_version": "llama.cpp b2"},
        settings={"flash_attention": True, "parallel_slots": 4},
    )
    assert not_comparable(BASE, other) == ()
    assert speed_not_comparable(BASE, other) == (
        "They differ in engine: llama.cpp b1 against llama.cpp b2.",
        "Only one of them states its KV cache type: q8_0.",
        "Only one of them states its flash attention: on.",
        "Only one of them states its parallel slots: 4.",
    )


def test_without_the_speed_suite_in_both_speed_is_not_comparable() -> None:
    slow = run_result(suite_trials("reasonmath", ["pass", "fail"]))
    assert speed_not_comparable(BASE, slow) == ("The speed suite was not run in both.",)


def test_plan_minimum_is_not_comparable_with_the_others() -> None:
    other = run_result(TRIALS, plan="minimum")
    assert speed_not_comparable(BASE, other) == (
        "One run took its headline speed from the plan minimum, which has other shapes.",
    )


def test_a_model_without_the_switch_is_comparable_with_one_that_was_told_not_to_think() -> None:
    without, off, on = (
        run_result(TRIALS, subject={"thinking": value}) for value in (None, False, True)
    )
    assert not_comparable(without, off) == ()
    assert not_comparable(without, on) == ("They differ in thinking mode: off against on.",)


def test_harnesses_are_compared_with_one_model_only() -> None:
    other = run_result(TRIALS, subject={"harness": "other", "weights_digest": "sha256:" + "c" * 64})
    assert not_comparable(BASE, other, may_harness_differ=True) == (
        "They differ in harness: raw against other.",
    )
