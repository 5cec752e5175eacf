"""Which suites a profile takes, and that its part of a suite is a fair one."""

from __future__ import annotations

from collections import Counter

import pytest

from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.plan import make_plan
from bench_loop.engine.profiles import PROFILES

CORE = {
    "toolcall",
    "dataextract",
    "instructfollow",
    "reasonmath",
    "coding",
    "loop_code_fix",
    "loop_schema",
}
ONLY_IN_FULL = {"agent", "longcontext"}
FOR_HARNESSES = {"agent", "loop_code_fix_files", "loop_harness"}
SMOKE = {
    "toolcall": 2,
    "dataextract": 3,
    "instructfollow": 3,
    "reasonmath": 3,
    "coding": 1,
    "loop_code_fix": 1,
    "loop_schema": 3,
}
"""Tasks of each suite: fewer where a task needs several turns or a sandbox."""
MOST_TURNS = 4
PACKS = [pack for pack in map(load_pack, pack_names()) if pack.tasks]
WHOLE = {"core", "full", "harness"}
"""Profiles that take all tasks of a suite or none."""


def test_there_are_all_suites_of_the_profiles() -> None:
    assert {pack.name for pack in PACKS} == CORE | ONLY_IN_FULL | FOR_HARNESSES
    assert len(make_plan(profile="quick").quality_trials) == 35


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_a_core_suite_is_in_every_profile_for_models_and_the_others_only_in_full(
    pack: Pack,
) -> None:
    for_models = {"smoke", "quick", "core", "full"} if pack.name in CORE else set()
    for_models |= {"full"} if pack.name in ONLY_IN_FULL else set()
    assert set(pack.profiles) - {"harness"} == for_models
    assert ("harness" in pack.profiles) == (pack.name in FOR_HARNESSES)
    everything = tuple(task.id for task in pack.tasks)
    assert {pack.profiles[name] for name in WHOLE & pack.profiles.keys()} == {everything}


def test_the_profile_for_harnesses_asks_only_for_work_on_files() -> None:
    plan = make_plan(profile="harness")
    assert {suite.pack.name for suite in plan.suites} == FOR_HARNESSES
    assert {suite.pack.convention for suite in plan.suites} == {"workspace"}
    assert not plan.profile.is_ranked


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_quick_takes_five_tasks_of_a_core_suite_of_all_levels(pack: Pack) -> None:
    wanted = pack.profiles.get("quick", ())
    levels = Counter(task.difficulty for task in pack.tasks if task.id in wanted)
    expected = {"easy": 2, "medium": 2, "hard": 1} if pack.name in CORE else {}
    assert levels == expected


def test_smoke_takes_sixteen_short_tasks_over_all_kinds_and_most_are_easy() -> None:
    tasks = [task for _, task, _ in make_plan(profile="smoke").quality_trials]
    assert Counter(task.suite for task in tasks) == SMOKE
    assert Counter(task.difficulty for task in tasks) == {"easy": 11, "medium": 5}
    assert max(task.expected_turns for task in tasks) <= MOST_TURNS


@pytest.mark.parametrize("name", SMOKE)
def test_smoke_has_an_easy_task_of_every_suite(name: str) -> None:
    pack = load_pack(name)
    levels = {task.difficulty for task in pack.tasks if task.id in pack.profiles["smoke"]}
    assert "easy" in levels


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_has_the_speed_suite_if_it_has_plans_for_it_and_only_full_a_large_window(
    name: str,
) -> None:
    plan = make_plan(profile=name)
    assert (plan.speed_suite is not None) == bool(PROFILES[name].speed_plans)
    assert bool(PROFILES[name].speed_plans) == (name != "harness")
    assert plan.context_window == (40960 if name == "full" else 8192)
