"""The order of a matrix: every trial once, and what changes slowly falls on all arms alike."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from bench_loop.engine.blocks import blocks
from bench_loop.engine.matrix_pace import MatrixPace
from bench_loop.engine.plan import make_plan, only_tasks
from bench_loop.errors import UsageError


def order(suites: list[str], arms: int, trials: int | None = None) -> list[tuple[str, int, int]]:
    plan = make_plan(suites=suites, trials=trials)
    return [(block.suite, block.trial, block.arm) for block in blocks(plan, arms)]


def test_over_the_trials_of_a_suite_the_arms_go_forth_and_back() -> None:
    assert order(["agent"], 3, 3) == [
        *[("agent", 1, arm) for arm in (0, 1, 2)],
        *[("agent", 2, arm) for arm in (2, 1, 0)],
        *[("agent", 3, arm) for arm in (0, 1, 2)],
    ]


def test_over_the_suites_of_a_trial_they_do_too() -> None:
    assert order(["agent", "reasonmath"], 2, 2) == [
        *[("agent", 1, arm) for arm in (0, 1)],
        *[("reasonmath", 1, arm) for arm in (1, 0)],
        *[("agent", 2, arm) for arm in (1, 0)],
        *[("reasonmath", 2, arm) for arm in (0, 1)],
    ]


def test_each_suite_has_the_trials_of_its_own() -> None:
    found = order(["agent", "reasonmath"], 2)
    assert Counter((suite, trial) for suite, trial, _ in found) == {
        ("agent", 1): 2,
        ("agent", 2): 2,
        ("agent", 3): 2,
        ("reasonmath", 1): 2,
    }


@pytest.mark.parametrize("arms", [1, 2, 3, 7])
@pytest.mark.parametrize("trials", [1, 2, 4])
def test_each_trial_of_each_arm_is_in_one_block(arms: int, trials: int) -> None:
    plan = make_plan(suites=["agent", "dataextract", "reasonmath"], trials=trials)
    found = blocks(plan, arms)
    assert [block.number for block in found] == list(range(1, len(found) + 1))
    for arm in range(arms):
        held = [(t, b.trial) for b in found if b.arm == arm for t in b.task_ids]
        assert sorted(held) == sorted((task.id, n) for _, task, n in plan.quality_trials)


def test_with_an_even_number_of_trials_no_arm_comes_sooner_than_another() -> None:
    places: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, (suite, _, arm) in enumerate(order(["agent", "dataextract"], 4, 4)):
        places[suite, arm].append(at)
    for suite in ("agent", "dataextract"):
        assert len({sum(places[suite, arm]) for arm in range(4)}) == 1


def test_only_the_tasks_that_are_named_are_run() -> None:
    plan = make_plan(suites=["agent", "reasonmath"])
    few = only_tasks(plan, ["agent.spare-key", "agent.closing-time"])
    (suite,) = few.suites
    assert [task.id for task in suite.tasks] == ["agent.closing-time", "agent.spare-key"]
    assert few.quality_counts == {"agent": 6}
    with pytest.raises(UsageError, match=r"agent\.spare-kye"):
        only_tasks(plan, ["agent.spare-kye"])


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_is_learned_block_by_block() -> None:
    found = blocks(make_plan(suites=["agent"], trials=2), 2)
    clock = Clock()
    pace = MatrixPace(dict.fromkeys(found, 10.0), clock)
    low, high = pace.left_s() or (0.0, 0.0)
    assert low < 40 < high
    for block, seconds in zip(found[:2], (30.0, 50.0), strict=True):
        with pace.timed(block):
            clock.now += seconds
    # Each arm's second block will be as its first; both kinds are known now.
    low_now, high_now = pace.left_s() or (0.0, 0.0)
    assert low_now < 80 < high_now
    assert high_now / low_now < high / low
    for block in found[2:]:
        pace.leave_out(block, 40.0)
    assert pace.left_s() == (0.0, 0.0)


def test_what_was_expected_of_others_is_corrected_by_what_they_took() -> None:
    first, second = blocks(make_plan(suites=["agent"], trials=1), 2)
    clock = Clock()
    pace = MatrixPace({first: 10.0, second: 40.0}, clock)
    with pace.timed(first):
        clock.now += 20.0
    low, high = pace.left_s() or (0.0, 0.0)
    assert (low * high) ** 0.5 == pytest.approx(80.0)


def test_blocks_of_an_earlier_part_teach_too_and_only_once() -> None:
    found = blocks(make_plan(suites=["agent"], trials=2), 2)
    pace = MatrixPace(dict.fromkeys(found, 10.0), Clock())
    for block, seconds in zip(found[:2], (30.0, 50.0), strict=True):
        pace.leave_out(block, seconds)
    left = low, high = pace.left_s() or (0.0, 0.0)
    assert (low * high) ** 0.5 == pytest.approx(80.0)
    pace.leave_out(found[0], 500.0)
    assert pace.left_s() == left


def test_where_a_speed_is_not_known_nothing_is_said() -> None:
    first, second = blocks(make_plan(suites=["agent"], trials=1), 2)
    assert MatrixPace({first: 10.0, second: None}).left_s() is None
