"""The display of a run that goes on: honest about time, silent while something is timed."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from bench_loop.console import THEME
from bench_loop.engine.events import (
    Forecasted,
    RunFinished,
    RunStarted,
    SpeedPlanned,
    TrialFinished,
    TrialStarted,
)
from bench_loop.engine.forecast import TimeLeft
from bench_loop.report.progress import REFRESH_S, RunProgress
from tests.console.make_run import make_run, make_trial

PLANNED = {"reasonmath": 3, "loop_schema": 2}
NODES = ("qwen3.5:27b Q4_K_M", "llama.cpp b7421", "raw 1", "verifier")


class Clock:
    """A clock that goes on only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Stage:
    """A progress display on a stream, and a short way to tell it of trials."""

    def __init__(self, *, is_terminal: bool, width: int = 88) -> None:
        self.stream = io.StringIO()
        self.clock = Clock()
        screen = Console(
            file=self.stream,
            theme=THEME,
            width=width,
            height=40,
            force_terminal=is_terminal,
            markup=False,
            _environ={"TERM": "xterm"},
        )
        self.progress = RunProgress(screen, planned=PLANNED, nodes=NODES, clock=self.clock)
        self.number = 0

    def begin(self, suite: str, task_id: str, *, is_timed: bool = False) -> None:
        self.number += 1
        self.progress(TrialStarted(self.number, suite, task_id, is_timed))

    def trial(
        self, suite: str, outcome: str | None, seconds: float = 3.2, **changes: object
    ) -> None:
        trial = make_trial(suite, self.number, outcome, latency_s=seconds, **changes)
        self.begin(suite, trial.task_id)
        self.clock.now += seconds
        self.progress(TrialFinished(self.number, trial, 40.6))

    def last_frame(self) -> str:
        """What stands on the terminal now, without its colours."""
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.stream.getvalue())
        return text[text.rindex(NODES[0]) :]


def test_a_pipe_gets_one_line_for_each_finished_trial() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress as progress:
        progress(RunStarted("id", "qwen3.5:27b", 5))
        stage.trial("reasonmath", "pass", task_id="reasonmath.rain-tank-overflow")
        stage.trial("reasonmath", "fail", task_id="reasonmath.two-trains")
    assert stage.stream.getvalue().splitlines() == [
        "qwen3.5:27b Q4_K_M <-> llama.cpp b7421 <-> raw 1 <-> verifier",
        "[1/5] reasonmath      pass      rain-tank-overflow  3.2 s  41 tok/s",
        "[2/5] reasonmath      fail      two-trains  3.2 s  41 tok/s  wrong_value",
    ]


def test_the_total_grows_when_the_speed_plan_is_chosen() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress as progress:
        progress(RunStarted("id", "qwen3.5:27b", 5))
        progress(SpeedPlanned("minimum", 12.4, 8))
        stage.trial("speed", None, task_id="p1024x64", reason=None)
    assert stage.stream.getvalue().splitlines()[1:] == [
        "speed plan minimum: 3 trials, about 12 s",
        "[1/8] speed           measured  p1024x64  3.2 s  41 tok/s",
    ]


def sustained(stage: Stage, requests: int) -> None:
    """A plan of three shapes, then so many requests of a sustained load, a second each."""
    stage.progress(RunStarted("id", "qwen3.5:27b", 0))
    stage.progress(SpeedPlanned("minimum", 12.4, 3))
    for _ in range(3):
        stage.trial("speed", None, task_id="p1024x64", reason=None)
    for _ in range(requests):
        stage.trial("speed", None, seconds=1.0, task_id="s-p128x64", reason=None)


def test_a_sustained_load_is_told_from_time_to_time_and_not_by_its_hundreds_of_requests() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress:
        sustained(stage, 120)
    assert stage.stream.getvalue().splitlines()[-5:] == [
        "[3/3] speed           measured  p1024x64  3.2 s  41 tok/s",
        *["      speed           sustained  41 tok/s"] * 4,
    ]


def test_requests_of_a_sustained_load_have_no_cells() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(RunStarted("id", "qwen3.5:27b", 0))
        sustained(stage, 120)
        stage.begin("speed", "s-p128x64")
        frame = stage.last_frame()
    assert "3 of 3" in frame
    assert "Sustained load" in frame


def test_text_of_a_trial_cannot_steer_the_terminal() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress:
        stage.trial("reasonmath", "fail", task_id="x\x1b[2Jy", reason="\x1b]0;z\x07")
    assert "\x1b" not in stage.stream.getvalue()
    assert r"x\x1b[2Jy" in stage.stream.getvalue()


def test_the_terminal_shows_tapes_counts_and_the_trial_at_work() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(RunStarted("id", "qwen3.5:27b", 5))
        stage.trial("reasonmath", "pass")
        stage.trial("reasonmath", "truncated")
        stage.begin("reasonmath", "reasonmath.night-shift")
        frame = stage.last_frame()
    assert "reasonmath      ■◨▷  1 of 2" in frame
    assert "loop_schema     ··   waits" in frame
    assert "3 of 5   reasonmath  night-shift" in frame


