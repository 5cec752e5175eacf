"""`bench-loop compare`: runs side by side, and whether one is better than the first."""

from __future__ import annotations

import json

import click

EXAMPLES = """
\b
Examples:
  bench-loop compare q4.json q8.json
  bench-loop compare --across-harnesses raw.json opencode.json
  bench-loop compare q4.json latest
  bench-loop compare latest https://bench.example/runs/k3v5m2q7x4ab/
  bench-loop compare --json q4.json q8.json
"""

FEWEST, MOST = 2, 26


@click.command(epilog=EXAMPLES)
@click.argument("files", metavar="RUNS...", nargs=-1, required=True)
@click.option(
    "--across-harnesses",
    is_flag=True,
    help="Compare runs in different harnesses: the harness is what is compared.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(files: tuple[str, ...], across_harnesses: bool, as_json: bool) -> None:
    """Compare RUNS: every suite and aggregate, each further run against the first.

    A run is a result file, its id in the data folder or the part of it that `runs list` shows,
    `latest` (the newest there), or the address of its page on a site. Says why two are not
    comparable, or else which one is better, how sure that is, and in which tasks they differ; of
    more than two runs also the ranks.
    """
    from bench_loop.errors import UsageError

    if not FEWEST <= len(files) <= MOST:
        noun = "run is" if len(files) == 1 else "runs are"
        raise UsageError(
            f"{len(files)} {noun} given; compare takes {FEWEST} to {MOST}.",
            remedy="bench-loop compare a.json b.json",
        )
    from bench_loop.commands._source import read_result
    from bench_loop.report import comparison

    runs = [read_result(file) for file in files]
    names = list(files)
    pairs = comparison.pairs_with_first(runs, may_harness_differ=across_harnesses)
    if as_json:
        click.echo(json.dumps(comparison.comparison_json(runs, names, pairs), indent=1))
        return
    from bench_loop.console import console

    comparison.print_comparison(runs, names, pairs, console())
