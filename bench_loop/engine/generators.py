"""Generators: the files in a pack's `families/`, each of which draws instances of one task.

A generator holds `PATHS`, the ways of reasoning that an instance may ask for, and
`draw(random, path)`, which gives one instance as a task file holds it, without `id` and `family`,
but with `answer`: the text of its final answer, by which two instances are told apart. A draw that
is no good (a tie, an ugly rounding) is None, and the next one is taken.

A generator is code of the pack and is run in this process. It may use the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench_loop.errors import PackError
from bench_loop.registry import load_file

FAMILIES = "families"
"""Folder of a pack's generators; the file of a family is named after it, with underscores."""
TRIES = 2000
"""Draws after which a family has no further instance to give."""

Draw = Callable[[Random, str], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One instance: its final answer, and all else as a task file holds it."""

    answer: str
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Generator:
    """One such file. `file` is how errors name it: `pack/families/file`."""

    file: str
    paths: tuple[str, ...]
    draw: Draw
    sentence: str = ""
    """What it is: the first sentence of the file."""

    def once(self, random: Random, path: str) -> Drawn | None:
        """One draw; None where it is no good. Raises PackError for a generator that fails."""
        try:
            raw = self.draw(random, path)
        except Exception as error:
            raise PackError(self.file, "draw", f"fails on {path!r}: {error!r}") from error
        if raw is None:
            return None
        answer = raw.pop("answer", None)
        if not isinstance(answer, str):
            raise PackError(self.file, "answer", "draw must give the final answer as text")
        for field in ("id", "family"):
            if field in raw:
                raise PackError(self.file, field, "is given by the engine, not by the draw")
        return Drawn(answer, raw)

    def first(self, random: Random, path: str) -> Drawn:
        """The first draw that is good. Raises PackError where there is none."""
        for _ in range(TRIES):
            if (drawn := self.once(random, path)) is not None:
                return drawn
        raise PackError(self.file, None, f"has no instance on {path!r}")


def family_file(folder: Path, name: str) -> Path:
    """The generator of the family `name` (with dashes, as ids have it) of the pack in `folder`."""
    return folder / FAMILIES / f"{name.replace('-', '_')}.py"


def load_generator(folder: Path, name: str) -> Generator:
    """The generator of the family `name` of the pack in `folder`; its file is run.

    Raises PackError.
    """
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
    return Generator(file, paths, draw, sentence)
