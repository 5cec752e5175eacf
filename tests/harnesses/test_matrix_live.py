"""`bench-loop matrix` with real programs and a scripted model: what the arms' results say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.engine.matrix import Matrix, newest_matrix, read_matrix
from bench_loop.engine.run_folder import known_run
from bench_loop.errors import UsageError
from bench_loop.result.compare import not_comparable
from bench_loop.result.records import RunResult
from bench_loop.result.store import load
from bench_loop.simulator.scripted import scripted_model
from bench_loop.simulator.settings import Program, say, write
from tests.harnesses.conftest import Find
from tests.harnesses.live import adapter
from tests.processes import ROOT

pytestmark = pytest.mark.real

NOTICE = (
    "REPAIR CAFE\nTuesday 10:00-18:00\nThursday 12:00-19:30\nSaturday 09:30-17:15\n"
    "Please bring your own batteries.\n"
)
DOES_IT = (write("notice.txt", NOTICE), say("ANSWER: 16:00"))
TASKS = "agent.closing-time,agent.spare-key"
"""The script does the first and spoils the second."""
WIDE = Program(window=65_536, tokens_per_chunk=8)


def matrix(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["matrix", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def on(address: str, harnesses: str, *others: str) -> list[str]:
    server = ["--provider", "openai_compat", "--endpoint", address]
    return ["--models", "scripted", "--harnesses", harnesses, "--tasks", TASKS, *server, *others]


def results(found: Matrix) -> dict[str, RunResult]:
    output = Path(found.asked.output)
    return {arm.harness: load(output / f"{arm.run_id}.json") for arm in found.arms}


def test_raw_and_a_program_go_through_the_same_gateway_on_the_same_terms(
    find_installed: Find,
) -> None:
    find_installed(adapter("goose"))
    with scripted_model(DOES_IT, WIDE) as model:
        assert matrix(*on(model.address, "raw,goose", "--trials", "2")) == 0
    found = results(read_matrix(newest_matrix()))
    assert not_comparable(found["raw"], found["goose"], may_harness_differ=True) == ()
    for result in found.values():
        assert result.status == "complete"
        outcomes = {(t.task_id, t.trial): t.outcome for t in result.trials}
        assert outcomes == {
            ("agent.closing-time", 1): "pass",
            ("agent.closing-time", 2): "pass",
            ("agent.spare-key", 1): "fail",
            ("agent.spare-key", 2): "fail",
        }
        for trial in result.trials:
            requests = trial.requests or ()
            assert len(requests) == 2
            assert all(one.t_first_byte_s is not None for one in requests)
            assert [call.name.lower() for call in requests[0].tool_calls] in (
                ["write_file"],
                ["write"],
            )
            is_first = trial.task_id == "agent.closing-time"
            is_at_turn = result is found["goose"] and trial.trial == 2
            assert trial.is_cold is ((None if is_at_turn else True) if is_first else False)
    raw, goose = found["raw"], found["goose"]
    assert all(trial.harness is None for trial in raw.trials)
    assert all(trial.harness is not None for trial in goose.trials)
    ours = [trial.tokens.prompt or 0 for trial in raw.trials]
    theirs = [trial.tokens.prompt or 0 for trial in goose.trials]
    assert all(more > less for less, more in zip(ours, theirs, strict=True))


def test_a_harness_that_needs_a_larger_window_is_told_of_and_left_out(
    find_installed: Find, capsys: pytest.CaptureFixture[str]
) -> None:
    find_installed(adapter("openclaw"))
    small = Program(window=8_192, tokens_per_chunk=8)
    with scripted_model(DOES_IT, small, dialect="llama.cpp") as model:
        assert matrix(*on(model.address, "raw,openclaw", "--trials", "1")) == 5
    raw, refused = read_matrix(newest_matrix()).arms
    assert (raw.state, refused.state) == ("complete", "refused")
    assert refused.needs == ("context_window",)
    assert "needs a window of 16,384 tokens" in capsys.readouterr().err
    result = load(Path(read_matrix(newest_matrix()).asked.output) / f"{raw.run_id}.json")
    assert result.settings.context_window == 8_192


def test_killed_in_the_middle_of_a_block_it_goes_on(
    find_installed: Find,
) -> None:
    find_installed(adapter("goose"))
    slow = Program(window=65_536, tokens_per_chunk=8, decode_tps=60.0)
    with scripted_model(DOES_IT, slow) as model:
        command = [sys.executable, "-m", "bench_loop", "matrix", *on(model.address, "raw,goose")]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            _wait_for_trials(2)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert matrix("--resume") == 0
    for result in results(read_matrix(newest_matrix())).values():
        keys = sorted((trial.task_id, trial.trial) for trial in result.trials)
        assert keys == [(task, trial) for task in sorted(TASKS.split(",")) for trial in (1, 2, 3)]
        assert len({part.block for part in result.parts or ()}) == 3


def _wait_for_trials(count: int) -> None:
    """Until so many trials of the matrix are on disk."""
    give_up = time.monotonic() + 60
    while _trials_on_disk() < count:
        assert time.monotonic() < give_up, "no trial was finished in time"
        time.sleep(0.05)


def _trials_on_disk() -> int:
    with suppress(UsageError):  # there is no matrix yet
        arms = read_matrix(newest_matrix()).arms
        runs = [known_run(arm.run_id) for arm in arms if arm.run_id]
        return sum(len(run.trials) for run in runs if run is not None)
    return 0
