"""Options that several commands have, each group as one decorator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

SERVED = ("ollama", "openai_compat")
"""The providers that speak to a server at an address."""
PROVIDERS = (*SERVED, "embedded")

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]


def together(*options: Option[Any]) -> Option[Any]:
    """These options as one decorator, in this order in the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


server_options = together(
    click.option(
        "--provider",
        type=click.Choice(PROVIDERS),
        help="What serves the model; without it a running server is looked for.",
    ),
    click.option(
        "--endpoint",
        metavar="URL|NAME",
        help="Base URL of the server, or what it is saved under (bench-loop endpoints).",
    ),
)
"""They reach the command as `provider` and `endpoint`."""

machine_options = together(
    click.option("--machine", "label", metavar="LABEL", help="A name for this machine."),
    click.option("--gpu", metavar="NAME", help="Declare the GPU where it cannot be detected."),
    click.option("--gpu-memory-gb", type=click.FloatRange(0.1), help="Declare its memory."),
)
"""They reach the command as `label`, `gpu` and `gpu_memory_gb`."""

output_options = together(
    click.option(
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder for the result files. [results/ in the data folder]",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print each event as one line of JSON."),
)
"""They reach the command as `output` and `as_json`."""
