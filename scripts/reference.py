"""Makes the reference runs on this machine, and writes the page about them: `make reference`.

    python -m scripts.reference [NAME...]    make the runs named, or all; go on with one cut off
    python -m scripts.reference --page       write docs/reference-runs/README.md again

Whole runs of small models that anybody can repeat: nothing else should run meanwhile. A run that
was cut off goes on where it was. Its result file is copied to docs/reference-runs/ as it is, with
a report of it, and not touched again; what the page says of it is computed from the file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.result.records import RunResult
from bench_loop.result.store import load, result_files
from scripts.markdown import table

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference-runs"
PAGE = FOLDER / "README.md"
HOME = Path(os.environ.get("BENCHLOOP_REFERENCE") or ROOT / "build" / "reference")
"""Journals and results while they are made."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One run: its name is that of its files."""

    name: str
    model: str
    arguments: tuple[str, ...]


REFERENCES = {
    one.name: one
    for one in (
        Reference("smollm2-135m-core", "smollm2-135m", ("--profile", "core")),
        Reference(
            "qwen2.5-coder-0.5b-core",
            "qwen2.5-coder-0.5b",
            # So little time that the smallest plan of a ranked profile is taken.
            ("--profile", "core", "--speed-budget", "180"),
        ),
        Reference("qwen2.5-coder-1.5b-quick", "qwen2.5-coder-1.5b", ("--profile", "quick")),
    )
}


def make(reference: Reference) -> Path:
    """Make the run, or go on with it; the result file. Raises CalledProcessError."""
    home = HOME / reference.name
    cut_off = [folder for folder in (home / "runs").glob("*") if folder.is_dir()]
    arguments: Sequence[str] = ("--resume",)
    if not cut_off:
        arguments = ("--provider", "embedded", "--model", reference.model, *reference.arguments)
    env = os.environ | {"BENCHLOOP_HOME": str(home)}
    subprocess.run(
        [sys.executable, "-m", "bench_loop", "run", *arguments], env=env, cwd=ROOT, check=True
    )
    (result,) = result_files(home / "results")
    return result


def keep(reference: Reference, file: Path) -> None:
    """Copy the result file as it is, with the report of it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, FOLDER / f"{reference.name}.json")
    report = FOLDER / f"{reference.name}.html"
    folders = ("--input", str(file.parent), "--output", str(report))
    subprocess.run(
        [sys.executable, "-m", "bench_loop", "dashboard", *folders], cwd=ROOT, check=True
    )


# --- The page ---------------------------------------------------------------------------------


def runs() -> dict[str, RunResult]:
    """The committed reference runs by their names."""
    files = {name: FOLDER / f"{name}.json" for name in REFERENCES}
    return {name: load(file) for name, file in files.items() if file.is_file()}


def stale_suites(result: RunResult) -> list[str]:
    """Suites of the run whose pack is another one now."""
    known = set(pack_names())
    return [
        suite.suite
        for suite in result.suites
        if suite.suite not in known or load_pack(suite.suite).pack_hash != suite.pack_hash
    ]


def page(found: Mapping[str, RunResult]) -> str:
    """docs/reference-runs/README.md."""
    return "\n\n".join(_parts(found)) + "\n"


def _parts(found: Mapping[str, RunResult]) -> Iterator[str]:
    yield "# Reference runs"
    yield (
        "Whole runs of small models, made by `make reference` and committed as they came out.\n"
        "They show what a result holds, and which tasks tell these models apart. Their verdicts\n"
        "and scores are computed again by the tests. A suite whose tasks have changed since is\n"
        "marked stale: its score belongs to the pack with that hash and to no other."
    )
    if not found:
        yield "There is none yet."
        return
    yield table(
        ("run", "model", "machine", "profile", "quality", "reliability", "minutes"),
        [_row(name, result) for name, result in found.items()],
    )
    yield "## Suites"
    yield table(("suite", *found), _suite_rows(found))
    yield "## Tasks that no run, or every run, passed"
    yield from _undecided(found)


def _row(name: str, result: RunResult) -> tuple[object, ...]:
    seconds = (result.finished_at - result.started_at).total_seconds()
    scores = result.aggregates
    return (
        f"[{name}]({name}.json) ([report]({name}.html))",
        f"{result.subject.model_id} {result.subject.quantization or ''}",
        result.machine.cpu_model or result.machine.device_class,
        f"{result.profile}, {result.status}",
        _score(scores.quality_score),
        _score(scores.reliability_score),
        f"{seconds / 60:.0f}",
    )


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f}"


def _suite_rows(found: Mapping[str, RunResult]) -> Iterator[tuple[object, ...]]:
    names = sorted({suite.suite for result in found.values() for suite in result.suites})
    stale = {name: stale_suites(result) for name, result in found.items()}
    for suite_name in names:
        cells = []
        for name, result in found.items():
            suite = next((one for one in result.suites if one.suite == suite_name), None)
            if suite is None or suite.dimension == "speed":
                cells.append("" if suite is None else "measured")
                continue
            passed = len(passed_tasks(result, suite_name))
            mark = " (stale)" if suite_name in stale[name] else ""
            cells.append(f"{_score(suite.score)}: {passed} of {suite.task_count}{mark}")
        yield (suite_name, *cells)


def passed_tasks(result: RunResult, suite: str) -> set[str]:
    """Ids of the tasks of a suite of which a trial passed."""
    return {
        trial.task_id for trial in result.trials if trial.suite == suite and trial.outcome == "pass"
    }


def _undecided(found: Mapping[str, RunResult]) -> Iterator[str]:
    yield (
        "These runs do not tell models apart by them. That none of these small models passed a\n"
        "task says nothing of larger ones; why each is right stands in its file (`notes`)."
    )
    lines = []
    for suite in (load_pack(name) for name in pack_names()):
        current = [r for r in found.values() if suite.name not in stale_suites(r)]
        asked = [{t.task_id for t in result.trials if t.suite == suite.name} for result in current]
        passed = [passed_tasks(result, suite.name) for result in current]
        none, all_ = [], []
        for task in suite.tasks:
            runs_of = [p for a, p in zip(asked, passed, strict=True) if task.id in a]
            if len(runs_of) < 2:
                continue
            count = sum(task.id in one for one in runs_of)
            short = f"`{task.id.partition('.')[2]}`"
            if count == 0:
                none.append(short)
            elif count == len(runs_of):
                all_.append(short)
        if none or all_:
            lines.append((suite.name, ", ".join(none), ", ".join(all_)))
    yield table(("suite", "passed by none", "passed by all"), lines)


def main(names: Sequence[str]) -> None:
    if names != ["--page"]:
        for name in names or REFERENCES:
            keep(REFERENCES[name], make(REFERENCES[name]))
    FOLDER.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(runs()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
