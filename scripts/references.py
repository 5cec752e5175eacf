"""The reference runs and matrices: what is asked of each, and the files that are committed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench_loop.result.records import RunResult
from bench_loop.result.store import load

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


@dataclass(frozen=True, slots=True)
class MatrixReference:
    """One model in several harnesses: the name of its files goes before that of the harness."""

    name: str
    model: str
    harnesses: tuple[str, ...]
    arguments: tuple[str, ...]


EDIT_FIND_AND_NOTHING = ",".join(
    f"loop_harness.{name}" for name in ("propolis-price", "harbour-watch", "market-stall")
)
BARE_CALLS = ("--chat-template", str(FOLDER / "bare-calls.jinja"))
MATRICES = {
    one.name: one
    for one in (
        MatrixReference(
            "qwen2.5-coder-0.5b-arms",
            "qwen2.5-coder-0.5b",
            ("raw", "aider", "continue", "goose", "hermes", "openclaw", "opencode"),
            # Hermes needs 64,000 tokens of window, which the model has when it is stretched.
            ("--trials", "1", *BARE_CALLS, "--yarn", "2", "--context-window", "65536"),
        ),
        MatrixReference(
            "qwen2.5-coder-0.5b-own-template",
            "qwen2.5-coder-0.5b",
            ("raw", "goose"),
            # With its own template no call of the model is understood.
            ("--trials", "1", "--yarn", "2", "--context-window", "65536"),
        ),
        MatrixReference(
            "qwen2.5-coder-1.5b-arms",
            "qwen2.5-coder-1.5b",
            ("raw", "aider", "continue", "goose"),
            ("--trials", "1", *BARE_CALLS, "--context-window", "16384"),
        ),
    )
}


def runs() -> dict[str, RunResult]:
    """The committed reference runs by their names."""
    return _loaded(REFERENCES)


def arms() -> dict[str, RunResult]:
    """The committed arms of the matrices: by the name of the matrix, a full stop, the harness."""
    return _loaded(f"{one.name}.{arm}" for one in MATRICES.values() for arm in one.harnesses)


def _loaded(names: Iterable[str]) -> dict[str, RunResult]:
    files = {name: FOLDER / f"{name}.json" for name in names}
    return {name: load(file) for name, file in files.items() if file.is_file()}