def test_what_was_lost_last_is_told_with_its_sentence() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress:
        stage.trial("reasonmath", "fail", task_id="reasonmath.two-trains")
        assert "× fail  two-trains: The answer is 12.5 L and 15 L was expected." in (
            stage.last_frame()
        )


def test_time_left_is_not_told_before_it_is_known() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(SpeedPlanned("minimum", 12.4, 8))
        stage.trial("reasonmath", "pass")
        assert " left" not in stage.stream.getvalue()


def test_time_left_is_a_range_that_shrinks_while_a_trial_goes_on() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(Forecasted(TimeLeft(10.0, 20.0, 30.0, next_s=6.0)))
        stage.begin("loop_schema", "loop_schema.a")
        assert "10 to 30 s left" in stage.last_frame()
        stage.clock.now += 5
        progress.note("")
        assert "5 to 25 s left" in stage.last_frame()


def test_time_left_does_not_run_out_while_a_trial_is_late() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(Forecasted(TimeLeft(10.0, 20.0, 30.0, next_s=6.0)))
        stage.begin("loop_schema", "loop_schema.a")
        stage.clock.now += 66
        progress.note("")
        # 6 s of it were expected; 60 s late, 30 s more of it are to come.
        assert "34 to 54 s left" in stage.last_frame()


def test_a_pipe_is_told_once_how_long_the_run_will_take() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress as progress:
        progress(SpeedPlanned("minimum", 12.4, 8))
        for left in (TimeLeft(100.0, 150.0, 200.0), TimeLeft(90.0, 140.0, 190.0)):
            progress(Forecasted(left))
    assert stage.stream.getvalue().splitlines()[-2:] == [
        "speed plan minimum: 3 trials, about 12 s",
        "2 to 3 min to go",
    ]


def test_elapsed_time_is_in_whole_seconds_then_minutes_then_hours() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress:
        for seconds, shown in ((4.9, "4 s"), (70.2, "1 min 15 s"), (3700.0, "1 h 2 min")):
            stage.clock.now += seconds
            stage.progress.note("")
            assert f"{shown} so far" in stage.last_frame()


def test_nothing_is_drawn_while_a_speed_trial_is_timed() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(SpeedPlanned("minimum", 12.4, 8))
        stage.begin("speed", "p1024x64", is_timed=True)
        before = stage.stream.getvalue()
        progress.note("nothing of this may be drawn")
        time.sleep(3 * REFRESH_S)
        assert stage.stream.getvalue() == before
        trial = make_trial("speed", 0, None, task_id="p1024x64", reason=None)
        progress(TrialFinished(1, trial, 41.2))
        assert stage.stream.getvalue() != before


def test_a_narrow_terminal_keeps_the_counts_and_drops_the_tapes() -> None:
    stage = Stage(is_terminal=True, width=50)
    with stage.progress:
        stage.trial("reasonmath", "pass")
        frame = stage.last_frame()
    assert "reasonmath      1 of 1" in frame
    assert "■" not in frame


def test_the_display_goes_away_when_the_run_is_done() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(RunStarted("id", "qwen3.5:27b", 5))
    assert stage.stream.getvalue().endswith("\x1b[2K")


def test_a_run_that_is_cut_short_says_what_is_kept() -> None:
    stage = Stage(is_terminal=False)
    file = Path("results/x.json")
    stage.trial("reasonmath", "pass")
    stage.progress(RunFinished(make_run(status="aborted"), file))
    with pytest.raises(KeyboardInterrupt), stage.progress:
        raise KeyboardInterrupt
    assert stage.stream.getvalue().endswith("Finished trials are kept in results/x.json\n")
    assert stage.progress.file == file


def test_repeats_that_are_expected_are_counted_and_those_that_are_not_any_more_go() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress as progress:
        progress(RunStarted("id", "qwen3.5:27b", 5))
        progress(SpeedPlanned("headline", 10.0, 6))
        stage.trial("speed", None, 10.0, finish_reason="length")
        progress(Forecasted(TimeLeft(40.0, 50.0, 60.0, timed_trials=4)))
        stage.begin("speed", "p1024x256")
        frame = stage.last_frame()
        assert "1 of 5" in frame
        assert "2 of 10" in frame
        progress(Forecasted(TimeLeft(20.0, 25.0, 30.0, timed_trials=1)))
        assert "2 of 7" in stage.last_frame()


def test_a_run_that_begins_again_without_its_speed_counts_its_tasks_alone() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress as progress:
        progress(RunStarted("one", "qwen3.5:27b", 5))
        progress(SpeedPlanned("minimum", 12.4, 8))
        progress(RunStarted("two", "qwen3.5:27b", 5))
        stage.trial("reasonmath", "pass")
        progress(Forecasted(TimeLeft(10.0, 20.0, 30.0)))
        stage.trial("reasonmath", "pass")
    lines = stage.stream.getvalue().splitlines()
    assert [line[:5] for line in lines if line.startswith("[")] == ["[1/5]", "[2/5]"]
