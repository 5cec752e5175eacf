"""Families: seeded generators of task instances, so that what was learned by heart is of no use."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.generators import FAMILIES, TRIES, Generator, load_generator
from bench_loop.engine.packs import read_raw_task
from bench_loop.errors import PackError
from bench_loop.verifiers.judging import verifier_of


@dataclass(frozen=True, slots=True)
class Instance:
    """One drawn task, the path that it takes and the text of its final answer."""

    task: BenchmarkTask
    path: str
    answer: str


@dataclass(frozen=True, slots=True)
class Family:
    """The instances of one generator. `name` is the file's, with dashes, as task ids have it."""

    suite: str
    name: str
    generator: Generator

    @property
    def paths(self) -> tuple[str, ...]:
        """The ways of reasoning that an instance may ask for."""
        return self.generator.paths

    @property
    def sentence(self) -> str:
        """What it is."""
        return self.generator.sentence

    def instances(
        self,
        seed: int,
        count: int,
        taken: Collection[str] = (),
        is_known: Callable[[Instance], bool] = lambda instance: False,
    ) -> list[Instance]:
        """`count` instances whose answers differ from each other and from those `taken`.

        What `is_known` is thrown away, and the next one drawn. The paths come in equal shares, in
        an order that the seed decides. The same seed gives the same instances, whatever the count.
        Raises PackError when the family cannot give so many, or gives one that is no task.
        """
        random = Random(f"{self.suite}.{self.name}.{seed}")  # noqa: S311 - repeatable draws
        paths = list(self.paths)
        random.shuffle(paths)
        seen, found = set(taken), list[Instance]()
        for _ in range(TRIES * count):
            if len(found) == count:
                break
            path = paths[len(found) % len(paths)]
            drawn = self.generator.once(random, path)
            if drawn is None or drawn.answer in seen:
                continue
            seen.add(drawn.answer)
            task = self._task(drawn.raw, f"{self.suite}.{self.name}-{seed}-{len(found) + 1}")
            instance = Instance(task, path, drawn.answer)
            if not is_known(instance):
                found.append(instance)
        if len(found) < count:
            raise PackError(
                self.generator.file, None, f"has no {count} instances with different answers"
            )
        return found

    def _task(self, raw: dict[str, Any], task_id: str) -> BenchmarkTask:
        raw |= {"id": task_id, "family": self.name}
        task = read_raw_task(raw, self.suite, self.generator.file)
        try:
            verifier_of(task).check(task)
        except PackError as error:  # It names the file that an official task would have.
            raise PackError(self.generator.file, error.field, error.reason) from error
        return task


def family_names(folder: Path) -> list[str]:
    """The families of the pack in `folder`, sorted, with dashes."""
    files = (folder / FAMILIES).glob("*.py")
    return sorted(file.stem.replace("_", "-") for file in files)


def load_family(folder: Path, name: str) -> Family:
    """The family `name` of the pack in `folder`. Runs its file. Raises PackError."""
    return Family(folder.name, name, load_generator(folder, name))
