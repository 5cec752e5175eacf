"""Options that have no say beside another one."""

from __future__ import annotations

import click
from click.core import ParameterSource


def refuse_beside(ctx: click.Context, option: str, allowed: frozenset[str]) -> None:
    """Raises UsageError for an option that `option` has already decided."""
    from bench_loop.errors import UsageError

    for parameter in ctx.command.params:
        name = parameter.name or ""
        is_given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in allowed:
            raise UsageError(
                f"{option} takes the plan and its settings as they were.",
                remedy=f"Leave {parameter.opts[0]} out.",
            )
