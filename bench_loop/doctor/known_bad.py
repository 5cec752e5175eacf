"""Engine versions with known faults, from `known_bad.yaml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from bench_loop.safe_yaml import read_table

_FILE = Path(__file__).with_name("known_bad.yaml")


@dataclass(frozen=True, slots=True)
class KnownBad:
    """A fault of a range of versions of one engine."""

    engine: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    models: re.Pattern[str] | None
    severity: Literal["warning", "error"]
    what: str
    through: str
    without: str
    """A version that is reported to be free of the fault; it may be an older one."""
    source: str

    def remedy(self) -> str:
        """Which version to install."""
        if version_key(self.without) > self.last:
            return f"Install {self.engine} {self.without} or newer"
        return f"Install {self.engine} {self.without}, or one that is newer than {self.through}"


@cache
def table() -> tuple[KnownBad, ...]:
    """All known faults. Raises ValueError for a line that is not right."""
    lines = read_table(_FILE)
    return tuple(
        KnownBad(
            engine=line["engine"],
            first=version_key(str(line["from"])),
            last=version_key(str(line["through"])),
            models=re.compile(line["models"], re.I) if "models" in line else None,
            severity=line["severity"],
            what=line["what"],
            through=str(line["through"]),
            without=str(line["without"]),
            source=line["source"],
        )
        for line in lines
    )


def known_faults(engine: str, version: str | None, model: str) -> tuple[KnownBad, ...]:
    """The faults of this version that concern `model`, a text with its line and id."""
    key = version_key(version or "")
    return tuple(
        bad
        for bad in table()
        if key
        and bad.engine == engine
        and bad.first <= key <= bad.last
        and (bad.models is None or bad.models.search(model))
    )


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers to compare by: 0.13.3, v0.13.3-rc1, b7783-abc1234; empty: none is told.

    A build 0 or 1 of llama.cpp is one that was built without its number.
    """
    build = re.match(r"b(\d+)\b", version)
    if build:
        return (int(build[1]),) if int(build[1]) > 1 else ()
    numbers = re.match(r"v?(\d+(?:\.\d+)+)", version)
    return tuple(map(int, numbers[1].split("."))) if numbers else ()
