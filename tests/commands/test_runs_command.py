"""`runs` and `run --resume|--like` from the command line, signals, and two runs at once."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.commands._resume import newest_resumable
from bench_loop.engine.run_lock import LOCK
from bench_loop.result.signature import installation_public_key, signer_of
from bench_loop.result.store import LATEST, load
from bench_loop.selftest.simulated import Simulated, simulator
from tests.engine.killed_runs import SERVER, journals, new_run, start
from tests.processes import bench_loop, environment, finish

pytestmark = pytest.mark.real

SUITES = "reasonmath,loop_schema,instructfollow"


@pytest.fixture(scope="module")
def server() -> Iterator[Simulated]:
    with simulator(SERVER) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def bench(*arguments: str) -> int:
    """The exit code of `bench-loop ARGUMENTS`."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def cut(
    server: Simulated,
    home: Path,
    signal_number: int,
    trials: int = 3,
    suites: str = SUITES,
    options: Sequence[str] = (),
) -> tuple[int, str]:
    """Exit code and words of a run that got a signal after so many trials."""
    said = home.parent / "said.jsonl"
    process = start(home, [*new_run(server.url, suites), *options], said)
    end = time.monotonic() + 60
    while said.read_bytes().count(b"trial_finished") < trials and time.monotonic() < end:
        assert process.poll() is None, said.with_suffix(".err").read_text()
        time.sleep(0.005)
    process.send_signal(signal_number)
    return process.wait(30), said.with_suffix(".err").read_text()


