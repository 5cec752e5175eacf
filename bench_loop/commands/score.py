"""`bench-loop score`: the verdict on any output for any task."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from bench_loop.commands._sandbox import opened, sandbox_options

EXAMPLES = """
\b
Examples:
  bench-loop score --task packs/reasonmath/last-bus.yaml --output answer.txt
  ollama run qwen3:8b "..." | bench-loop score --task mine.yaml --convention answer_line --output -
  bench-loop score --task mine/sums/two.yaml --output reply.json --format json
"""

CONVENTIONS = (
    "answer_line",
    "whole_reply",
    "document",
    "json_object",
    "fenced_code",
    "changed_files",
    "tool_calls",
    "workspace",
)
FORMATS = ("text", "json", "sse", "ndjson")
NOT_A_PASS = 1


@click.command(epilog=EXAMPLES)
@click.option("--task", "task_file", required=True, type=click.Path(path_type=Path))
@click.option("--output", required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Text that a model wrote; or the answer of a model server: a whole one, a stream of"
    " events, a stream of Ollama.",
)
@click.option(
    "--convention",
    type=click.Choice(CONVENTIONS),
    help="How the answer is read, for a task without a pack.yaml beside it.",
)
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(
    task_file: Path,
    output: Path,
    form: str,
    convention: str | None,
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    as_json: bool,
) -> int:
    """Judge an output (a file, or - for standard input) by the task in a YAML file.

    Exit code 0: a pass. 1: judged, and no pass. 3: code would have to be run, and there is no
    sandbox. 4: the task file is wrong.
    """
    from typing import cast

    from bench_loop.contracts.task import Convention
    from bench_loop.engine.score import OutputFormat, find_task, judge_saved
    from bench_loop.report import judgement
    from bench_loop.verifiers.judging import needs_sandbox

    task, how = find_task(task_file, cast(Convention | None, convention))
    data = _read(output)
    with opened(
        sandbox_kind, allow_unsafe=allow_unsafe, user=sandbox_user, is_needed=needs_sandbox(task)
    ) as sandbox:
        found = judge_saved(task, how, data, cast(OutputFormat, form), sandbox)
    if as_json:
        click.echo(json.dumps(judgement.judgement_json(found), indent=1))
    else:
        from bench_loop.console import console

        judgement.print_judgement(found, console())
    return 0 if found.verdict.outcome == "pass" else NOT_A_PASS


def _read(output: Path) -> bytes:
    from bench_loop.errors import UsageError

    if str(output) == "-":
        return sys.stdin.buffer.read()
    try:
        return output.read_bytes()
    except OSError as error:
        raise UsageError(f"{output} cannot be read: {error.strerror}.") from error
