"""`bench-loop quickstart`: from nothing to a measured model on the local leaderboard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench_loop.contracts.provider import Provider


@click.command(
    epilog="""
\b
Examples:
  bench-loop quickstart
  bench-loop quickstart --model qwen2.5-coder-0.5b
  BENCHLOOP_NO_SERVE=1 bench-loop quickstart
"""
)
@click.option(
    "--model",
    "model_id",
    help="A model of the running server; with none running, a short name or a GGUF file.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the local site. [8877]")
@click.option("--no-serve", is_flag=True, help="Stop after the report (or BENCHLOOP_NO_SERVE=1).")
def command(model_id: str | None, port: int | None, no_serve: bool) -> int:
    """Benchmark a model on this machine and open the local site.

    Uses a running model server if there is one. With none, a small model is fetched
    and served by the built-in llama.cpp engine for as long as the benchmark takes.
    Without a sandbox, the tasks whose code would run in one are left out.
    """
    from contextlib import ExitStack

    from bench_loop.commands._benchmark import benchmark, incomplete
    from bench_loop.commands._sandbox import warn
    from bench_loop.commands._setup import load_harness, prepare, sandbox_for
    from bench_loop.commands._stopping import stoppable
    from bench_loop.config import results_folder
    from bench_loop.engine.plan import make_plan
    from bench_loop.engine.profiles import CONTEXT_WINDOW
    from bench_loop.result.store import make_ready
    from bench_loop.sandboxes.ladder import AUTO

    plan = make_plan(profile="smoke", context_window=CONTEXT_WINDOW)
    folder = results_folder()
    make_ready(folder)
    with stoppable(), ExitStack() as stack:
        sandbox = sandbox_for(plan, AUTO)
        if sandbox is not None:
            stack.callback(sandbox.close)
        provider, model_id = find_model(model_id, plan.context_window)
        stack.callback(provider.close)
        setup = prepare(provider, model_id, load_harness("raw"), sandbox=sandbox)
        result = benchmark(plan, setup, folder)
    if result.status != "complete":
        # A first look ends with what there is to see, and with no error.
        lack = incomplete(result, lacks_sandbox=sandbox is None)
        warn(f"{lack.message} {lack.remedy}")
    if no_serve or os.environ.get("BENCHLOOP_NO_SERVE") == "1":
        from bench_loop.console import program

        click.echo(f"Open the leaderboard with: {program()} serve")
        return 0
    from bench_loop.commands.serve import serve

    return serve(port)


def find_model(model_id: str | None, context_window: int) -> tuple[Provider, str]:
    """A running server and a chat model on it, else the embedded engine; not yet loaded.

    Without a name, the model that is loaded is taken, else the smallest.
    """
    from bench_loop.console import clean
    from bench_loop.providers import discover, embedded

    found = discover.find_server(click.echo)
    if found is None:
        chosen = model_id or embedded.DEFAULT_MODEL
        click.echo(f"No model server is running: starting the embedded engine with {chosen}.")
        return embedded.start(chosen, context_window, on_progress=click.echo), chosen
    provider = discover.connect(found)
    if model_id is None:
        model_id = discover.usable_models(provider)[0].model_id
    click.echo(f"Using {clean(model_id)} on {found.engine} at {found.endpoint}.")
    return provider, model_id
