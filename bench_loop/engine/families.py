"""Families: seeded generators of task instances, so that what was learned by heart is of no use.

`packs/<suite>/families/<family_name>.py` holds `PATHS`, the ways of reasoning that an instance may
ask for, and `draw(random, path)`, which gives one instance as a task file holds it, without `id`
and `family`, but with `answer`: the text of its final answer, by which two instances are told
apart. A draw that is no good (a tie, an ugly rounding) is None, and the next one is taken.

A generator is code of the pack and is run in this process. It may use the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import FAMILIES, family_file, read_raw_task
from bench_loop.errors import PackError
from bench_loop.registry import load_file
from bench_loop.verifiers.judging import verifier_of

TRIES = 2000
"""Draws after which a family has no further instance to give."""

Draw = Callable[[Random, str], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Instance:
    """One drawn task, the path that it takes and the text of its final answer."""

    task: BenchmarkTask
    path: str
    answer: str


@dataclass(frozen=True, slots=True)
class Family:
    """One generator. `name` is the file's, with dashes, as task ids have it."""

    suite: str
    name: str
    file: str
    """As errors name it: `pack/families/file`."""
    paths: tuple[str, ...]
    draw: Draw
    sentence: str = ""
    """What it is: the first sentence of the file."""

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
            try:
                raw = self.draw(random, path)
            except Exception as error:
                raise PackError(self.file, "draw", f"fails on {path!r}: {error!r}") from error
            if raw is None:
                continue
            answer = raw.pop("answer", None)
            if not isinstance(answer, str):
                raise PackError(self.file, "answer", "draw must give the final answer as text")
            if answer in seen:
                continue
            seen.add(answer)
            task = self._task(raw, f"{self.suite}.{self.name}-{seed}-{len(found) + 1}")
            instance = Instance(task, path, answer)
            if not is_known(instance):
                found.append(instance)
        if len(found) < count:
            raise PackError(self.file, None, f"has no {count} instances with different answers")
        return found

    def _task(self, raw: dict[str, Any], task_id: str) -> BenchmarkTask:
        for field in ("id", "family"):
            if field in raw:
                raise PackError(self.file, field, "is given by the engine, not by the draw")
        raw |= {"id": task_id, "family": self.name}
        task = read_raw_task(raw, self.suite, self.file)
        try:
            verifier_of(task).check(task)
        except PackError as error:  # It names the file that an official task would have.
            raise PackError(self.file, error.field, error.reason) from error
        return task


def family_names(folder: Path) -> list[str]:
    """The families of the pack in `folder`, sorted, with dashes."""
    files = (folder / FAMILIES).glob("*.py")
    return sorted(file.stem.replace("_", "-") for file in files)


def load_family(folder: Path, name: str) -> Family:
    """The family `name` of the pack in `folder`. Runs its file. Raises PackError."""
    path = family_file(folder, name)
    file = f"{folder.name}/{FAMILIES}/{path.name}"
    if not path.is_file():
        raise PackError(file, None, "there is no such file")
    try:
        # Private packs may have a family of the same name: the path tells them apart.
        module = load_file(f"family.{path.resolve()}", path)
    except Exception as error:
        raise PackError(file, None, f"fails when it is loaded: {error!r}") from error
    paths, draw = getattr(module, "PATHS", None), getattr(module, "draw", None)
    if not isinstance(paths, tuple) or len(paths) < 2 or len(set(paths)) < len(paths):
        raise PackError(file, "PATHS", "must be a tuple of two or more different names")
    if not callable(draw):
        raise PackError(file, "draw", "must be a function of a Random and a path")
    about = " ".join((module.__doc__ or "").partition("\n\n")[0].split())
    sentence = about.partition(". ")[0].removesuffix(".") + "." if about else ""
    return Family(folder.name, name, file, paths, draw, sentence)
