"""What a program tells of itself becomes plain values under names."""

from __future__ import annotations

from bench_loop.programs.metadata import MOST, flat


def test_a_nested_value_has_its_path_for_a_name() -> None:
    assert flat({"usage": {"input": 3, "cost": {"total": 0.5}}}) == {
        "usage.input": 3,
        "usage.cost.total": 0.5,
    }


def test_a_list_of_plain_values_becomes_one_text() -> None:
    assert flat({"tools": ["read", "write", {"odd": 1}]}) == {"tools": "read, write"}


def test_null_and_truth_stay() -> None:
    assert flat({"ok": True, "error": None}) == {"ok": True, "error": None}


def test_there_are_at_most_so_many() -> None:
    assert len(flat({str(number): number for number in range(1000)})) == MOST


def test_what_is_too_deep_is_left_out() -> None:
    assert flat({"a": {"b": {"c": {"d": {"e": 1}}}}}) == {}
