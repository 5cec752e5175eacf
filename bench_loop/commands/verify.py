"""`bench-loop verify`: does a result file hold what it says?"""

from __future__ import annotations

import json
from pathlib import Path

import click

from bench_loop.commands._packs import packs_option
from bench_loop.commands._sandbox import opened, sandbox_options

EPILOG = """
\b
Examples:
  bench-loop verify latest
  bench-loop verify downloaded.json --code
  bench-loop verify https://bench.example.org/runs/abcdefgh2345/ --json

Exit codes: 0 all that could be checked held, 1 something does not hold, 2 wrong arguments,
3 --code and no sandbox, 4 the file is no result.
"""

DOES_NOT_HOLD = 1


@click.command(epilog=EPILOG)
@click.argument("source", metavar="FILE|RUN|latest|URL")
@click.option("--code", is_flag=True, help="Run the code that the model wrote, in a sandbox.")
@packs_option("Where the run's private packs are: without it they are not judged again.")
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(
    source: str,
    code: bool,
    packs: Path | None,
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    as_json: bool,
) -> int:
    """Check a result, your own or one from a site, without asking anybody.

    The schema, the fingerprint, the signature; every stored output is judged again by this
    version's verifiers, and every score, count and interval computed again from that. Verdicts on
    code are checked with --code only, since it runs what somebody's model wrote. A signature shows
    that nothing was changed since an installation signed it, not that its measurement is honest.
    """
    from bench_loop.commands._source import read_bytes
    from bench_loop.engine.rescore import wants_sandbox
    from bench_loop.engine.verify import read_strictly, verify
    from bench_loop.report import verification

    name, data = read_bytes(source)
    document, result = read_strictly(data, name)
    with opened(
        sandbox_kind,
        allow_unsafe=allow_unsafe,
        user=sandbox_user,
        is_needed=code and result.imported is None and wants_sandbox(result, packs),
    ) as sandbox:
        found = verify(document, result, sandbox=sandbox, packs=packs)
    if as_json:
        click.echo(json.dumps(verification.verification_json(found, name), indent=1))
    else:
        from bench_loop.console import console

        verification.print_verification(found, console())
    return 0 if found.holds else DOES_NOT_HOLD
