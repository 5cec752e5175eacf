"""How commands that judge code choose their sandbox: options, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from bench_loop.commands._options import together

if TYPE_CHECKING:
    from bench_loop.contracts.sandbox import Sandbox

SANDBOXES = ("auto", "docker", "bubblewrap", "subprocess")

sandbox_options = together(
    click.option(
        "--sandbox",
        "sandbox_kind",
        type=click.Choice(SANDBOXES),
        default="auto",
        show_default=True,
        help="Where code that the model wrote is run.",
    ),
    click.option(
        "--allow-unsafe", is_flag=True, help="Allow --sandbox subprocess, which is unsafe."
    ),
    click.option(
        "--sandbox-user", type=int, metavar="UID", help="User to become, when run by root."
    ),
)
"""They reach the command as `sandbox_kind`, `allow_unsafe` and `sandbox_user`."""


def open_chosen(kind: str, *, allow_unsafe: bool, user: int | None) -> Sandbox:
    """The sandbox of these options, its self-test passed; close it. Raises SandboxError."""
    from bench_loop.sandboxes.ladder import open_sandbox

    return open_sandbox(kind, is_unsafe_allowed=allow_unsafe, user=user, warn=warn)


@contextmanager
def opened(
    kind: str, *, allow_unsafe: bool, user: int | None, is_needed: bool
) -> Iterator[Sandbox | None]:
    """`open_chosen`, closed at the end; None where none is needed."""
    if not is_needed:
        yield None
        return
    sandbox = open_chosen(kind, allow_unsafe=allow_unsafe, user=user)
    try:
        yield sandbox
    finally:
        sandbox.close()


def warn(sentence: str) -> None:
    """Say something that is no error, where it does not get among the output.

    It may quote a server, so it is made harmless.
    """
    from bench_loop.report.printable import printable

    click.echo(printable(sentence), err=True)
