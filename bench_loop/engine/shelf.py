"""Which packs there are to run: the official ones, or a person's own; as they are, or drawn afresh.

A person's own packs lie in a folder like the official ones. They may bear no official name, so that
a name alone says which is meant, and they measure quality only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from bench_loop.engine.fresh import fresh_pack
from bench_loop.engine.packs import (
    MANIFEST,
    Pack,
    load_pack,
    pack_names,
    read_pack,
    runs_programs,
)
from bench_loop.engine.validate import pack_folders, task_faults
from bench_loop.errors import PackError
from bench_loop.registry import pick


@dataclass(frozen=True, slots=True)
class Shelf:
    """The packs that a run may take."""

    fresh_seed: int | None = None
    """None: packs as they are; else their fresh instances."""
    private: Path | None = None
    """Folder of a person's own packs, or of one of them; None: there are none."""

    def names(self) -> list[str]:
        """Every suite there is. Raises PackError where a person's own cannot be told apart."""
        return sorted([*pack_names(), *self.private_names()])

    def private_names(self) -> list[str]:
        """A person's own. Raises PackError for a folder without packs, and for official names."""
        return sorted(self._own())

    def pack(self, name: str) -> Pack:
        """The pack `name`. Raises UsageError for an unknown name, PackError for a bad file."""
        own = self._own()
        pick("suite", name, [*pack_names(), *own])
        seed = self.fresh_seed
        if name in own:
            pack = _private_pack(own[name])
            return pack if seed is None else fresh_pack(pack, seed)
        return load_pack(name) if seed is None else _fresh_official(name, seed)

    def _own(self) -> dict[str, Path]:
        if self.private is None:
            return {}
        own = {folder.name: folder for folder in pack_folders(self.private)}
        for name in own:
            if name in pack_names():
                reason = "is the name of an official suite: call yours otherwise"
                raise PackError(f"{name}/{MANIFEST}", "name", reason)
        return own


def refuse_faults(packs: Iterable[Pack]) -> None:
    """Raises PackError for a pack whose own answers do not get the verdicts that they should.

    Answers that only a sandbox can judge are left to `bench-loop validate`.
    """
    for pack in packs:
        for task in pack.tasks:
            if runs_programs(task):
                continue
            for fault in task_faults(pack, task):
                remedy = f"See all that is wrong: bench-loop validate {pack.folder}"
                raise PackError(fault.file, fault.field, fault.reason, remedy=remedy)


@lru_cache(maxsize=64)
def _fresh_official(name: str, seed: int) -> Pack:
    return fresh_pack(load_pack(name), seed)


def _private_pack(folder: Path) -> Pack:
    pack = read_pack(folder)
    if pack.dimension == "speed":
        reason = "speed is measured by the official suite alone"
        raise PackError(f"{folder.name}/{MANIFEST}", "dimension", reason)
    return replace(pack, is_private=True)
