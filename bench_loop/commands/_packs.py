"""Which packs a command takes: a person's own, and fresh instances."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._options import Command
from bench_loop.commands.parameters import Seed

if TYPE_CHECKING:
    from bench_loop.engine.plan import RunPlan

fresh_seed_option = click.option(
    "--fresh-seed",
    type=Seed(),
    metavar="N",
    help="Draw new instances of the tasks that belong to a family, by this seed; leave the others "
    "out. What was learned by heart is of no use on them.",
)


def packs_option(help_text: str) -> Callable[[Command], Command]:
    """`--packs DIR`, a folder of a person's own packs, which reaches the command as `packs`."""
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--packs", type=folder, metavar="DIR", help=help_text)


def tell_of_instances(plan: RunPlan) -> None:
    """Say of a fresh run how many instances each suite has, and what was left out."""
    if plan.fresh_seed is None:
        return
    counts = ", ".join(
        f"{suite.pack.name} {len(suite.tasks)} of {len(suite.tasks) + (suite.left_out or 0)} tasks"
        for suite in plan.quality_suites
    )
    rest = "tasks without a family are left out"
    click.echo(f"Fresh instances of seed {plan.fresh_seed}: {counts}; {rest}.", err=True)
