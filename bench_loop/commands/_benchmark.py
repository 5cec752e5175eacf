"""One run with its display, or with its events as JSON, to its end or to where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from bench_loop.commands._setup import Wanted, opened_setup

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from bench_loop.engine.events import Event, Listener
    from bench_loop.engine.gap import FoundGap
    from bench_loop.engine.plan import RunOptions, RunPlan
    from bench_loop.engine.run import Setup
    from bench_loop.engine.run_folder import OpenRun
    from bench_loop.errors import BenchLoopError
    from bench_loop.report.progress import RunProgress
    from bench_loop.result.records import RunResult


def run_planned(
    plan: RunPlan,
    wanted: Wanted,
    output: Path,
    options: RunOptions | None = None,
    *,
    as_json: bool = False,
    resumed: OpenRun | None = None,
    run_id: str | None = None,
    check: Callable[[RunPlan, Setup], None] | None = None,
) -> RunResult:
    """Open the parts, run the plan, tell of it, and give a complete result.

    It goes on with the run `resumed`, or begins one of the id `run_id`; without both one of any id.
    `check` looks at the parts before anything is measured, and raises what it has against them.
    Raises ProviderError or SandboxError, with the way to go on, for an incomplete one.
    """
    from bench_loop.result.store import make_ready

    make_ready(output)
    streams = max(options.concurrency, default=1) if options is not None else 1
    with opened_setup(plan, wanted, streams) as setup:
        if check is not None:
            check(plan, setup)
        lacks_sandbox = setup.sandbox is None and plan.needs_sandbox
        if as_json:
            result = benchmark_as_json(plan, setup, output, options, resumed=resumed, run_id=run_id)
        else:
            result = benchmark(
                plan,
                setup,
                output,
                options,
                is_endpoint_named=wanted.endpoint is not None,
                resumed=resumed,
                run_id=run_id,
            )
    if result.status != "complete":
        raise incomplete(result, lacks_sandbox=lacks_sandbox)
    return result


def benchmark(
    plan: RunPlan,
    setup: Setup,
    output: Path,
    options: RunOptions | None = None,
    *,
    is_endpoint_named: bool = False,
    resumed: OpenRun | None = None,
    run_id: str | None = None,
) -> RunResult:
    """Run the plan with a live display and print the report; the result is in `output`."""
    from bench_loop.console import console
    from bench_loop.engine.run import Run
    from bench_loop.report.terminal import print_run

    screen = console()
    progress = progress_of(plan, setup, screen)
    with _told_how_to_resume(progress) as listen, progress:
        result = Run(plan, setup, output, listen, options, resumed=resumed, run_id=run_id).go()
    endpoint = setup.server.endpoint if is_endpoint_named else None
    print_run(result, screen, progress.file, endpoint, _gap_of(result, output))
    return result


def _gap_of(result: RunResult, output: Path) -> FoundGap | None:
    """That of a fresh run to a frozen one on this machine."""
    if result.settings.fresh_seed is None:
        return None
    from bench_loop.engine.gap import find_gap

    return find_gap(result, [output])


def progress_of(plan: RunPlan, setup: Setup, screen: Console) -> RunProgress:
    """The display of a run of `plan` on these parts."""
    from bench_loop.report.progress import RunProgress

    return RunProgress(screen, planned=plan.quality_counts, nodes=signal_nodes(setup))


def signal_nodes(setup: Setup) -> tuple[str, ...]:
    """What a trial on these parts goes through, from the weights to the verifier."""
    from bench_loop.names.parse import parse_model

    name = parse_model(setup.model.model_id, setup.model, provider=setup.server.engine)
    return (
        " ".join(filter(None, (name.model_id, name.quantization))),
        " ".join(filter(None, (setup.server.engine, setup.server.version))),
        *(("gateway",) if setup.outside or setup.gated else ()),
        f"{setup.harness.name} {setup.harness.version}",
        "verifier",
    )


def benchmark_as_json(
    plan: RunPlan,
    setup: Setup,
    output: Path,
    options: RunOptions | None = None,
    *,
    resumed: OpenRun | None = None,
    run_id: str | None = None,
) -> RunResult:
    """Run the plan and print each event as one line of JSON as it comes."""
    from bench_loop.engine.run import Run
    from bench_loop.report.event_lines import event_line

    with _told_how_to_resume(lambda event: click.echo(event_line(event))) as listen:
        result = Run(plan, setup, output, listen, options, resumed=resumed, run_id=run_id).go()
    gap = _gap_of(result, output)
    if gap is not None:
        from bench_loop.report.gap import gap_json

        click.echo(json.dumps({"event": "gap", **gap_json(gap)}))
    return result


@contextmanager
def _told_how_to_resume(listener: Listener) -> Iterator[Listener]:
    """`listener`; of a run that is stopped, how to go on is told at the end."""
    from bench_loop.engine.events import RunStarted

    run_id: str | None = None

    def listen(event: Event) -> None:
        nonlocal run_id
        if isinstance(event, RunStarted):
            run_id = event.run_id
        listener(event)

    try:
        yield listen
    except KeyboardInterrupt:
        from bench_loop.config import runs_folder

        if run_id is not None and (runs_folder() / run_id).exists():
            click.echo(f"Go on with it: {resume_command(run_id)}", err=True)
        elif run_id is not None:
            click.echo("No trial was finished: there is nothing to go on with.", err=True)
        raise


def resume_command(run_id: str) -> str:
    """What to type to go on with a run."""
    from bench_loop.console import program

    return f"{program()} run --resume {run_id}"


def incomplete(result: RunResult, *, lacks_sandbox: bool) -> BenchLoopError:
    """The error that a run ends with when not all of its plan was measured."""
    from bench_loop.engine.run import SANDBOX_REMEDY
    from bench_loop.engine.stopping import is_out_of_time
    from bench_loop.errors import ProviderError, SandboxError, SetupError

    message = f"The run is incomplete: {result.status_reason}"
    go_on = f"then go on with it: {resume_command(result.run_id)}"
    if lacks_sandbox:
        return SandboxError(message, remedy=f"{SANDBOX_REMEDY} And {go_on}")
    if is_out_of_time(result.status_reason):
        return SetupError(message, remedy=f"Give it the time it needs, {go_on}")
    return ProviderError(message, remedy=f"See to the server, {go_on}")
