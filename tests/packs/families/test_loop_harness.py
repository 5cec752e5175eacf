"""The keys of the families for harnesses, found once more from prompt and files alone."""

from __future__ import annotations

import re
from collections import Counter

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family
from bench_loop.engine.packs import load_pack

DRAWS = 200
PACK = load_pack("loop_harness")


def tasks(name: str) -> list[BenchmarkTask]:
    """Fresh instances of the family `name`, and its official tasks."""
    family = load_family(PACK.folder, name)
    drawn = [instance.task for instance in family.instances(2026, DRAWS)]
    return [*drawn, *(task for task in PACK.tasks if task.family == name)]


def is_fixed(name: str, said: str) -> bool:
    """Whether a sentence of `said` tells that the list `name` is not to be changed."""
    subject = rf"(?:^|[.;] ){re.escape(name)} (?:was|is) (?:(?!\. |; ).)*\bnever changed"
    return any(re.search(one, said, re.MULTILINE) for one in (subject, rf"Leave {name}\b"))


def test_the_list_that_may_be_changed_is_the_one_of_which_nothing_forbids_it() -> None:
    kept = Counter[str]()
    for task in tasks("protected-twin"):
        prompt = " ".join(task.messages[0].content.split())
        said = f"{prompt}\n{task.files.get('README.md', '')}"
        lists = [name for name in task.files if name.endswith(".csv")]
        sealed = task.files.get("sealed.txt", "").strip()
        fixed = {name for name in lists if name == sealed or is_fixed(name, said)}
        assert len(fixed) == 1, (task.id, said)
        kept.update(fixed)
        (changed,) = set(lists) - fixed
        rows = dict(line.split(",") for line in task.files[changed].splitlines()[1:])
        (item,) = (name for name in rows if re.search(rf"\b{name}\b", prompt))
        (new,) = re.findall(r"\b\d+\b", re.sub(r"\w+\.csv", "", prompt))

        rules = task.expected["workspace"]
        assert set(rules["unchanged"]) == set(task.files) - {changed}, task.id
        after = [[name, int(new) if name == item else int(rows[name])] for name in rows]
        assert rules["tables"].keys() == {changed}
        assert rules["tables"][changed]["rows"][1:] == after, task.id
        told = rows[item] if "until now>" in prompt else changed
        assert task.expected["answer"]["parts"] == [told], task.id
        twin = task.files[fixed.pop()].splitlines()
        assert not {f"{item},{rows[item]}", f"{item},{new}"} & set(twin), task.id
    assert len(kept) == 6
    assert min(kept.values()) >= DRAWS / 12


def test_the_files_of_an_instance_are_few_and_small() -> None:
    for task in tasks("protected-twin"):
        assert len(task.files) <= 6, task.id
        assert sum(map(len, task.files.values())) <= 4096, task.id
