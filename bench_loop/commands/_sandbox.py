"""The options by which commands that judge code choose a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bench_loop.contracts.sandbox import Sandbox

CHOICES = ("auto", "docker", "bubblewrap", "subprocess")

Command = TypeVar("Command", bound=Callable[..., Any])


def sandbox_options(command: Command) -> Command:
    """`--sandbox` and `--allow-unsafe`, as `sandbox_choice` and `is_unsafe_allowed`."""
    unsafe = click.option(
        "--allow-unsafe",
        "is_unsafe_allowed",
        is_flag=True,
        help="Allow --sandbox subprocess, which protects this machine from little.",
    )
    choice = click.option(
        "--sandbox",
        "sandbox_choice",
        type=click.Choice(CHOICES),
        default="auto",
        show_default=True,
        help="Where code that a model wrote is run, if the task needs that.",
    )
    return choice(unsafe(command))


@contextmanager
def opened(choice: str, *, is_unsafe_allowed: bool, is_needed: bool) -> Iterator[Sandbox | None]:
    """The sandbox, closed at the end; None where none is needed. Raises SandboxError."""
    if not is_needed:
        yield None
        return
    from bench_loop.sandboxes.ladder import open_sandbox

    def warn(sentence: str) -> None:
        click.echo(sentence, err=True)

    sandbox = open_sandbox(choice, is_unsafe_allowed=is_unsafe_allowed, warn=warn)
    try:
        yield sandbox
    finally:
        sandbox.close()
