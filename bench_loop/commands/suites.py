"""`bench-loop suites`: what there is to run, and what each profile takes of it."""

from __future__ import annotations

import json

import click

from bench_loop.config import bundled

EXAMPLES = """
\b
Examples:
  bench-loop suites
  bench-loop suites reasonmath
  bench-loop suites --json
"""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Suites that begin so, told by their folders: a shell waits for the answer."""
    names = sorted(file.parent.name for file in bundled("packs").glob("*/pack.yaml"))
    return [name for name in names if name.startswith(incomplete)]


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(name: str | None, as_json: bool) -> None:
    """List suites and profiles, or the tasks of the suite NAME."""
    from bench_loop.engine.packs import load_pack, pack_names
    from bench_loop.engine.profiles import PROFILES
    from bench_loop.report import catalogue

    packs = [load_pack(found) for found in ([name] if name else pack_names())]
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
