"""The display of a matrix that goes on: who has the model, what each arm has, what is left."""

from __future__ import annotations

import io
import re

from rich.console import Console

from bench_loop.console import THEME
from bench_loop.engine.events import BlockStarted, RunStarted, TrialFinished, TrialStarted
from bench_loop.report.matrix_progress import ArmSoFar, MatrixProgress
from bench_loop.result.records import Trial
from tests.console.make_run import make_trial

NODES = ("qwen3:8b Q4_K_M", "llama.cpp b7421", "gateway", "goose 1.50.0", "verifier")


class Clock:
    """A clock that goes on only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Stage:
    """The display of a matrix on a stream, and a short way to tell it of blocks."""

    def __init__(
        self,
        *,
        is_terminal: bool,
        width: int = 80,
        height: int = 24,
        models: tuple[str, ...] = ("qwen3:8b",),
        harnesses: tuple[str, ...] = ("raw", "goose"),
        planned: int = 4,
    ) -> None:
        self.stream = io.StringIO()
        self.clock = Clock()
        screen = Console(
            file=self.stream,
            theme=THEME,
            width=width,
            height=height,
            force_terminal=is_terminal,
            force_interactive=is_terminal,
            markup=False,
            _environ={"TERM": "xterm"},
        )
        self.arms = [ArmSoFar(model, name, planned) for model in models for name in harnesses]
        self.progress = MatrixProgress(screen, self.arms, clock=self.clock)

    def block(
        self,
        harness: str,
        *outcomes: str,
        model: str = "qwen3:8b",
        trial: int = 1,
        left_s: tuple[float, float] | None = (60.0, 240.0),
        kept: tuple[Trial, ...] = (),
    ) -> None:
        self.progress(BlockStarted(1, 4, model, harness, "agent", trial, left_s))
        self.progress.show_path(NODES)
        self.progress(RunStarted("id", model, len(outcomes), kept=kept))
        for number, outcome in enumerate(outcomes, start=1):
            self.progress(TrialStarted(number, "agent", f"agent.task-{number}", is_timed=False))
            self.clock.now += 2.0
            done = make_trial("agent", number, outcome, latency_s=2.0, trial=trial)
            self.progress(TrialFinished(number, done, None))

    def told(self) -> str:
        """All that was written, without its colours."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.stream.getvalue())

    def last_frame(self) -> str:
        """What stands on the terminal now."""
        told = self.told()
        return told[told.rindex(NODES[0]) :]


def test_a_terminal_shows_all_arms_and_marks_the_one_that_has_the_model() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress:
        stage.block("raw", "pass", "fail")
        stage.block("goose", "pass")
        frame = stage.last_frame()
    assert re.search(r"^  raw +■×··  1 of 2 passed +2.0 s each$", frame, re.M)
    assert re.search(r"^▷ goose +■···  1 of 1 passed +2.0 s each$", frame, re.M)
    assert "3 of 8 trials   1 to 4 min left   6 s so far" in frame
    assert "goose  agent, trial 1  task-1" in frame
    assert frame.rstrip().splitlines()[-1].startswith("× fail  nested-enum-3: ")


def test_what_is_left_is_told_for_one_model_where_more_are_to_come() -> None:
    stage = Stage(is_terminal=True, models=("qwen3:8b", "gemma3:12b"))
    with stage.progress:
        stage.block("raw", "pass", left_s=(10.0, 40.0))
        assert "8 to 38 s left for this model, 1 more to come" in stage.last_frame()
        stage.block("raw", "pass", model="gemma3:12b", left_s=(10.0, 40.0))
        assert "8 to 38 s left   4 s so far" in stage.last_frame()


def test_a_block_that_outlasts_every_expectation_says_so() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress:
        stage.block("raw", "pass", left_s=(0.5, 1.5))
        assert "longer than expected" in stage.last_frame()


def test_the_trials_of_other_blocks_stay_and_those_of_a_block_begun_again_count_once() -> None:
    stage = Stage(is_terminal=False)
    first = make_trial("agent", 1, "pass", trial=2)
    lost = make_trial("agent", 2, "infrastructure_error", trial=2)
    stage.arms[0].trials = [make_trial("agent", 1, "pass", trial=1), first, lost]
    with stage.progress:
        stage.block("raw", "fail", trial=2, kept=(first,))
    assert [(one.trial, one.outcome) for one in stage.arms[0].trials] == [
        (1, "pass"),
        (2, "pass"),
        (2, "fail"),
    ]


