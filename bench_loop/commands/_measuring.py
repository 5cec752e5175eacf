"""What `run` measures beside its plan, and how long it may take: options, as one value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from bench_loop.commands.parameters import Duration, Streams

OPTIONS = (
    click.option(
        "--speed-budget",
        type=click.FloatRange(0),
        metavar="S",
        help="Seconds for speed: how large its plan is, and how many repeats.",
    ),
    click.option(
        "--budget",
        type=Duration(),
        metavar="TIME",
        help="Time for the whole run, like 15m: refused where the tasks would not fit; stopped, "
        "incomplete, where they turn out slower.",
    ),
    click.option(
        "--context-curve", is_flag=True, help="Measure speed with 8K, 16K and 32K filled."
    ),
    click.option(
        "--concurrency",
        type=Streams(),
        metavar="N,N",
        default="",
        help="Measure so many streams at once, like 1,2,4,8.",
    ),
    click.option(
        "--sustained",
        type=click.FloatRange(0, 120, min_open=True),
        is_flag=False,
        flag_value=10.0,
        metavar="[MINUTES]",
        help="Measure speed under a load of 10 (or so many) minutes, at the end.",
    ),
    click.option("--probe-context", is_flag=True, help="Find how much of the window is usable."),
    click.option(
        "--determinism", is_flag=True, help="Ask the same twice; ranked profiles always do."
    ),
)


def measuring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """These options; they reach the command as one `RunOptions` named `options`."""

    @functools.wraps(command)
    def folded(
        *,
        speed_budget: float | None,
        budget: float | None,
        context_curve: bool,
        concurrency: tuple[int, ...],
        sustained: float | None,
        probe_context: bool,
        determinism: bool,
        **others: Any,
    ) -> Any:
        from bench_loop.engine.plan import RunOptions

        options = RunOptions(
            speed_budget_s=speed_budget,
            budget_s=budget,
            has_context_curve=context_curve,
            concurrency=concurrency,
            sustained_s=None if sustained is None else 60 * sustained,
            probes_context=probe_context,
            probes_determinism=determinism,
        )
        return command(options=options, **others)

    for option in reversed(OPTIONS):
        folded = option(folded)
    return folded
