"""`bench-loop matrix` from the command line: what it says beforehand, and what it refuses."""

from __future__ import annotations

import pytest

from bench_loop.cli import main
from bench_loop.commands._matrix_work import MatrixWork
from bench_loop.config import home, results_folder
from bench_loop.engine.matrix import PAGE, newest_matrix
from bench_loop.result.store import LATEST, load
from bench_loop.simulator.scripted import scripted_model
from bench_loop.simulator.settings import Program, say

WIDE = Program(window=65_536, tokens_per_chunk=8)


def matrix(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["matrix", *arguments])
    return ended.value.code if isinstance(ended.value.code, int) else 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "needs --models and --harnesses"),
        (("--models", "a"), "needs --models and --harnesses"),
        (("--models", ",", "--harnesses", "raw"), "No model is named"),
        (("--models", "a,a", "--harnesses", "raw"), "'a' is named twice"),
        (("--models", "a", "--harnesses", "raw,raw"), "'raw' is named twice"),
        (("--models", "a", "--harnesses", "raw,gose"), "goose"),
        (("--models", "a", "--harnesses", "raw", "--suites", "speed"), "no suite of a matrix"),
        (("--models", "a", "--harnesses", "raw", "--suites", "agnet"), "agent"),
        (("--models", "a", "--harnesses", "raw", "--tasks", "agent.spare-kee"), "spare-key"),
        (("--models", "a", "--harnesses", "goose", "--suites", "agent"), "harness install goose"),
        (("--resume", "--models", "a"), "Leave --models out"),
        (("--resume", "--plan"), "Leave --plan out"),
        (("--show", "--trials", "1"), "Leave --trials out"),
        (("--resume",), "no matrix to go on with"),
        (("--resume", "x"), "no matrix 'x'"),
        (("--show",), "no matrix yet"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_run(
    arguments: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert matrix(*arguments) in (2, 3)
    assert word in capsys.readouterr().err
    assert not (home() / "matrices").exists()


def test_the_plan_is_told_without_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--models", "a,b", "--harnesses", "raw", "--suites", "agent,reasonmath")
    assert matrix(*arguments, "--plan") == 0
    told = capsys.readouterr().err
    assert "2 models x 1 harness: 2 arms, 102 trials in 8 blocks, window 8,192" in told
    assert "trials of each arm: agent 36, reasonmath 15" in told
    assert not (home() / "matrices").exists()


def test_what_a_plan_has_to_leave_out_is_told_beforehand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MatrixWork, "refuse_unready", lambda *_: None)  # nothing is installed here
    arguments = ("--models", "a", "--harnesses", "raw,hermes", "--suites", "agent", "--plan")
    assert matrix(*arguments, "--context-window", "8192") == 0
    assert "hermes needs a window of 64,000: it will be left out" in capsys.readouterr().err
    assert matrix(*arguments, "--context-window", "8192", "--force") == 0
    assert "left out" not in capsys.readouterr().err


def test_a_matrix_of_which_nothing_came_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_model((say("ANSWER: 84 litres"),), WIDE) as model:
        server = ("--provider", "openai_compat", "--endpoint", model.address)
        assert matrix("--models", "nope", "--harnesses", "raw", "--suites", "agent", *server) == 5
    told = capsys.readouterr().err
    assert "has no model 'nope'" in told
    assert "--resume" not in told
    assert list((home() / "matrices").iterdir()) == []


def test_it_ends_with_the_run_of_each_arm(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_model((say("ANSWER: 84 litres"),), WIDE) as model:
        arguments = ["--models", model.model_id, "--harnesses", "raw", "--trials", "1"]
        task = ("--tasks", "reasonmath.rain-tank-overflow")
        server = ("--provider", "openai_compat", "--endpoint", model.address)
        assert matrix(*arguments, *task, *server) == 0
    told = capsys.readouterr()
    run_id = load(results_folder() / LATEST).run_id
    assert f"{model.model_id} in raw: {run_id}" in told.err
    assert f"block 1 of 1: {model.model_id} in raw, reasonmath, trial 1" in told.out
    assert "[1/1] raw             fail      rain-tank-overflow" in told.out


def test_raw_on_an_ollama_asks_by_the_api_and_has_the_window_of_the_harnesses() -> None:
    task = "reasonmath.rain-tank-overflow"
    with scripted_model((say("ANSWER: 84 litres"),), WIDE, dialect="ollama") as model:
        of_server = ["--provider", "ollama", "--endpoint", model.address]
        arguments = ["--models", model.model_id, "--harnesses", "raw", "--tasks", task]
        assert matrix(*arguments, *of_server, "--trials", "1") == 0
        paths = [one.path for one in model.chats()]
    # One loads the model as a program's request does, the other is the task's.
    assert paths.count("/v1/chat/completions") == 2
    result = load(results_folder() / LATEST)
    assert result.settings.context_window == WIDE.window
    assert result.subject.context.loaded == WIDE.window


def test_a_page_that_cannot_be_written_hides_neither_the_figures_nor_the_reasons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--harnesses", "raw", "--tasks", "reasonmath.rain-tank-overflow", "--trials", "1"]
    with scripted_model((say("ANSWER: 84 litres"),), WIDE) as model:
        of_server = ["--provider", "openai_compat", "--endpoint", model.address]
        assert matrix("--models", model.model_id, *arguments, *of_server) == 0
    page = newest_matrix() / PAGE
    page.unlink()
    page.mkdir()
    assert matrix("--show") == 0
    told = capsys.readouterr()
    assert f"No page: {page}" in told.err
    assert "Model x harness x suite" in told.out
