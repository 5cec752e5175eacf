"""Cassettes of the harness programs: one small task of each, with what the scripted model answered.

    python -m tests.harnesses.playing [NAME...]   record the harnesses named anew, or all of them

The task is that of `bench-loop harness check`. `make cassettes` records all of them; the programs
are those in the data folder, as `bench-loop harness install` leaves them.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.gateway.cassette import CassetteMismatchError, CassetteUpstream, RecordingUpstream
from bench_loop.gateway.http import HttpUpstream
from bench_loop.programs.attempt import Attempt, Bounds, attempt
from bench_loop.programs.check import TASK, script_for
from bench_loop.programs.installed import Installed
from bench_loop.programs.known import all_harnesses
from bench_loop.simulator.scripted import MODEL, scripted_model
from bench_loop.simulator.settings import Program

FOLDER = Path(__file__).parent / "cassettes"
WALL_S = 180.0
WORDS = {"architecture": {"aarch64": "(arm64)"}.get(platform.machine(), "(x64)")}
"""What differs from machine to machine beside what the rules know: as Node names it."""
MODEL_SETTINGS = Program(window=131_072, tokens_per_chunk=32)


@dataclass(frozen=True, slots=True)
class Played:
    """One trial of a program with a cassette in the place of a model."""

    tried: Attempt
    mismatch: str | None
    """What was not as it was recorded; None: all was."""


def cassette(adapter: HarnessAdapter) -> Path:
    """The cassette of the pinned version."""
    return FOLDER / f"{adapter.name}-{adapter.version}.jsonl"


def record(adapter: HarnessAdapter, program: Installed, file: Path) -> Attempt:
    """Let the harness do the task, and keep what passed in the new file."""
    with scripted_model(script_for(adapter), MODEL_SETTINGS) as model:
        upstream = RecordingUpstream(HttpUpstream(model.address), file, WORDS)
        return attempt(adapter, program, TASK, upstream, Bounds(MODEL, WALL_S))


def play(
    adapter: HarnessAdapter,
    program: Installed,
    file: Path,
    task: BenchmarkTask = TASK,
    requests: int = 30,
) -> Played:
    """Let the harness do the task with nothing but the cassette."""
    upstream = CassetteUpstream(file, WORDS)
    tried = attempt(adapter, program, task, upstream, Bounds(MODEL, WALL_S, requests=requests))
    try:
        upstream.check()
    except CassetteMismatchError as error:
        return Played(tried, str(error))
    return Played(tried, None)


def main(names: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for harness in all_harnesses():
        adapter = harness.adapter
        if adapter.installation is None or (names and adapter.name not in names):
            continue
        if harness.installed is None:
            sys.exit(f"Not installed: {adapter.name}. Run: bench-loop harness install NAME")
        for old in FOLDER.glob(f"{adapter.name}-*.jsonl"):
            old.unlink()
        file = cassette(adapter)
        tried = record(adapter, harness.installed, file)
        print(f"{file.name}: {len(tried.sent)} requests, {file.stat().st_size:,} bytes", flush=True)
        if tried.result.failure:
            print(f"  {tried.result.failure}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
