"""Older result files, read as if they had been written today: one function for each step.

A step takes the JSON of schema version n and gives that of version n + 1. It gets a copy to change,
with or without `trials`, since headers are kept apart; it does not touch what the fingerprint is
made of, or `fingerprint.py` leaves out what it adds. Files and stored bytes never change: whoever
reads them upgrades. The version that comes next is the one entry `1: _to_2` in `STEPS`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench_loop.result.records import SCHEMA_VERSION

UPDATE = "Update BenchLoop: pip install -U bench-loop"

Document = dict[str, Any]
Step = Callable[[Document], Document]


class UpgradeError(ValueError):
    """This document cannot be read here; `field` is where, the text is a sentence why."""

    def __init__(self, field: str, sentence: str, *, remedy: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Upgrades:
    """The steps from every version that can be read to the newest."""

    steps: Mapping[int, Step]
    """By the version that a step starts from."""
    newest: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        if sorted(self.steps) != list(range(self.oldest, self.newest)):
            raise ValueError(f"The steps to schema version {self.newest} have a gap.")

    @property
    def oldest(self) -> int:
        """The oldest version that can be read."""
        return min(self.steps, default=self.newest)

    @property
    def readable(self) -> str:
        """The versions that can be read, for a sentence."""
        if self.oldest == self.newest:
            return f"version {self.newest}"
        return f"versions {self.oldest} to {self.newest}"

    def upgraded(self, document: Any) -> Any:
        """`document` in the newest version: itself if it is, else a changed copy.

        What has no version that is a whole number comes back as it is: the records say what is
        wrong with it. Raises UpgradeError for an unknown version, and for what no step understands.
        """
        version = document.get("schema_version") if isinstance(document, dict) else None
        if type(version) is not int or version == self.newest:
            return document
        if not self.oldest <= version < self.newest:
            is_newer = version > self.newest
            how = "newer" if is_newer else "older"
            raise UpgradeError(
                "schema_version",
                f"version {version} is {how} than what this BenchLoop reads: {self.readable}",
                remedy=UPDATE if is_newer else "Open it with the BenchLoop that wrote it.",
            )
        changed = copy.deepcopy(document)
        for number in range(version, self.newest):
            changed = self._stepped(changed, number)
        return changed

    def _stepped(self, document: Document, number: int) -> Document:
        try:
            return {**self.steps[number](document), "schema_version": number + 1}
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            # A step reads files of strangers, that no record has checked.
            raise UpgradeError(
                "schema_version",
                f"this is no result of schema version {number}",
                remedy="Make it again with the BenchLoop that wrote it.",
            ) from error


STEPS: Mapping[int, Step] = {}
UPGRADES = Upgrades(STEPS)
