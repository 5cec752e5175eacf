"""`bench-loop dashboard`: one HTML file from a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench_loop.result.records import RunResult


@click.command(epilog="Example: bench-loop dashboard --input results --output report.html")
@click.option(
    "--input",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of result files. Default: where `run` writes them.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The HTML file to write. Default: dashboard.html in the folder of results.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the file in the browser.")
def command(folder: Path | None, output: Path | None, open_it: bool) -> None:
    """Write one self-contained HTML file that shows every run, suite and trial.

    It works from disk without a network. Files that cannot be read are named and left out.
    """
    import gc

    from bench_loop import config

    # Results hold no cycles, and of a thousand there are so many records that the collector would
    # take as long to look through them, again and again, as everything else together.
    gc.disable()
    folder = folder or config.results_folder()
    results = _readable(folder)
    output = output or folder / "dashboard.html"
    _write(output, results)
    click.echo(f"{len(results)} {'run' if len(results) == 1 else 'runs'}: {output}")
    if open_it:
        click.launch(output.resolve().as_uri())


def _readable(folder: Path) -> list[RunResult]:
    """The results in `folder`; raises ResultError when not one file can be read."""
    from bench_loop.errors import ResultError
    from bench_loop.result import store

    results, errors = [], []
    for file in store.result_files(folder):
        try:
            results.append(store.load(file))
        except ResultError as error:
            errors.append(error)
            click.echo(f"Left out: {error.message}", err=True)
    if not results:
        reason = "no file could be read" if errors else "there is no result file in it"
        raise ResultError(str(folder), None, reason, remedy="Make one: bench-loop quickstart")
    return results


def _write(output: Path, results: list[RunResult]) -> None:
    from bench_loop.errors import SetupError
    from bench_loop.report.dashboard import dashboard

    page = dashboard(results)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SetupError(
            f"{output} cannot be written: {error.strerror}.",
            remedy="Choose another file with --output.",
        ) from error
