"""`bench-loop validate`: are these packs fit to be run?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_loop.commands._sandbox import opened, sandbox_options

if TYPE_CHECKING:
    from bench_loop.engine.validate import Validation

EXAMPLES = """
\b
Examples:
  bench-loop validate
  bench-loop validate my-packs
  bench-loop validate --json my-packs/sums
"""

FAULTY, UNCHECKED = 4, 3


@click.command(epilog=EXAMPLES)
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(
    folder: Path | None,
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    as_json: bool,
) -> int:
    """Check the pack in FOLDER, or every pack in it; without FOLDER, the packs that came along.

    Every file must follow the schema, every reference and other right form must pass, every near
    miss must fail for its reason, and nonsense must fail. Exit code 4: something is wrong. 3: there
    is no sandbox, so that not all could be checked.
    """
    from bench_loop.engine.validate import validate, wants_sandbox
    from bench_loop.errors import SandboxError

    remedy: str | None = None
    try:
        with opened(
            sandbox_kind,
            allow_unsafe=allow_unsafe,
            user=sandbox_user,
            is_needed=wants_sandbox(folder),
        ) as sandbox:
            found = validate(folder, sandbox)
    except SandboxError as error:
        found, remedy = validate(folder), error.remedy
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=1))
    else:
        _print(found, remedy)
    if found.faults:
        return FAULTY
    return UNCHECKED if found.unchecked else 0


def _as_json(found: Validation) -> dict[str, Any]:
    return {
        "packs": list(found.packs),
        "task_count": found.task_count,
        "faults": [asdict(fault) for fault in found.faults],
        "unchecked": list(found.unchecked),
    }


def _print(found: Validation, remedy: str | None) -> None:
    """Each fault on a line of its own, to be copied and searched, then the sum."""
    from rich.text import Text

    from bench_loop.console import clean, console

    screen = console()
    for fault in found.faults:
        screen.print(Text(clean(str(fault))), soft_wrap=True)
    packs = "1 pack" if len(found.packs) == 1 else f"{len(found.packs)} packs"
    tasks = "1 task" if found.task_count == 1 else f"{found.task_count} tasks"
    faults = {0: "no fault", 1: "1 fault"}.get(len(found.faults), f"{len(found.faults)} faults")
    screen.print(Text(f"{packs}, {tasks}: {faults}"))
    if found.unchecked:
        names = ", ".join(found.unchecked)
        screen.print(Text(f"Not checked without a sandbox: {clean(names)}. {remedy or ''}"))
