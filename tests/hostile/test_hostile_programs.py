"""Tests that hostile programs are contained: their outcome and what they did outside."""

from __future__ import annotations

import pytest

from tests.components import need_bubblewrap, need_docker, need_root
from tests.hostile.rows import COLUMNS, NAKED, ROWS, Column, attempt, is_contained

pytestmark = pytest.mark.real

LEAKS = [7, 8, 9, 10, 11, 12, 13, 20, 21]
"""Rows in which a program that has resource limits only does harm that must be seen."""


def need(column: Column) -> None:
    if column.sandbox == "docker":
        need_docker()
    elif column.is_root:
        need_root()
    if column.sandbox == "bubblewrap":
        need_bubblewrap()


CLAIMS = [
    pytest.param(name, number, id=f"{name}-{number}-{row}")
    for name, column in COLUMNS.items()
    for number, row in ROWS.items()
    if number not in column.unclaimed
]


@pytest.mark.parametrize(("name", "number"), CLAIMS)
def test_a_hostile_program_is_contained(name: str, number: int) -> None:
    column = COLUMNS[name]
    need(column)
    seen = attempt(column, ROWS[number])
    assert is_contained(ROWS[number], seen), seen


@pytest.mark.parametrize("number", LEAKS, ids=[ROWS[number] for number in LEAKS])
def test_harm_that_is_done_is_seen(number: int) -> None:
    assert not is_contained(ROWS[number], attempt(NAKED, ROWS[number]))
