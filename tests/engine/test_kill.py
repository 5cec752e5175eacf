"""Runs that are killed at any moment lose the trial in flight and nothing else."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench_loop.engine.recorded import Recorded
from bench_loop.engine.run_lock import is_live
from bench_loop.errors import JournalError
from bench_loop.result.records import RunResult
from bench_loop.result.store import LATEST, load
from bench_loop.selftest.simulated import Simulated, simulator
from tests.engine.killed_runs import (
    SERVER,
    answered,
    journals,
    new_run,
    newest,
    said_finished,
    start,
    whole_lines,
)

pytestmark = [pytest.mark.real, pytest.mark.slow]

Wait = Callable[[subprocess.Popen[bytes]], bool]
"""Waits for the moment of a kill; False when the process ended before."""

KILLS = 30
SEED = 20260424
LONGEST_LIFE_S = 3.0
"""Kills by the clock come in so much of a process's life: start, load, trials."""
END_S = 120.0


@dataclass(frozen=True)
class Kill:
    """One kill and what it cost."""

    run: str
    moment: str
    kept: int
    answered: int
    lost: int
    corrupt: int

    def row(self, number: int) -> str:
        cells = (number, self.run[-10:], self.moment, self.kept, self.answered, self.lost)
        return "{:>4}  {:10}  {:>16}  {:>6}  {:>8}  {:>4}".format(*cells) + f"  {self.corrupt:>7}"


HEAD = "kill  run                   moment  trials  answered  lost  corrupt"


class Killer:
    """Starts runs and kills them; goes on with what was killed."""

    def __init__(self, folder: Path, server: Simulated) -> None:
        self.home = folder / "home"
        self._server = server
        self._said = folder / "said.jsonl"
        self._random = random.Random(SEED)
        self.kills: list[Kill] = []
        self.completed: list[str] = []

    def work(self) -> None:
        """Kill processes until it is enough, then let the last run end."""
        while len(self.kills) < KILLS:
            self._once(*self._moment())
        while self._unfinished():
            self._once("", lambda process: _is_alive_after(process, END_S))
        # Some were killed when all was written, and ended by that.
        self.completed = [journal.parent.name for journal in journals(self.home)]

    def _unfinished(self) -> bool:
        known = newest(self.home)
        return known is not None and not known.is_done

    def _moment(self) -> tuple[str, Wait]:
        """When to kill next: by the clock from the start, or behind writes to the journal."""
        kind = self._random.random()
        if kind < 0.2:
            life_s = self._random.uniform(0, LONGEST_LIFE_S)
            return f"{life_s:.2f} s", lambda process: _is_alive_after(process, life_s)
        most, longest_s = (1, 0.8) if kind < 0.6 else (9, 0.03)
        writes, delay_s = self._random.randint(1, most), self._random.uniform(0, longest_s)
        return (
            f"{writes} writes +{1000 * delay_s:.0f} ms",
            lambda process: self._has_written(process, writes, delay_s),
        )

    def _has_written(self, process: subprocess.Popen[bytes], writes: int, delay_s: float) -> bool:
        """Wait for so many changes of the journals and then the delay; whether it still lives."""
        size, seen = _total_size(self.home), 0
        while process.poll() is None and seen < writes:
            now = _total_size(self.home)
            seen += now > size
            size = now
            time.sleep(0.001)
        return _is_alive_after(process, delay_s)

    def _once(self, moment: str, wait: Wait) -> None:
        """Start or resume a run, and kill it when `wait` says that it still lives."""
        before = newest(self.home)
        is_new = before is None or before.is_done
        held = {} if is_new else {journals(self.home)[-1]: whole_lines(journals(self.home)[-1])}
        served = answered(self._server)
        arguments = new_run(self._server.url) if is_new else ["run", "--resume", "--json"]
        process = start(self.home, arguments, self._said)
        is_killed = wait(process)
        if is_killed:
            process.kill()
        code = process.wait()
        for journal, lines in held.items():
            assert whole_lines(journal).startswith(lines), "a later part changed what was written"
        if not is_killed:
            assert code == 0, self._said.with_suffix(".err").read_text()
            self._note_complete()
            return
        time.sleep(0.05)  # The server notices that its client is gone.
        self._note_kill(moment, before if not is_new else None, answered(self._server) - served)

    def _note_complete(self) -> None:
        known = newest(self.home)
        assert known is not None
        assert known.is_done
        self.completed.append(known.run_id)

    def _note_kill(self, moment: str, before: Recorded | None, answered: int) -> None:
        corrupt = 0
        known = None
        try:
            known = newest(self.home)
        except JournalError:
            corrupt = 1
        for file in (self.home / "results").glob("*.json"):
            load(file)
        is_begun = known is not None and not (before is None and known.is_done)
        is_begun = is_begun and known.run_id not in self.completed
        kept = len(known.trials) if is_begun else 0
        new = known.trials[len(before.trials) if before else 0 :] if is_begun else []
        said = said_finished(self._said)
        assert [trial.model_dump(mode="json") for trial in new][: len(said)] == said
        assert not any(is_live(journal.parent) for journal in journals(self.home))
        # Beside the trials one request loads the model and one calibrates, before the quality ones.
        beside = 1 if before is not None and before.has_begun_quality else 2
        lost = max(0, answered - min(answered, beside) - len(new))
        name = known.run_id if is_begun else "-" * 10
        self.kills.append(Kill(name, moment, kept, answered, lost, corrupt))


