"""The official packs drawn afresh: every family gives its instances for any seed."""

from __future__ import annotations

import pytest

from bench_loop.engine.families import Instance
from bench_loop.engine.fresh import fresh_pack, is_same_answer
from bench_loop.engine.packs import Pack, load_pack, pack_names

PACKS = [
    pytest.param(pack, id=pack.name)
    for pack in map(load_pack, pack_names())
    if any(task.family for task in pack.tasks)
]
SEEDS = (0, 1, 2, 2**31 - 1)


@pytest.mark.parametrize("pack", PACKS)
def test_every_official_task_of_a_family_has_a_fresh_instance(pack: Pack) -> None:
    families = sorted(task.family for task in pack.tasks if task.family)
    without = len(pack.tasks) - len(families)
    for seed in SEEDS:
        fresh = fresh_pack(pack, seed)
        assert sorted(task.family or "" for task in fresh.tasks) == families
        assert fresh.left_out_of("custom") == without
        for profile, ids in fresh.profiles.items():
            assert len(ids) + (fresh.left_out_of(profile) or 0) == len(pack.profiles[profile])


@pytest.mark.parametrize("pack", PACKS)
def test_no_fresh_instance_is_an_official_task_again(pack: Pack) -> None:
    for seed in SEEDS[:2]:
        for task in fresh_pack(pack, seed).tasks:
            answer = task.reference if isinstance(task.reference, str) else "none"
            instance = Instance(task, "path", answer)
            assert not [known.id for known in pack.tasks if is_same_answer(pack, instance, known)]


@pytest.mark.parametrize("pack", PACKS)
def test_seeds_share_no_task(pack: Pack) -> None:
    drawn = [fresh_pack(pack, seed) for seed in SEEDS]
    prompts = [(task.messages, tuple(task.files.items())) for one in drawn for task in one.tasks]
    assert len(set(prompts)) == len(prompts)
