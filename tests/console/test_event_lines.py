"""Events as lines of JSON: what a program reads of a run that goes on."""

from __future__ import annotations

import json

from bench_loop.engine.events import Forecasted, SpeedPlanned
from bench_loop.engine.forecast import TimeLeft
from bench_loop.engine.speed_plans import Rates
from bench_loop.report.event_lines import event_line


def test_what_is_left_of_a_run_is_an_object_of_its_seconds() -> None:
    line = event_line(Forecasted(TimeLeft(10.0, 20.0, 30.0, next_s=6.0, timed_trials=2)))
    assert json.loads(line) == {
        "event": "forecasted",
        "left": {"low": 10.0, "expected": 20.0, "high": 30.0, "next_s": 6.0, "timed_trials": 2},
    }


def test_the_speeds_of_the_calibration_come_with_the_speed_plan() -> None:
    line = event_line(SpeedPlanned("minimum", 12.4, 8, Rates(400.0, 20.0)))
    assert json.loads(line)["rates"] == {"prompt_tps": 400.0, "generation_tps": 20.0}
