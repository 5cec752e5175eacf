"""A disk that is full in the middle of a run: a clear error, a whole journal, and a way on."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from bench_loop.engine.recorded import read_journal
from bench_loop.result.store import LATEST, load
from bench_loop.sandboxes.bubblewrap import find_bwrap
from bench_loop.selftest.simulated import simulator
from tests.components import need_bubblewrap
from tests.engine.killed_runs import SERVER, new_run
from tests.processes import bench_loop, environment, finish

pytestmark = pytest.mark.real

DISK_BYTES = 64 * 1024
LEFT_BYTES = 12 * 1024
"""Room for the plan and a few trials, not for all."""


def test_a_full_disk_stops_the_run_and_it_goes_on_when_there_is_room(tmp_path: Path) -> None:
    need_bubblewrap()
    runs, kept, said = tmp_path / "home" / "runs", tmp_path / "journal.jsonl", tmp_path / "said"
    runs.mkdir(parents=True)
    with simulator(SERVER) as server:
        new = shlex.join(map(str, bench_loop(*new_run(server.url, "reasonmath,loop_schema"))))
        resume = shlex.join(map(str, bench_loop("run", "--resume")))
        steps = (
            f"head -c {DISK_BYTES - LEFT_BYTES} /dev/zero > {runs}/ballast",
            f"{new} >{said} 2>&1; echo $?",
            f"cp {runs}/*/journal.jsonl {kept}; rm {runs}/ballast",
            f"{resume} >>{said} 2>&1; echo $?",
        )
        small_disk = ("--dev-bind", "/", "/", "--size", str(DISK_BYTES), "--tmpfs", str(runs))
        command = [find_bwrap(), *small_disk, "sh", "-c", "\n".join(steps)]
        codes = finish(command, environment(tmp_path / "home"), timeout_s=120).split()
    words = said.read_text()
    assert codes == ["4", "0"], words
    assert "No space left on device; what is in it is kept" in words
    assert "Try: Make room on the disk, then: bench-loop run --resume" in words
    full, _ = read_journal(kept)
    result = load(tmp_path / "home" / "results" / LATEST)
    assert result.status == "complete"
    assert 0 < len(full.trials) < len(result.trials)
    assert list(result.trials[: len(full.trials)]) == full.trials
    assert [part.is_cut_off for part in result.parts or ()] == [True, False]
