"""`bench-loop runs`: the runs that lie on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench_loop.engine.stored import StoredRun
    from bench_loop.result.records import RunResult

EXAMPLES = """
\b
Examples:
  bench-loop runs list
  bench-loop runs show latest
  bench-loop runs export latest run.json
  bench-loop runs delete kstwpxs4lu

RUN is a run id, a part of one that no other run has, a path, or `latest`.
"""


@click.group(epilog=EXAMPLES)
def command() -> None:
    """List, show, export and delete runs, unfinished ones too."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def list_command(as_json: bool) -> None:
    """List all runs, the newest first.

    `running`: a process works on it. `aborted` and `incomplete`: go on with it by
    `bench-loop run --resume RUN`.
    """
    from bench_loop.engine.stored import stored_runs
    from bench_loop.report import run_list

    runs = stored_runs()
    if as_json:
        click.echo(json.dumps(run_list.runs_json(runs), indent=1))
        return
    from bench_loop.console import console

    run_list.print_runs(runs, console())


@command.command("show")
@click.argument("run")
def show_command(run: str) -> None:
    """Print the report of RUN; of an unfinished one, as far as it came."""
    from bench_loop.console import console
    from bench_loop.engine.gap import find_gap
    from bench_loop.engine.stored import stored_run
    from bench_loop.report.terminal import print_run

    found = stored_run(run)
    if found.state == "running":
        click.echo("This run is still going on: what is finished so far is shown.", err=True)
    result = _result(found)
    print_run(result, console(), found.place, gap=find_gap(result))


@command.command("delete")
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal.")
def delete_command(run: str, yes: bool) -> int:
    """Delete RUN: its journal and its result. Exits 1 when you said no."""
    from bench_loop.engine.stored import delete_stored, stored_run
    from bench_loop.errors import UsageError

    found = stored_run(run)
    if found.state == "running":
        raise UsageError(f"The run {found.run_id} is going on.", remedy="Stop it with Ctrl-C.")
    places = [str(place) for place in (found.folder, found.file) if place is not None]
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("Nobody can be asked here.", remedy="Add --yes to delete it.")
        click.echo("\n".join(places), err=True)
        if not click.confirm(f"Delete the run {found.run_id}?", default=False, err=True):
            return 1
    delete_stored(found)
    click.echo(f"Deleted: {', '.join(places)}", err=True)
    return 0


@command.command("export")
@click.argument("run")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
def export_command(run: str, file: Path | None) -> None:
    """Write the result of RUN to FILE, which must not exist yet, or to standard output.

    Of an unfinished run it is what came out so far, and says so.
    """
    from bench_loop.engine.stored import stored_run
    from bench_loop.result.store import load, to_bytes, write

    found = stored_run(run)
    result = _result(found)
    if found.state == "complete" and found.file is not None:
        result = load(found.file)  # It is signed, which one put together from a journal is not.
    if found.state != "complete":
        click.echo(f"This run is {found.state}, not complete.", err=True)
    if file is None or str(file) == "-":
        sys.stdout.buffer.write(to_bytes(result))
    else:
        write(result, file)


def _result(run: StoredRun) -> RunResult:
    """The run's result. Raises FileError where it is damaged."""
    if run.result is None:
        assert run.damage is not None  # by what a stored run is
        raise run.damage
    return run.result
