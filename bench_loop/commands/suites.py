"""`bench-loop suites`: what there is to run, and what each profile takes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._packs import packs_option
from bench_loop.config import bundled

if TYPE_CHECKING:
    from bench_loop.report.catalogue import Times

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
@packs_option("List your own packs in DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(name: str | None, packs: Path | None, as_json: bool) -> None:
    """List suites and profiles, or the tasks of the suite NAME.

    The time that each is expected to take rests on the newest result of this installation.
    """
    from bench_loop.engine.profiles import PROFILES
    from bench_loop.engine.shelf import Shelf
    from bench_loop.report import catalogue

    shelf = Shelf(private=packs)
    names = shelf.names() if packs is None else shelf.private_names()
    listed = [shelf.pack(found) for found in ([name] if name else names)]
    profiles = list(PROFILES.values())
    official = [pack.name for pack in listed if not pack.is_private]
    times = _times(official, [] if name else list(PROFILES))
    if as_json:
        document = (
            catalogue.suite_json(listed[0], times)
            if name
            else catalogue.suites_json(listed, profiles, times)
        )
        click.echo(json.dumps(document, indent=1))
        return
    from bench_loop.console import console

    if name:
        catalogue.print_suite(listed[0], times, console())
    else:
        catalogue.print_suites(listed, profiles, times, console())


def _times(suites: list[str], profiles: list[str]) -> Times:
    """What each is expected to take on this machine; empty where no result tells its speed."""
    from bench_loop.config import machine_id, results_folder
    from bench_loop.engine import expected
    from bench_loop.report.catalogue import Times

    last = expected.last_speed(results_folder(), machine_id())
    if last is None:
        return Times({}, {})
    subject = last.run.subject
    model = " ".join(filter(None, (subject.model_id, subject.quantization)))
    return Times(
        suites=expected.expected_of_suites(suites, last.rates),
        profiles=expected.expected_of_profiles(profiles, last.rates),
        basis=f"{model} (run {last.run.run_id})",
    )
