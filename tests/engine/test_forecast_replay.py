"""The forecast against whole runs that were recorded, real and simulated, trial by trial.

`python -m scripts.forecast FILE...` prints the same figures; with `--record` it makes another one.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from scripts.forecast import Trace, predicted_at, replay

TRACES = {
    file.stem: Trace.read(file)
    for file in (Path(__file__).parent.parent / "fixtures/forecast").glob("*.json")
}
BAR = 0.25
"""Largest error of the total that is predicted when a fifth of it is over."""
RESTLESS_BAR = 0.30
RESTLESS = {"smollm2-quick", "qwen-smoke"}
"""Recorded while other work made the machine two to three times slower, or quicker, during the run:
nothing seen in the first fifth can tell of that."""

every_trace = pytest.mark.parametrize("name", sorted(TRACES))


def test_there_are_traces_of_both_models_and_of_the_simulator() -> None:
    assert {"smollm2", "qwen", "simulator"} <= {name.split("-")[0] for name in TRACES}


@every_trace
def test_the_total_predicted_at_a_fifth_of_the_run_is_close(name: str) -> None:
    trace = TRACES[name]
    said = predicted_at(trace, 0.2)
    assert said is not None
    assert abs(said.total_s / trace.ended_s - 1) <= (RESTLESS_BAR if name in RESTLESS else BAR)


@every_trace
def test_the_range_told_at_a_fifth_of_the_run_holds_the_truth(name: str) -> None:
    trace = TRACES[name]
    said = predicted_at(trace, 0.2)
    assert said is not None
    assert said.at_s + said.left.low <= trace.ended_s <= said.at_s + said.left.high


@every_trace
def test_at_four_fifths_the_total_is_known_well(name: str) -> None:
    trace = TRACES[name]
    said = predicted_at(trace, 0.8)
    assert said is not None
    assert said.total_s == pytest.approx(trace.ended_s, rel=0.15)


@every_trace
def test_after_a_fifth_no_trial_changes_the_total_by_more_than_a_third(name: str) -> None:
    trace = TRACES[name]
    late = [one for one in replay(trace) if one.at_s >= 0.2 * trace.ended_s]
    for before, now in pairwise(late):
        assert now.total_s == pytest.approx(before.total_s, rel=1 / 3)


@every_trace
def test_nothing_is_left_at_the_end(name: str) -> None:
    *_, last = replay(TRACES[name])
    assert last.left.expected == 0
    assert last.left.timed_trials == 0
