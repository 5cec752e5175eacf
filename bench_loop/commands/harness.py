"""`bench-loop harness`: the programs that stand between model and task."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from bench_loop.commands.parameters import NamedValue
from bench_loop.config import bundled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_loop.contracts.harness import Installation
    from bench_loop.contracts.place import PlaceKind

EXAMPLES = """
\b
Examples:
  bench-loop harness list
  bench-loop harness install aider
  bench-loop harness check aider
  bench-loop run --harness aider --model qwen3:8b
  bench-loop harness remove aider

They are installed into BenchLoop's own data folder, at the versions that were tested; nothing
else on the machine is changed.
"""
NO = 1
"""Exit code after a no."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from bench_loop.registry import names

    return [name for name in names(bundled("harnesses")) if name.startswith(incomplete)]


@click.group(epilog=EXAMPLES)
def command() -> None:
    """List, install, check and remove harness programs.

    A harness works on a task with tools of its own. `raw` is the bare model and always there.
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def list_command(as_json: bool) -> None:
    """List harnesses: what each is, needs and can do."""
    from bench_loop.programs.known import all_harnesses
    from bench_loop.report import harness_list

    harnesses = all_harnesses()
    if as_json:
        click.echo(json.dumps(harness_list.harnesses_json(harnesses), indent=1))
        return
    from bench_loop.console import console

    harness_list.print_harnesses(harnesses, console())


@command.command("install")
@click.argument("name", shell_complete=_complete)
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal.")
def install_command(name: str, yes: bool) -> int:
    """Install NAME at the version that was tested, and check it.

    Exits 1 when you said no, 7 when it is installed and does not work.
    """
    from bench_loop.commands._stopping import stoppable
    from bench_loop.console import console
    from bench_loop.programs.install import install, missing_mb

    installation = _program(name)
    size_mb = missing_mb(name, installation)
    if size_mb == 0:
        click.echo(f"{name} {_version(installation)} is installed already.", err=True)
        return 0
    _show(name, installation, size_mb)
    if not _has_consent("Install it?", yes):
        return NO
    screen = console(stderr=True)
    with stoppable(), screen.status(f"Installing {name}"):
        found = install(name, installation, lambda text: click.echo(text, err=True))
    click.echo(f"Installed {name} {found.record.version} in {found.record.took_s:.0f} s.", err=True)
    return _check(name)


@command.command("check")
@click.argument("name", shell_complete=_complete)
@click.option(
    "--harness-option",
    "options",
    type=NamedValue(),
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the harness, like path=exec.",
)
def check_command(name: str, options: tuple[tuple[str, str], ...]) -> int:
    """Let NAME do one small task with a scripted model. Exits 7 when it does not work."""
    return _check(name, dict(options))


@command.command("remove")
@click.argument("name", shell_complete=_complete)
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal.")
def remove_command(name: str, yes: bool) -> int:
    """Delete NAME, all versions that were installed here. Exits 1 when you said no."""
    from bench_loop.programs.install import remove
    from bench_loop.programs.installed import records

    _program(name)
    for folder, record in records(name):
        click.echo(f"{folder} ({record.size_bytes // 2**20:,} MB)", err=True)
    if not list(records(name)):
        click.echo(f"{name} is not installed.", err=True)
        return 0
    if not _has_consent(f"Delete {name}?", yes):
        return NO
    freed = remove(name, lambda text: click.echo(text, err=True))
    click.echo(f"Removed {name}: {freed // 2**20:,} MB.", err=True)
    return 0


def _check(name: str, options: Mapping[str, str] | None = None) -> int:
    """Check an installed harness and say what came of it; the exit code."""
    from bench_loop.commands._harness import not_installed
    from bench_loop.commands._setup import load_harness
    from bench_loop.commands._stopping import stoppable
    from bench_loop.console import clean, console
    from bench_loop.errors import HarnessError
    from bench_loop.programs.check import check
    from bench_loop.programs.installed import installed

    adapter = load_harness(name, options)
    program = installed(name, _program(name))
    if program is None:
        raise not_installed(name)
    screen = console(stderr=True)
    with stoppable(), screen.status(f"Checking {name}"):
        done = check(adapter, program, _place())
    tokens = "" if done.prompt_tokens is None else f" with {done.prompt_tokens:,} prompt tokens"
    where = "in a sandbox" if done.place == "bubblewrap" else "without a sandbox"
    for fault in done.faults:
        click.echo(f"  {clean(fault)}", err=True)
    if done.faults:
        click.echo(f"{name} does not work here: it ran {where} for {done.wall_s:.1f} s.", err=True)
        return HarnessError.exit_code
    requests = f"{done.requests} request{'s' * (done.requests != 1)}{tokens}"
    click.echo(f"{name} works: it mended a file {where} in {done.wall_s:.1f} s by {requests}.")
    return 0


def _place() -> PlaceKind:
    """A sandbox where there is one; the commands of the scripted model are harmless without."""
    from bench_loop.errors import SandboxError
    from bench_loop.sandboxes.bubblewrap import find_bwrap

    try:
        find_bwrap()
    except SandboxError:
        return "direct"
    return "bubblewrap"


def _program(name: str) -> Installation:
    """How the harness `name` is had. Raises UsageError: there is none, or it is no program."""
    from bench_loop.commands._setup import load_harness
    from bench_loop.errors import UsageError

    adapter = load_harness(name)
    if adapter.installation is None:
        raise UsageError(
            f"{name} is part of BenchLoop: there is nothing to install, check or remove."
        )
    return adapter.installation


def _version(installation: Installation) -> str:
    from bench_loop.programs.installed import version_of

    return version_of(installation)


def _show(name: str, installation: Installation, size_mb: int) -> None:
    """What would come, from where and under which licence."""
    from bench_loop.programs.installed import installation_folder

    registry = {"npm": "npm", "pypi": "PyPI"}[installation.registry]
    node = " and a Node of its own" if size_mb > installation.size_mb else ""
    lines = (
        f"{', '.join(installation.packages)} from {registry}{node}",
        f"licence {installation.licence}, {installation.homepage}",
        f"about {size_mb:,} MB in {installation_folder(name, installation)}",
    )
    for line in lines:
        click.echo(f"  {line}", err=True)


def _has_consent(question: str, yes: bool) -> bool:
    """Raises UsageError where nobody can be asked."""
    from bench_loop.errors import UsageError

    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here.", remedy="Add --yes to do it.")
    return click.confirm(question, default=True, err=True)
