"""The names of the hand-made table."""

from __future__ import annotations

import pytest

from bench_loop.names.parse import parse_model
from tests.names.own_names import Row, rows, wrong_fields


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.raw)
def test_a_name_is_read_right(row: Row) -> None:
    assert wrong_fields(row, parse_model(row.raw, provider=row.provider)) == []
