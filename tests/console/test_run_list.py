"""The list of runs: what names a run and what it came to stay whole at any width."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from bench_loop.console import THEME
from bench_loop.engine.stored import StoredRun
from bench_loop.errors import JournalError
from bench_loop.report.run_list import print_runs
from tests.console.make_run import make_run

LONG = "a-publisher/A-Very-Long-Model-Name-70B-Instruct-2026-11-abliterated-GGUF"


def printed(columns: int) -> list[str]:
    made = make_run()
    subject = made.subject.model_copy(update={"model_id": LONG})
    long = made.model_copy(update={"subject": subject})
    damage = JournalError("journal.jsonl", "line 3", "is damaged")
    runs = [
        StoredRun("20261130T050549Z-aaaaaaaaaa", "incomplete", long, None, Path("a.json")),
        StoredRun("20261130T050549Z-bbbbbbbbbb", "complete", made, None, Path("b.json")),
        StoredRun("20261130T050549Z-cccccccccc", "damaged", None, None, Path("c.json"), damage),
    ]
    out = io.StringIO()
    print_runs(runs, Console(file=out, width=columns, theme=THEME))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("columns", [80, 120])
def test_only_the_model_is_ever_shortened(columns: int) -> None:
    heads, long, short, damaged, *_ = lines = printed(columns)
    assert max(map(len, lines)) <= columns
    assert heads.split()[:3] == ["run", "started", "model"]
    assert heads.split()[-2:] == ["quality", "tok/s"]
    assert ("trials" in heads) == (columns == 120)
    assert "aaaaaaaaaa" in long
    assert "incomplete" in long
    assert long.split()[-2:] == short.split()[-2:]
    assert long[heads.index("model") :].startswith("a-publisher/A-Very")
    assert damaged.split()[0] == "cccccccccc"
    assert lines[-1] == "journal.jsonl: line 3: is damaged"


def listed(columns: int, *harnesses: str) -> list[str]:
    made = make_run()
    subjects = [made.subject.model_copy(update={"harness": name}) for name in harnesses]
    results = [made.model_copy(update={"subject": subject}) for subject in subjects]
    runs = [
        StoredRun(f"20261130T050549Z-{'abcdef'[number] * 10}", "complete", result, None, Path("a"))
        for number, result in enumerate(results)
    ]
    out = io.StringIO()
    print_runs(runs, Console(file=out, width=columns, theme=THEME))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_runs_in_harnesses_are_told_apart(columns: int) -> None:
    heads, raw, goose = listed(columns, "raw", "goose")
    at = heads.index("harness")
    assert (raw[at:].split()[0], goose[at:].split()[0]) == ("raw", "goose")
    assert "…" not in heads


def test_raw_alone_needs_no_column() -> None:
    assert "harness" not in listed(120, "raw", "raw")[0]
