"""The simulation behind docs/statistics.md, with fewer draws and wide margins."""

from __future__ import annotations

import re

import pytest

from bench_loop.scoring.constants import SCORING_VERSION
from scripts.simulate import LAYOUTS, PAGE, called_apart, coverage, race
from scripts.simulate_harnesses import change_found, falsely_called, seconds_held

CORE = LAYOUTS["core, 87 tasks in 7"]


@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("name", ["smoke, 16 tasks in 7", "core of today, 3 of 6"])
def test_the_quality_interval_holds_the_truth(name: str, p: float, trials: int) -> None:
    # 93 % less three standard errors of 300 draws is 88.6 %.
    assert coverage(LAYOUTS[name], p, trials, "alike", 300, seed=1).share >= 0.886


def test_it_is_not_bought_by_width() -> None:
    # 18 tasks at p = 0.3: a plain normal interval would be 42 points wide.
    assert coverage(LAYOUTS["core of today, 3 of 6"], 0.3, 1, "alike", 100, seed=1).width <= 44


def test_a_gap_of_25_points_is_seen_and_none_is_not() -> None:
    better, worse = called_apart(CORE, 0.3, 0.25, 1, 60, seed=1)
    assert better >= 0.65
    assert worse == 0
    better, worse = called_apart(CORE, 0.3, 0.0, 1, 60, seed=1)
    assert better + worse <= 0.15


def test_a_race_seldom_ends_with_the_wrong_model() -> None:
    assert race((0.5, 0.5, 0.5), 40, 200, seed=1).wrong <= 0.08
    found = race((0.8, 0.2), 30, 200, seed=1)
    assert found.right >= 0.9
    assert found.tasks < 25


def test_what_a_harness_changes_is_held_by_the_interval() -> None:
    # 95 % less three standard errors of 200 draws is 90.4 %.
    for change in (-0.4, 0.0):
        assert change_found((12,), change, 200, seed=1).held >= 0.904
    assert change_found((12, 12, 12), -0.4, 40, seed=1).called >= 0.9


def test_a_matrix_without_any_change_seldom_says_that_there_is_one() -> None:
    alone, together = falsely_called(5, 4, 40, seed=1)
    assert alone >= 0.2
    assert together <= 0.15


def test_the_more_unlike_the_tasks_the_less_an_interval_of_seconds_holds() -> None:
    assert seconds_held(0.3, 1000, seed=1) >= 0.92
    assert 0.8 <= seconds_held(1.0, 1000, seed=1) <= 0.89


def test_the_page_is_of_this_scoring_version_and_meets_its_bar() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"version {SCORING_VERSION}," in text
    coverages = re.findall(r"([\d.]+) % \(\d+\)", text.split("## Two runs")[0])
    assert len(coverages) == 100
    assert min(map(float, coverages)) >= 93.0
