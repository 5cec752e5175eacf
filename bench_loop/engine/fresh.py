"""Fresh packs: every official task that belongs to a family is drawn anew, by a seed.

A fresh pack is a pack like any other, with a hash by the same rule. Whoever has the official pack
and the seed can make it again: so are fresh runs judged again, and uploads checked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import Instance, load_family
from bench_loop.engine.on_files import id_on_files, on_files
from bench_loop.engine.packs import Pack, hashed, runs_programs
from bench_loop.engine.profiles import CUSTOM
from bench_loop.engine.trajectory import example_output
from bench_loop.verifiers.judging import judge

SHORTEST_PROGRAM = 20
"""Characters from which on an answer does not stand in another program by chance."""


def fresh_pack(pack: Pack, seed: int) -> Pack:
    """`pack` with fresh instances in place of its tasks; the speed pack as it is.

    Of each family come as many as there are official tasks of it, and each takes the place of one
    of them in the profiles. Tasks without a family are left out and counted; a profile of which
    nothing is left is gone. No instance has the answer of an official task. Raises PackError where
    a family cannot give so many.
    """
    if pack.dimension == "speed":
        return pack
    drawn = _drawn(pack, seed)
    tasks = tuple(sorted(drawn.values(), key=lambda task: task.id))
    official_ids = {**pack.profiles, CUSTOM.name: tuple(task.id for task in pack.tasks)}
    instances = {
        profile: tuple(sorted(drawn[task_id].id for task_id in ids if task_id in drawn))
        for profile, ids in official_ids.items()
    }
    return hashed(
        replace(
            pack,
            tasks=tasks,
            profiles={name: instances[name] for name in pack.profiles if instances[name]},
            fresh_seed=seed,
            left_out={name: len(ids) - len(instances[name]) for name, ids in official_ids.items()},
        )
    )


def _drawn(pack: Pack, seed: int) -> Mapping[str, BenchmarkTask]:
    """Id of an official task to the fresh instance in its place."""
    if pack.source is not None:
        return {
            id_on_files(task_id, pack.name): on_files(task, pack.name)
            for task_id, task in _drawn(pack.source, seed).items()
        }
    by_family: dict[str, list[BenchmarkTask]] = defaultdict(list)
    for task in pack.tasks:
        if task.family is not None:
            by_family[task.family].append(task)

    def is_known(instance: Instance) -> bool:
        return any(is_same_answer(pack, instance, task) for task in pack.tasks)

    drawn = {}
    for name, official in by_family.items():
        instances = load_family(pack.folder, name).instances(seed, len(official), (), is_known)
        for task, instance in zip(official, instances, strict=True):
            drawn[task.id] = instance.task
    return drawn


def is_same_answer(pack: Pack, instance: Instance, official: BenchmarkTask) -> bool:
    """Whether who knows `official` by heart has the answer of `instance`.

    Where no program is to be run for the verdict, the reference of the one is judged by the other.
    Else their texts are compared: a draw must not depend on whether there is a sandbox.
    """
    task = instance.task
    if (task.messages, task.files) == (official.messages, official.files):
        return True
    if not runs_programs(task) and not runs_programs(official):
        output = example_output(pack, official, official.reference)
        return judge(output, task).outcome == "pass"
    if official.reference == task.reference or official.expected == task.expected:
        return True
    program = _bare(instance.answer)
    is_told = isinstance(official.reference, str) and len(program) >= SHORTEST_PROGRAM
    return is_told and program in _bare(str(official.reference))


def _bare(text: str) -> str:
    """Text without white space: a fence or another indentation makes no other program."""
    return "".join(text.split())
