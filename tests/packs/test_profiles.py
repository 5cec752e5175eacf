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
LONG = {"core", "full"}


def test_there_are_all_suites_of_the_profiles() -> None:
    assert {pack.name for pack in PACKS} == CORE | ONLY_IN_FULL
    assert len(make_plan(profile="quick").quality_trials) == 35


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_a_core_suite_is_in_every_profile_and_the_others_only_in_full(pack: Pack) -> None:
    if pack.name in ONLY_IN_FULL:
        assert set(pack.profiles) == {"full"}
    else:
        assert pack.name in CORE
        assert set(pack.profiles) == {"smoke", "quick", "core", "full"}
    everything = tuple(task.id for task in pack.tasks)
    assert {pack.profiles[name] for name in LONG & pack.profiles.keys()} == {everything}


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_quick_takes_five_tasks_of_a_core_suite_of_all_levels(pack: Pack) -> None:
    wanted = pack.profiles.get("quick", ())
    levels = Counter(task.difficulty for task in pack.tasks if task.id in wanted)
    expected = {} if pack.name in ONLY_IN_FULL else {"easy": 2, "medium": 2, "hard": 1}
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
def test_every_profile_has_the_speed_suite_and_only_full_needs_a_large_window(name: str) -> None:
    plan = make_plan(profile=name)
    assert plan.speed_suite is not None
    assert plan.context_window == (40960 if name == "full" else 8192)
