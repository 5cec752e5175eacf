"""`bench-loop selftest`: how far BenchLoop's own clocks can be believed on this machine."""

from __future__ import annotations

import json

import click

EPILOG = """
\b
Examples:
  bench-loop selftest --quick
  bench-loop selftest
  bench-loop selftest --json > selftest.json
"""


@click.command(epilog=EPILOG)
@click.option("--quick", "is_quick", is_flag=True, help="Leave out slow servers and llama.cpp.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(is_quick: bool, as_json: bool) -> int:
    """Measure simulated servers of known speed and show how far the figures are off.

    The simulator is a process of its own that logs when it really sent each token. Without
    --quick the embedded llama.cpp engine is measured too, beside its own timings, where it is
    installed. Exits 1 when a bar is not met. Takes about 4 minutes (--quick: 80 seconds),
    in which nothing else should run; on a pipe each result is printed to standard error as it
    comes.
    """
    from bench_loop.console import console
    from bench_loop.report.selftest import print_selftest, selftest_json
    from bench_loop.report.selftest_progress import SelfTestProgress
    from bench_loop.selftest.cases import cases, traps
    from bench_loop.selftest.run import self_test

    total = len(cases(is_quick=is_quick)) + len(traps())
    with SelfTestProgress(console(stderr=True), total) as progress:
        result = self_test(is_quick=is_quick, watch=progress)
    if as_json:
        click.echo(json.dumps(selftest_json(result), indent=1))
    else:
        print_selftest(result, console())
    return 0 if result.passes else 1
