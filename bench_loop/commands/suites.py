"""`bench-loop suites`: what there is to run, and what each profile takes of it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bench_loop.config import bundled

EXAMPLES = """
\b
Examples:
  bench-loop suites
  bench-loop suites reasonmath
  bench-loop suites --json
  bench-loop suites --packs my-packs
"""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Suites that begin so, told by their folders: a shell waits for the answer."""
    names = sorted(file.parent.name for file in bundled("packs").glob("*/pack.yaml"))
    return [name for name in names if name.startswith(incomplete)]


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=_complete)
@click.option(
    "--packs",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="List your own packs in DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(name: str | None, folder: Path | None, as_json: bool) -> None:
    """List suites and profiles, or the tasks of the suite NAME."""
    from bench_loop.engine.profiles import PROFILES
    from bench_loop.engine.shelf import Shelf
    from bench_loop.report import catalogue

    shelf = Shelf(private=folder)
    listed = shelf.names() if folder is None else shelf.private_names()
    packs = [shelf.pack(found) for found in ([name] if name else listed)]
    profiles = list(PROFILES.values())
    if as_json:
        document = (
            catalogue.suite_json(packs[0]) if name else catalogue.suites_json(packs, profiles)
        )
        click.echo(json.dumps(document, indent=1))
        return
    from bench_loop.console import console

    if name:
        catalogue.print_suite(packs[0], console())
    else:
        catalogue.print_suites(packs, profiles, console())