@pytest.mark.parametrize(
    ("signal_number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_a_signal_keeps_what_is_finished_and_says_how_to_go_on(
    signal_number: int, code: int, server: Simulated, home: Path
) -> None:
    got, words = cut(server, home, signal_number)
    kept = load(home / "results" / LATEST)
    assert got == code
    assert (kept.status, len(kept.trials) >= 3) == ("aborted", True)
    assert f"run --resume {kept.run_id}" in words
    assert bench("run", "--resume", kept.run_id) == 0
    result = load(home / "results" / f"{kept.run_id}.json")
    assert result.status == "complete"
    assert result.trials[: len(kept.trials)] == kept.trials
    assert [part.is_cut_off for part in result.parts or ()] == [False, False]


def test_a_complete_run_says_so(
    server: Simulated, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*new_run(server.url, "reasonmath")) == 0
    capsys.readouterr()
    assert bench("run", "--resume", journals(home)[0].parent.name) == 0
    assert "is complete already" in capsys.readouterr().err
    assert bench("run", "--resume") == 2
    assert "There is no run to go on with" in capsys.readouterr().err


def test_a_complete_run_is_signed_and_exported_as_it_was_written(
    server: Simulated, home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert bench(*new_run(server.url, "reasonmath")) == 0
    data = (home / "results" / LATEST).read_bytes()
    assert signer_of(json.loads(data)) == installation_public_key()
    capfdbinary.readouterr()
    assert bench("runs", "export", load(home / "results" / LATEST).run_id) == 0
    assert capfdbinary.readouterr().out == data


def test_a_run_that_is_not_complete_is_not_signed(server: Simulated, home: Path) -> None:
    cut(server, home, signal.SIGINT)
    kept = load(home / "results" / LATEST)
    assert kept.signature is None
    assert installation_public_key() is None
    assert bench("run", "--resume", kept.run_id) == 0
    assert load(home / "results" / f"{kept.run_id}.json").signature is not None


def test_json_is_one_event_a_line_and_nothing_else(server: Simulated, home: Path) -> None:
    said = finish(bench_loop(*new_run(server.url, "reasonmath")), environment(home))
    events = [json.loads(line) for line in said.splitlines()]
    names = [event["event"] for event in events]
    result = load(home / "results" / LATEST)
    assert names[0] == "run_started"
    assert names[-1] == "run_finished"
    told = {"run_started", "trial_started", "trial_finished", "forecasted", "run_finished"}
    assert set(names) == told
    trials = [event["trial"] for event in events if event["event"] == "trial_finished"]
    assert trials == [trial.model_dump(mode="json") for trial in result.trials]
    assert events[-1]["result"] == result.model_dump(mode="json", exclude={"trials"})
    assert events[-1]["file"] == str(home / "results" / f"{result.run_id}.json")


def test_two_runs_at_once_touch_nothing_of_each_other(server: Simulated, home: Path) -> None:
    commands = [new_run(server.url, "reasonmath"), new_run(server.url, "loop_schema")]
    processes = [start(home, c, home.parent / f"{n}.jsonl") for n, c in enumerate(commands)]
    assert [process.wait(60) for process in processes] == [0, 0]
    files = sorted((home / "results").glob("2*.json"))
    results = [load(file) for file in files]
    assert len(files) == 2
    assert {trial.suite for r in results for trial in r.trials} == {"reasonmath", "loop_schema"}
    assert all(len({trial.suite for trial in r.trials}) == 1 for r in results)
    assert load(home / "results" / LATEST) in results


def test_a_run_that_goes_on_is_neither_resumed_nor_deleted(
    server: Simulated, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = home.parent / "said.jsonl"
    process = start(home, new_run(server.url, "speed"), said)
    try:
        while not (journals(home) and (journals(home)[0].parent / LOCK).exists()):
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        name = journals(home)[0].parent.name
        assert bench("run", "--resume", name) == 2
        assert f"being written by a running process ({process.pid})" in capsys.readouterr().err
        assert bench("runs", "delete", name, "--yes") != 0
        assert journals(home)
    finally:
        process.kill()
        process.wait()
    assert newest_resumable().name == name, "a lock of a dead process is stale"


def test_runs_are_listed_shown_exported_and_deleted(
    server: Simulated, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut(server, home, signal.SIGKILL)
    assert not (home / "results" / LATEST).exists()
    assert bench("runs", "list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["state"], row["model_id"], row["profile"]) == ("aborted", "sim", "custom")
    assert row["trials"] >= 3
    assert row["file"] is None
    tail = row["run_id"][-10:]

    assert bench("runs", "list") == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert line.split()[:1] + line.split()[2:4] == [tail, "sim", "aborted"]

    assert bench("runs", "show", tail) == 0
    shown = capsys.readouterr().out
    assert "Aborted: The run was cut off: its process ended without a word." in shown
    assert f"run --resume {row['run_id']}" in shown

    file = home.parent / "exported.json"
    assert bench("runs", "export", tail, str(file)) == 0
    assert "aborted, not complete" in capsys.readouterr().err
    assert load(file).status == "aborted"
    assert len(load(file).trials) == row["trials"]

    assert bench("runs", "delete", tail) == 2, "nobody can be asked"
    assert bench("runs", "delete", tail, "--yes") == 0
    assert journals(home) == []
    assert bench("runs", "show", tail) == 2


def test_deleting_the_newest_result_makes_the_one_before_it_the_latest(
    server: Simulated, home: Path
) -> None:
    assert bench(*new_run(server.url, "reasonmath")) == 0
    first = load(home / "results" / LATEST)
    time.sleep(1.1)  # Run ids are ordered by the second.
    assert bench(*new_run(server.url, "reasonmath")) == 0
    assert bench("runs", "delete", "latest", "--yes") == 0
    assert load(home / "results" / LATEST) == first
    assert bench("runs", "delete", "latest", "--yes") == 0
    assert list((home / "results").iterdir()) == []


def test_a_damaged_journal_is_told_and_stops_no_other(
    server: Simulated, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut(server, home, signal.SIGKILL)
    (journal,) = journals(home)
    journal.write_bytes(
        journal.read_bytes().replace(b'"passed"', b'"p4ssed"').replace(b"sim", b"sin")
    )
    assert bench("runs", "list") == 0
    said = capsys.readouterr().out
    assert "damaged" in said
    assert "line 1: is damaged" in " ".join(said.split())
    assert bench("run", "--resume", journal.parent.name) == 4
    assert "line 1: is damaged" in capsys.readouterr().err
    assert bench("run", "--resume") == 2


def test_the_journal_of_a_complete_run_is_needed_no_more(
    server: Simulated, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*new_run(server.url, "reasonmath")) == 0
    (journal,) = journals(home)
    journal.write_bytes(b"{}\n" + journal.read_bytes())
    capsys.readouterr()
    assert bench("runs", "list") == 0
    said = capsys.readouterr().out
    assert "complete" in said
    assert "damaged" not in said
    assert bench("run", "--resume") == 2


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--resume", "--profile", "smoke"], "--profile"),
        (["--resume", "x", "--trials", "2"], "--trials"),
        (["--like", "x.json", "--suites", "speed"], "--suites"),
        (["--like", "x.json", "--budget", "5m"], "--budget"),
    ],
)
def test_what_the_other_run_decides_cannot_be_given(
    arguments: list[str], option: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("run", *arguments) == 2
    assert f"Leave {option} out." in capsys.readouterr().err


def test_no_model_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("run", "--profile", "smoke") == 2
    assert "No model is named." in capsys.readouterr().err


def test_a_second_signal_ends_at_once_and_loses_nothing(server: Simulated, home: Path) -> None:
    said = home.parent / "said.jsonl"
    process: subprocess.Popen[bytes] = start(home, new_run(server.url, SUITES), said)
    while said.read_bytes().count(b"trial_finished") < 3:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert bench("run", "--resume", journals(home)[0].parent.name) == 0
    assert load(home / "results" / LATEST).status == "complete"


def test_a_stop_tells_its_signal_and_the_rest_of_the_budget_goes_on(
    server: Simulated, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut(server, home, signal.SIGTERM, suites="speed,reasonmath", options=("--budget", "20m"))
    stopped = load(home / "results" / LATEST)
    assert stopped.status_reason == "Stopped by a signal (SIGTERM)."
    assert bench("run", "--resume", "--json") == 0
    words = capsys.readouterr().err
    left_min = re.search(r"For the rest it has (\d+) min", words)
    assert left_min is not None, words
    assert 15 <= int(left_min[1]) <= 20
    assert load(home / "results" / LATEST).status == "complete"
