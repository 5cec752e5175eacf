"""Every row of the case file of machines, against the right answers that stand in it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bench_loop.machine.reported import Reported, parse_gpus

CASES = Path(__file__).parents[1] / "fixtures" / "cases" / "hardware.csv"

NOT_YET_RIGHT: frozenset[str] = frozenset()
"""Ids of rows that come out wrong today. A row that is mended must leave the set."""


def rows() -> list[dict[str, str]]:
    with CASES.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def parsed(row: dict[str, str]) -> Reported:
    raw = row["raw"].replace("\\n", "\n").replace("\\t", "\t").replace("\\u0000", "\0")
    system = float(row["system_ram_gb"]) if row["system_ram_gb"] else None
    return parse_gpus(raw, row["reported_memory"] or None, system)


def wrong_columns(row: dict[str, str], found: Reported) -> list[str]:
    """The columns of the case that `found` does not meet."""
    vendors = {gpu.vendor or "unknown" for gpu in found.gpus}
    sizes = [str(gpu.class_gb) for gpu in found.gpus]
    one_size = sizes[0] if len(set(sizes)) == 1 and found.gpu and "+" not in found.gpu else None
    claims = {
        "vendor": vendors == ({row["vendor"]} - {"none"}),
        "gpu_canonical": (found.gpu or "") == row["gpu_canonical"],
        "gpu_count": len(found.gpus) == int(row["gpu_count"]),
        "vram_class_gb": (one_size or "+".join(sizes)) == row["vram_class_gb"],
        "vram_total_class_gb": (found.total_class_gb or 0) == int(row["vram_total_class_gb"]),
        "unified_memory": any(gpu.is_unified for gpu in found.gpus)
        == (row["unified_memory"] == "yes"),
    }
    return [column for column, holds in claims.items() if not holds]


def test_the_case_file_is_whole() -> None:
    assert len(rows()) == 53


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_a_machine_string_from_the_field_is_read_right(row: dict[str, str]) -> None:
    wrong = wrong_columns(row, parsed(row))
    if row["id"] in NOT_YET_RIGHT:
        assert wrong, "right now: take it out of NOT_YET_RIGHT"
    else:
        assert wrong == []


def test_a_kernel_of_microsoft_is_wsl() -> None:
    row = next(row for row in rows() if row["id"] == "H033")
    assert parsed(row).is_wsl
