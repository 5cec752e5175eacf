"""Makes the reference runs on this machine, and writes the page about them: `make reference`.

    python -m scripts.reference [NAME...]    make the runs named, or all; go on with one cut off
    python -m scripts.reference --page       write the reports and the page about them again

Whole runs of small models that anybody can repeat: nothing else should run meanwhile. A run that
was cut off goes on where it was. Its result file is copied to docs/reference-runs/ as it is, and
not touched again; the report beside it and what the page says are made of the file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench_loop.engine.matrix import read_matrix
from bench_loop.programs.matrices import matrix_of_runs
from bench_loop.report.html import run_page
from bench_loop.report.matrix_html import write_matrix_html
from bench_loop.result.store import result_files
from scripts.reference_page import page
from scripts.references import (
    EDIT_FIND_AND_NOTHING,
    FOLDER,
    HOME,
    MATRICES,
    PAGE,
    REFERENCES,
    ROOT,
    MatrixReference,
    Reference,
    arms,
    runs,
)


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


def make_matrix(reference: MatrixReference) -> Path:
    """Run the matrix, or go on with it; its folder. Raises CalledProcessError."""
    home = HOME / reference.name
    arguments: Sequence[str] = ("--resume",)
    if not list((home / "matrices").glob("*")):
        arguments = (
            *("--provider", "embedded", "--models", reference.model),
            *("--harnesses", ",".join(reference.harnesses), "--tasks", EDIT_FIND_AND_NOTHING),
            *reference.arguments,
        )
    env = os.environ | {"BENCHLOOP_HOME": str(home)}
    command = [sys.executable, "-m", "bench_loop", "matrix", *arguments]
    subprocess.run(command, env=env, cwd=ROOT, check=True)
    (folder,) = (home / "matrices").glob("*")
    return folder


def keep_matrix(reference: MatrixReference, folder: Path) -> None:
    """Copy the result of each arm as it is."""
    results = folder.parent.parent / "results"
    for arm in read_matrix(folder).arms:
        if arm.run_id is not None:
            shutil.copyfile(
                results / f"{arm.run_id}.json", FOLDER / f"{reference.name}.{arm.harness}.json"
            )


def keep(reference: Reference, file: Path) -> None:
    """Copy the result file as it is."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, FOLDER / f"{reference.name}.json")


def write_reports() -> None:
    """Write the report of each committed run, and of each matrix, from the files of results."""
    for name, result in runs().items():
        (FOLDER / f"{name}.html").write_text(run_page(result), encoding="utf-8")
    in_harnesses = arms()
    for name, matrix in MATRICES.items():
        found = [in_harnesses.get(f"{name}.{harness}") for harness in matrix.harnesses]
        results = [result for result in found if result is not None]
        if results:
            write_matrix_html(matrix_of_runs(results, []), FOLDER / f"{name}.html")


def main(names: Sequence[str]) -> None:
    if names != ["--page"]:
        for name in names or (*REFERENCES, *MATRICES):
            if name in MATRICES:
                keep_matrix(MATRICES[name], make_matrix(MATRICES[name]))
            else:
                keep(REFERENCES[name], make(REFERENCES[name]))
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_reports()
    PAGE.write_text(page(runs(), arms()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
