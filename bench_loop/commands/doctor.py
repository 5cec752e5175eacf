"""`bench-loop doctor`: what speaks against a run here, and what mends it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from bench_loop.commands._options import PROVIDERS
from bench_loop.commands._setup import DEFAULT_WINDOW

if TYPE_CHECKING:
    from bench_loop.doctor.examine import Chosen

EPILOG = """
\b
Examples:
  bench-loop doctor
  bench-loop doctor --provider ollama --model qwen3:8b
  bench-loop doctor --report > report.md
"""


@click.command(epilog=EPILOG)
@click.option("--model", "model_id", help="Ask this model; without it, one that is loaded.")
@click.option("--provider", type=click.Choice(PROVIDERS), help="What serves it.")
@click.option("--endpoint", metavar="URL|NAME", help="Look at this server only.")
@click.option(
    "--context-window",
    type=click.IntRange(512, 1_048_576),
    default=DEFAULT_WINDOW,
    show_default=True,
    help="Window in tokens that a run would ask for.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
@click.option(
    "--report",
    "as_report",
    is_flag=True,
    help="Print text to paste into an issue: no names, addresses, folders or keys.",
)
def command(
    model_id: str | None,
    provider: str | None,
    endpoint: str | None,
    context_window: int,
    as_json: bool,
    as_report: bool,
) -> int:
    """Look for what would make a run slow, wrong or impossible, and name what mends it.

    Model servers (version, window, chat template, tools, three prompts to a loaded model), GPU,
    power, heat, other load, clock, disk, sandbox and harnesses. Changes nothing. Exits 1 where
    something must be mended before a run.
    """
    from rich.status import Status
    from rich.text import Text

    from bench_loop.console import clean, console
    from bench_loop.doctor.examine import examine
    from bench_loop.doctor.host import Host
    from bench_loop.errors import UsageError
    from bench_loop.report.doctor import examination_json, examination_report, print_examination

    if as_json and as_report:
        raise UsageError("--json and --report exclude each other.", remedy="Leave one out.")
    with ExitStack() as stack:
        chosen = _chosen(model_id, provider, endpoint, context_window, stack)
        status = Status("Looking", console=console(stderr=True), spinner="line")
        with status:
            result = examine(
                Host(),
                chosen,
                window=context_window,
                # As a text of its own: a plain one would be read as markup.
                say=lambda what: status.update(Text(f"Looking at {clean(what)}")),
            )
    if as_json:
        click.echo(json.dumps(examination_json(result), indent=1))
    elif as_report:
        click.echo(examination_report(result), nl=False)
    else:
        print_examination(result, console())
    return 1 if result.is_serious else 0


def _chosen(
    model_id: str | None,
    provider: str | None,
    endpoint: str | None,
    context_window: int,
    stack: ExitStack,
) -> Chosen | None:
    """The server that the options name; None: all that are found."""
    from bench_loop.commands._setup import connect
    from bench_loop.doctor.examine import Chosen
    from bench_loop.providers.embedded import DEFAULT_MODEL

    if model_id is None and provider is None and endpoint is None:
        return None
    if provider == "embedded":
        model_id = model_id or DEFAULT_MODEL
    found = connect(provider, endpoint, model_id or "", context_window)
    stack.callback(found.close)
    return Chosen(found, model_id)
