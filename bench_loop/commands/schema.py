"""`bench-loop schema`: the JSON Schema of the result file."""

from __future__ import annotations

import json

import click


@click.command(epilog="Example: bench-loop schema > result-v1.json")
def command() -> None:
    """Print the JSON Schema (draft 2020-12) of the result file."""
    from bench_loop.result.schema import result_schema

    click.echo(json.dumps(result_schema(), indent=2))
