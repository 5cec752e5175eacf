"""Tests of how tests are put into groups."""

from __future__ import annotations

import pytest

from tests.groups import group_of


@pytest.mark.parametrize(
    ("folder", "marks", "group"),
    [
        ("scoring", set(), "unit"),
        ("scoring", {"slow"}, "unit"),
        ("providers", {"real"}, "engine"),
        ("sandboxes", set(), "sandbox"),
        ("hostile", {"real"}, "sandbox"),
        ("site", {"django_db"}, "site"),
        ("site", {"django_db", "real"}, "site"),
        ("api", {"real", "slow"}, "api"),
        ("look", {"browser", "real"}, "browser"),
        ("journey", {"real"}, "browser"),
        ("wheel", {"real", "slow"}, "wheel"),
    ],
)
def test_a_test_belongs_to_one_group(folder: str, marks: set[str], group: str) -> None:
    assert group_of(folder, marks) == group
