"""The names of the hand-made tables."""

from __future__ import annotations

import json

import pytest

from bench_loop.names.parse import parse_model
from bench_loop.providers.saved.facts import facts_from
from tests.names.own_names import Row, rows, wrong_fields


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.raw)
def test_a_name_is_read_right(row: Row) -> None:
    facts = facts_from(row.raw, json.loads(row.said)) if row.said else None
    assert wrong_fields(row, parse_model(row.raw, facts, provider=row.provider)) == []
