"""Tests that the parts import each other only as `pyproject.toml` allows."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
STANDARD = sys.stdlib_module_names
OURS = {"bench_loop", "benchloop_site", "leaderboard", "runs", "submissions", "harnesses"}


def test_the_import_contracts_are_kept() -> None:
    lint_imports = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_harnesses_know_the_vocabulary_only() -> None:
    # They are loaded by path and are no package, so import-linter can't see them.
    allowed = ("bench_loop.contracts.", "bench_loop.errors", "bench_loop.programs")
    for file in (ROOT / "harnesses").glob("*.py"):
        ours = [name for name in imported(file) if name.split(".")[0] in OURS]
        assert [name for name in ours if not name.startswith(allowed)] == [], file.name


def imported(file: Path) -> list[str]:
    """Names of all modules that a Python file imports, wherever in it."""
    names = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


def test_packs_hold_no_code_but_generators_that_import_the_standard_library() -> None:
    for file in (ROOT / "packs").rglob("*.py"):
        assert file.parent.name == "families", file
        outside = [name for name in imported(file) if name.split(".")[0] not in STANDARD]
        assert outside == [], file