def test_many_trials_are_shown_by_their_shares() -> None:
    stage = Stage(is_terminal=True, planned=144)
    with stage.progress:
        stage.block("raw", *["pass"] * 36, *["fail"] * 36)
        row = next(
            line for line in stage.last_frame().splitlines() if "raw" in line and "▷" in line
        )
    cells = row[16:49]
    assert (cells.count("■"), cells.count("×"), cells.count("·")) == (8, 8, 17)
    assert "36 of 72 passed" in row


def test_a_single_pass_among_many_trials_is_seen() -> None:
    stage = Stage(is_terminal=True, planned=144)
    with stage.progress:
        stage.block("raw", "pass", *["fail"] * 6)
        row = next(line for line in stage.last_frame().splitlines() if "▷" in line)
    assert (row.count("■"), row.count("×")) == (1, 1)


def test_the_time_that_went_by_is_whole_on_a_narrow_terminal() -> None:
    stage = Stage(is_terminal=True, width=70, models=("qwen3:8b", "gemma3:12b"), planned=504)
    with stage.progress:
        stage.block("raw", "pass", left_s=(120.0, 780.0))
        lines = stage.last_frame().splitlines()
    assert "1 of 2,016 trials   2 to 13 min left for this model, 1 more to come" in lines
    assert "2 s so far" in lines


def test_models_that_do_not_run_take_one_row_where_the_screen_is_too_low() -> None:
    harnesses = ("raw", "goose", "aider", "continue")
    models = ("qwen3:8b", "gemma3:12b", "phi4:14b")
    stage = Stage(is_terminal=True, models=models, harnesses=harnesses)
    with stage.progress:
        stage.block("raw", "pass", "fail")
        stage.block("raw", "pass", model="gemma3:12b")
        rows = stage.last_frame().splitlines()
    assert "qwen3:8b  1 of 2 passed in 4 harnesses" in rows
    assert "phi4:14b  waits" in rows
    assert sum(row.lstrip("▷ ").startswith("raw") for row in rows) == 2  # and what runs now
    assert len(rows) < 24


def test_no_line_is_wider_than_the_terminal() -> None:
    for columns in (40, 50, 60, 80, 100):
        stage = Stage(is_terminal=True, width=columns, planned=84)
        with stage.progress:
            stage.block("raw", "pass", "fail")
        assert all(len(line) <= columns for line in stage.told().replace("\r", "\n").splitlines())


def test_an_arm_that_is_not_run_is_told_and_counts_for_nothing() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress:
        stage.progress.leave_out("qwen3:8b", "goose", "It needs 64,000 tokens.")
        stage.block("raw", "pass")
        frame = stage.last_frame()
    assert "qwen3:8b in goose is not run: It needs 64,000 tokens." in stage.told()
    assert re.search(r"^  goose +not run$", frame, re.M)
    assert "1 of 4 trials" in frame


def test_a_pipe_gets_a_line_for_each_block_and_each_trial() -> None:
    stage = Stage(is_terminal=False)
    with stage.progress:
        stage.block("raw", "pass", "fail")
        stage.block("goose", "pass", left_s=None)
    lines = stage.told().splitlines()
    assert lines[0] == "block 1 of 4: qwen3:8b in raw, agent, trial 1, 1 to 4 min left"
    assert lines[1].startswith("[1/8] raw             pass")
    assert lines[2].startswith("[2/8] raw             fail")
    assert lines[3] == "block 1 of 4: qwen3:8b in goose, agent, trial 1"
    assert lines[4].startswith("[3/8] goose           pass")


def test_a_hidden_display_leaves_nothing_and_comes_back_with_the_next_block() -> None:
    stage = Stage(is_terminal=True)
    with stage.progress:
        stage.block("raw", "pass")
        stage.progress.hide()
        at = len(stage.told())
        stage.progress.show_path(NODES)
        assert stage.told()[at:] == ""
        stage.block("goose", "pass")
        assert "2 of 8 trials" in stage.last_frame()


def test_hostile_names_are_harmless() -> None:
    model = "evil\x1b]0;owned\x07"
    stage = Stage(is_terminal=False, models=(model,))
    with stage.progress:
        stage.block("raw", "pass", model=model)
    assert "\x1b]" not in stage.stream.getvalue()
    assert "\\x1b" in stage.told()
