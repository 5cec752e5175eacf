"""Every family of every pack: its instances are whole tasks, differ, and take all of its paths."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.families import Family, family_names, load_family
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.trajectory import example_output
from bench_loop.engine.validate import answer_faults, task_faults
from bench_loop.verifiers.judging import judge, needs_sandbox

PACKS = [load_pack(name) for name in pack_names()]
FAMILIES = [
    pytest.param(pack, load_family(pack.folder, name), id=f"{pack.name}.{name}")
    for pack in PACKS
    for name in family_names(pack.folder)
]
FACTOR = int(os.environ.get("BENCHLOOP_FUZZ", "1"))
"""How many times the usual number of instances is drawn (`make fuzz`)."""
DRAWS, DRAWS_OF_CODE, THOROUGH = 200 * FACTOR, 10 * FACTOR, 5 * FACTOR
SEED = 4711


def draws_code(pack: Pack, family: Family) -> bool:
    """Whether a verdict on its instances runs a program."""
    task = family.instances(SEED, 1)[0].task
    return task.tools == "workspace" or needs_sandbox(task)


@pytest.mark.parametrize(("pack", "family"), FAMILIES)
def test_every_instance_judges_its_own_answers_rightly(
    pack: Pack, family: Family, sandbox: Sandbox
) -> None:
    count = DRAWS_OF_CODE if draws_code(pack, family) else DRAWS
    instances = family.instances(SEED, count)
    faults = [
        str(fault)
        for at, instance in enumerate(instances)
        for fault in (task_faults if at < THOROUGH else answer_faults)(pack, instance.task, sandbox)
    ]
    assert faults == []


@pytest.mark.parametrize(("pack", "family"), FAMILIES)
def test_answers_differ_and_paths_come_in_equal_shares(pack: Pack, family: Family) -> None:
    instances = family.instances(SEED + 1, 50)
    assert len({instance.answer for instance in instances}) == 50
    shares = Counter(instance.path for instance in instances)
    assert set(shares) == set(family.paths)
    assert max(shares.values()) - min(shares.values()) <= 1
    assert len({instance.task.messages for instance in instances}) == 50


@pytest.mark.parametrize(("pack", "family"), FAMILIES)
def test_the_answer_to_one_instance_or_a_frozen_one_is_wrong_for_another(
    pack: Pack, family: Family, sandbox: Sandbox
) -> None:
    frozen = [task for task in pack.tasks if task.family == family.name]
    count = 4 if draws_code(pack, family) else 20
    drawn = [instance.task for instance in family.instances(SEED + 2, count)]
    passed = [
        (known.id, task.id)
        for task in drawn
        for known in (*frozen, *drawn[:2])
        if known.id != task.id
        and judge(example_output(pack, known, known.reference, sandbox), task, sandbox).outcome
        == "pass"
    ]
    assert passed == []


@pytest.mark.parametrize(("pack", "family"), FAMILIES)
def test_the_same_seed_gives_the_same_instances_and_another_seed_others(
    pack: Pack, family: Family
) -> None:
    first = family.instances(SEED, 3)
    assert family.instances(SEED, 2) == first[:2]
    assert not {one.answer for one in first} & {one.answer for one in family.instances(1, 3)}