def _is_alive_after(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _total_size(home: Path) -> int:
    return sum(journal.stat().st_size for journal in journals(home))


@pytest.fixture(scope="module")
def server() -> Iterator[Simulated]:
    with simulator(SERVER) as running:
        yield running


@pytest.fixture(scope="module")
def unkilled(server: Simulated, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("unkilled")
    process = start(folder / "home", new_run(server.url), folder / "said.jsonl")
    assert process.wait(END_S) == 0, (folder / "said.err").read_text()
    return load(folder / "home" / "results" / LATEST)


@pytest.fixture(scope="module")
def killer(server: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Killer:
    found = Killer(tmp_path_factory.mktemp("killed"), server)
    found.work()
    return found


def test_thirty_kills_lose_no_trial_but_the_one_in_flight(
    killer: Killer, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        rows = [kill.row(number) for number, kill in enumerate(killer.kills, start=1)]
        print("\n", f"Kills at random moments, seed {SEED}", HEAD, *rows, sep="\n")
        print(f"{len(killer.completed)} runs, all complete in the end")
    assert len(killer.kills) == KILLS
    assert max(kill.lost for kill in killer.kills) <= 1
    assert sum(kill.corrupt for kill in killer.kills) == 0
    assert len({kill.kept for kill in killer.kills}) > 5, "the kills came at few moments"


def test_every_killed_run_ends_like_one_that_was_not_killed(
    killer: Killer, unkilled: RunResult
) -> None:
    assert killer.completed
    for run_id in killer.completed:
        result = load(killer.home / "results" / f"{run_id}.json")
        assert deterministic(result) == deterministic(unkilled)


def test_the_parts_of_a_killed_run_are_in_its_result(killer: Killer) -> None:
    results = [load(killer.home / "results" / f"{run_id}.json") for run_id in killer.completed]
    parts = [result.parts or () for result in results]
    assert max(map(len, parts)) > 1
    for found in parts:
        assert [part.is_cut_off for part in found] == [True] * (len(found) - 1) + [False]
    for result, found in zip(results, parts, strict=True):
        assert result.total_runtime_s == pytest.approx(sum(part.runtime_s for part in found))
        wall_s = (result.finished_at - result.started_at).total_seconds()
        assert result.total_runtime_s < wall_s + 0.1


def deterministic(result: RunResult) -> object:
    """What must be the same in two runs of one plan on one server: all but times and nonces."""
    quality = [trial for trial in result.trials if trial.suite != "speed"]
    kept = {"suite", "task_id", "trial", "seed", "prompt_hash", "outcome", "score", "reason"}
    trials = sorted(
        json.dumps(trial.model_dump(mode="json", include=kept | {"answer", "output", "tokens"}))
        for trial in quality
    )
    suites = [suite.model_dump(exclude={"median_latency_s"}) for suite in result.suites]
    return (
        result.status,
        result.subject,
        result.settings,
        trials,
        suites,
        result.aggregates.quality_score,
        result.speed and result.speed.plan,
        {trial.task_id for trial in result.trials if trial.suite == "speed"},
    )
