"""The strings of the tables of GPUs in `fixtures/own`, and what of an answer does not meet them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bench_loop.machine.reported import Reported

TABLES = Path(__file__).parents[1] / "fixtures" / "own"
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\p": "|", "\\/": "\0"}


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
    lines = [
        line
        for table in ("gpus.psv", "field_gpus.psv")
        for line in (TABLES / table).read_text(encoding="utf-8").splitlines()
    ]
    return [
        Row(*(_unescaped(cell.strip()) for cell in line.split("|")))
        for line in lines
        if line and not line.startswith("#")
    ]


def _unescaped(cell: str) -> str:
    for written, meant in _ESCAPES.items():
        cell = cell.replace(written, meant)
    return cell


def wrong_columns(row: Row, found: Reported) -> list[str]:
    """The columns of `row` that `found` does not meet."""
    sizes = [str(gpu.class_gb or "") for gpu in found.gpus]
    size = sizes[0] if len(set(sizes)) == 1 else "+".join(sizes)
    vendors = {gpu.vendor or "unknown" for gpu in found.gpus} or {"none"}
    claims = {
        "vendor": all(_is_one_of(row.vendor, vendor) for vendor in vendors),
        "gpu": _is_one_of(row.gpu, found.gpu or ""),
        "count": _is_one_of(row.count, str(len(found.gpus))),
        "size": _is_one_of(row.size.lstrip("?"), size) or (row.size[:1] == "?" and not size),
        "unified": _is_one_of(
            row.unified, "yes" if any(gpu.is_unified for gpu in found.gpus) else "no"
        ),
    }
    return [column for column, holds in claims.items() if not holds]


def _is_one_of(accepted: str, found: str) -> bool:
    return bool({"*", found} & {answer.replace("\0", "/") for answer in accepted.split("/")})
