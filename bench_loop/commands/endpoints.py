"""`bench-loop endpoints`: addresses of model servers under names."""

from __future__ import annotations

import json

import click

from bench_loop.commands._options import SERVED


@click.group(
    invoke_without_command=True,
    epilog="""
\b
Examples:
  bench-loop endpoints add gpu-box http://192.168.1.20:8080
  bench-loop run --endpoint gpu-box --model qwen3:8b
  bench-loop endpoints remove gpu-box
""",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Keep addresses of model servers under names, for --endpoint NAME.

    Without a command it lists them. bench-loop info shows what answers there.
    """
    if ctx.invoked_subcommand is None:
        _show(as_json)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def list_command(as_json: bool) -> None:
    """List what is saved."""
    _show(as_json)


@command.command("add")
@click.argument("name")
@click.argument("url")
@click.option("--provider", type=click.Choice(SERVED), help="What answers there, if known.")
def add_command(name: str, url: str, provider: str | None) -> None:
    """Save URL under NAME, in place of what was there."""
    from bench_loop.providers.discover.endpoints import save_endpoint

    endpoint = save_endpoint(name, url, provider)
    click.echo(f"Saved {endpoint.name}: {endpoint.url}")


@command.command("remove")
@click.argument("name")
def remove_command(name: str) -> None:
    """Forget NAME."""
    from bench_loop.providers.discover.endpoints import remove_endpoint

    remove_endpoint(name)
    click.echo(f"Removed {name}.")


def _show(as_json: bool) -> None:
    from bench_loop.console import clean
    from bench_loop.providers.discover.endpoints import saved_endpoints

    known = saved_endpoints()
    if as_json:
        rows = [{"name": e.name, "url": e.url, "provider": e.provider} for e in known]
        click.echo(json.dumps(rows, indent=1))
        return
    if not known:
        click.echo("No endpoint is saved. Save one with: bench-loop endpoints add NAME URL")
    wide = max((len(endpoint.name) for endpoint in known), default=0)
    for endpoint in known:
        words = (f"{endpoint.name:{wide}}", clean(endpoint.url), endpoint.provider)
        click.echo("  ".join(filter(None, words)))
