"""Real `bench-loop run` processes against a simulated server, and what their journals hold."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench_loop.engine.journal import JOURNAL
from bench_loop.engine.recorded import Recorded, read_journal
from bench_loop.selftest.simulated import Simulated
from bench_loop.simulator.settings import Program, Settings
from tests.processes import ROOT, bench_loop, environment

SUITES = "speed,reasonmath,instructfollow,loop_schema"
SERVER = Settings(
    dialect="llama.cpp",
    models={"sim": Program(prefill_tps=50_000, decode_tps=900, answer_tokens=24)},
)


def answered(server: Simulated) -> int:
    """Requests that the server answered to the end."""
    return sum(sent.ended == "done" for sent in server.all_sent())


def new_run(url: str, suites: str = SUITES) -> list[str]:
    """The arguments of a new run; `--json` shows what it says it has finished."""
    return [
        *("run", "--model", "sim", "--provider", "openai_compat", "--endpoint", url),
        *("--suites", suites, "--speed-budget", "1", "--json"),
    ]


def start(home: Path, arguments: Sequence[str], said: Path) -> subprocess.Popen[bytes]:
    """A process of its own session, whose events go to the file `said`."""
    with said.open("wb") as out, said.with_suffix(".err").open("wb") as err:
        return subprocess.Popen(
            bench_loop(*arguments),
            cwd=ROOT,
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


def journals(home: Path) -> list[Path]:
    """The journals of all runs that have begun, oldest first."""
    files = sorted((home / "runs").glob(f"*/{JOURNAL}"))
    return [file for file in files if file.read_bytes().count(b"\n") >= 2]


def newest(home: Path) -> Recorded | None:
    """The newest run as its journal tells it; None: there is none that has begun."""
    files = journals(home)
    return read_journal(files[-1])[0] if files else None


def whole_lines(journal: Path) -> bytes:
    """What a journal holds that was written to the end."""
    data = journal.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def said_finished(said: Path) -> list[object]:
    """The trials that a process said are finished."""
    lines = said.read_bytes().split(b"\n")[:-1]
    events = [json.loads(line) for line in lines]
    return [event["trial"] for event in events if event["event"] == "trial_finished"]
