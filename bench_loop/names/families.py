"""The table of model families: words, published sizes, and names that hide what they are."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_loop.safe_yaml import read_table

_TABLE = Path(__file__).with_name("families.yaml")


@dataclass(frozen=True, slots=True)
class Family:
    """One line of the table; its fields are explained at the head of families.yaml."""

    name: str
    is_glued: bool
    has_v_versions: bool
    distills: bool
    has_tag_versions: bool
    size_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class PublishedSize:
    """Published total and active parameters in billions; active None: dense, or unpublished."""

    total_b: float
    active_b: float | None


@dataclass(frozen=True, slots=True)
class FamilyTable:
    """families.yaml, indexed for look-up by lower-case words."""

    by_word: Mapping[str, Family]
    sizes: Mapping[tuple[str, str], PublishedSize]
    renames: Mapping[tuple[str, str], str]
    releases: Mapping[str, Mapping[str, str]]
    renames_by_architecture: Mapping[str, Mapping[str, str]]
    architectures: Mapping[str, str]
    vendors: frozenset[str]
    noise: frozenset[str]
    anywhere: frozenset[str]
    opaque: frozenset[str]
    hosted: re.Pattern[str]
    not_chat: Mapping[str, str]
    not_chat_architectures: frozenset[str]

    def family_at(self, words: Sequence[str], start: int) -> tuple[Family, int] | None:
        """The family named by the words at `start`, and how many words name it."""
        for length in (3, 2, 1):
            family = self.by_word.get("-".join(words[start : start + length]))
            if family is not None and start + length <= len(words):
                return family, length
        return None


@functools.cache
def table() -> FamilyTable:
    """The table that came with this installation, read once."""
    raw = read_table(_TABLE)
    return FamilyTable(
        by_word=_families_by_word(raw["families"]),
        sizes={
            (line, size): PublishedSize(float(figures[0]), _second(figures))
            for line, by_size in raw["sizes"].items()
            for size, figures in by_size.items()
        },
        renames={(rule["line"], rule["size"]): rule["means"] for rule in raw["renames"]},
        releases=raw["releases"],
        renames_by_architecture=raw["renames_by_architecture"],
        architectures=raw["architectures"],
        vendors=frozenset(raw["vendors"]),
        noise=frozenset(raw["noise"]),
        anywhere=frozenset(raw["anywhere"]),
        opaque=frozenset(raw["opaque"]),
        hosted=re.compile("|".join(raw["hosted"])),
        not_chat={word: kind for kind, words in raw["not_chat"].items() for word in words},
        not_chat_architectures=frozenset(raw["not_chat_architectures"]),
    )


def _families_by_word(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, Family]:
    by_word: dict[str, Family] = {}
    for name, line in raw.items():
        family = Family(
            name=name,
            is_glued=line.get("glued", False),
            has_v_versions=line.get("v_versions", False),
            distills=line.get("distills", False),
            has_tag_versions=line.get("tag_versions", False),
            size_words=frozenset(line.get("size_words", ())),
        )
        by_word.update(dict.fromkeys(line["words"], family))
    return by_word


def _second(figures: Sequence[float]) -> float | None:
    return float(figures[1]) if len(figures) > 1 else None
