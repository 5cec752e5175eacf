"""`bench-loop schema`: the JSON Schema of the result file, or of task files."""

from __future__ import annotations

import json

import click


@click.command(epilog="Example: bench-loop schema > result-v1.json")
@click.option("--task", "of_tasks", is_flag=True, help="Of the task files in a pack.")
def command(of_tasks: bool) -> None:
    """Print the JSON Schema (draft 2020-12) of the result file, or of task files."""
    if of_tasks:
        from bench_loop.engine.task_schema import task_schema

        click.echo(json.dumps(task_schema(), indent=2))
        return
    from bench_loop.result.schema import result_schema

    click.echo(json.dumps(result_schema(), indent=2))
