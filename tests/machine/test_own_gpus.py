"""The strings of the hand-made table, and that every name is found again by itself."""

from __future__ import annotations

import pytest

from bench_loop.machine.devices import find_device
from bench_loop.machine.reported import parse_gpus
from tests.machine.own_gpus import Row, rows, wrong_columns


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.raw)
def test_a_string_is_read_right(row: Row) -> None:
    system = float(row.system) if row.system else None
    found = parse_gpus(row.raw, row.memory or None, system)
    assert wrong_columns(row, found) == []
    for gpu in found.gpus:
        again = find_device(f"{gpu.vendor or ''} {gpu.name}")
        assert (again.name, again.is_unified) == (gpu.name, gpu.is_unified)
