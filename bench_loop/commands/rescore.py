"""`bench-loop rescore`: would a stored run get the same verdicts today?"""

from __future__ import annotations

import json
from pathlib import Path

import click

from bench_loop.commands._packs import packs_option
from bench_loop.commands._sandbox import opened, sandbox_options

EXAMPLES = """
\b
Examples:
  bench-loop rescore latest
  bench-loop rescore --output rescored.json results/latest.json
"""

CHANGED = 1


@click.command(epilog=EXAMPLES)
@click.argument("file")
@packs_option("Where the run's private packs are: without it they are not judged again.")
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the run with its new verdicts to this file, which must not exist yet.",
)
def command(
    file: str,
    packs: Path | None,
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    as_json: bool,
    output: Path | None,
) -> int:
    """Judge the run in FILE (or `latest`) again, with the verifiers and formulas of this version.

    Shows each trial and suite that changed. FILE itself is never touched; what --output writes
    says that it was judged again, and has a fingerprint of its own. A suite whose pack has changed
    since the run keeps its verdicts there. Exit code 0: nothing changed. 1: something did.
    """
    from bench_loop.engine.rescore import rescore, wants_sandbox
    from bench_loop.report import rescoring
    from bench_loop.result.store import from_bytes, newest_result, read, write

    path = newest_result(file)
    data = read(path)
    result = from_bytes(data, str(path))
    with opened(
        sandbox_kind,
        allow_unsafe=allow_unsafe,
        user=sandbox_user,
        is_needed=wants_sandbox(result, packs),
    ) as sandbox:
        found = rescore(result, sandbox=sandbox, packs=packs)
    if output is not None:
        after = found.after
        if after is not result:
            from bench_loop.result.signature import signed_like

            after = signed_like(result, json.loads(data), after)
        write(after, output)
    if as_json:
        click.echo(json.dumps(rescoring.rescore_json(found), indent=1))
    else:
        from bench_loop.console import console

        rescoring.print_rescore(found, console())
    return CHANGED if found.is_changed else 0
