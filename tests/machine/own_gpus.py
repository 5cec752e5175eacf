"""The strings of `fixtures/own/gpus.psv`, and what of an answer does not meet them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bench_loop.machine.reported import Reported

TABLE = Path(__file__).parents[1] / "fixtures" / "own" / "gpus.psv"


class Row(NamedTuple):
    """One string and its right answers, in the words of the table's head."""

    raw: str
    memory: str
    system: str
    vendor: str
    gpu: str
    count: str
    size: str
    unified: str


def rows() -> list[Row]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [
        Row(*(cell.strip().replace("\\n", "\n") for cell in line.split("|")))
        for line in lines
        if line and not line.startswith("#")
    ]


def wrong_columns(row: Row, found: Reported) -> list[str]:
    """The columns of `row` that `found` does not meet."""
    sizes = [str(gpu.class_gb or "") for gpu in found.gpus]
    size = sizes[0] if len(set(sizes)) == 1 else "+".join(sizes)
    vendors = {gpu.vendor or "unknown" for gpu in found.gpus} or {"none"}
    claims = {
        "vendor": all(_is_one_of(row.vendor, vendor) for vendor in vendors),
        "gpu": _is_one_of(row.gpu, found.gpu or ""),
        "count": len(found.gpus) == int(row.count),
        "size": _is_one_of(row.size.lstrip("?"), size) or (row.size[:1] == "?" and not size),
        "unified": any(gpu.is_unified for gpu in found.gpus) == (row.unified == "yes"),
    }
    return [column for column, holds in claims.items() if not holds]


def _is_one_of(accepted: str, found: str) -> bool:
    return bool({"*", found} & set(accepted.split("/")))
