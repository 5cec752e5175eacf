"""Going on with a run that was stopped, cut off, or left incomplete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._setup import Wanted

if TYPE_CHECKING:
    from bench_loop.engine.recorded import Recorded
    from bench_loop.engine.run_folder import OpenRun
    from bench_loop.result.records import HarnessSettings

NEWEST = "newest"
"""Stands for the newest run that can be gone on with."""


def resume(
    name: str,
    *,
    endpoint: str | None,
    is_unsafe_allowed: bool,
    sandbox_user: int | None,
    as_json: bool,
    budget_s: float | None = None,
    packs: Path | None = None,
) -> None:
    """Go on with the run that `name` means, on the same plan.

    `packs` is where private packs are now; None: where they were.
    `budget_s` is for what is left of it. None: what is left of the budget that it began with; a
    budget that is spent is none, since going on means to give it the time that it needs.

    Raises UsageError for a run that does not exist or is being written, SetupError when its server,
    model, settings or packs are not what they were.
    """
    from bench_loop.commands._benchmark import run_planned
    from bench_loop.engine.resume import plan_again
    from bench_loop.engine.run_folder import OpenRun, find_run
    from bench_loop.errors import UsageError

    folder = newest_resumable() if name == NEWEST else find_run(name)
    with OpenRun.resumed(folder) as run:
        known = run.read()
        if known.planned.matrix is not None:
            raise UsageError(
                f"The run {known.run_id} is an arm of a matrix, and goes on with the others.",
                remedy=f"bench-loop matrix --resume {known.planned.matrix.matrix_id}",
            )
        if known.is_complete:
            _tell_complete(run, known)
            return
        plan = plan_again(known, packs)
        options = replace(known.planned.request.options, budget_s=budget_s or _budget_left(known))
        click.echo(_words(known, options.budget_s), err=True)
        wanted = replace(
            _wanted(known), is_unsafe_allowed=is_unsafe_allowed, sandbox_user=sandbox_user
        )
        if endpoint is not None:
            wanted = replace(wanted, endpoint=endpoint)
        output = Path(known.planned.output)
        run_planned(plan, wanted, output, options, as_json=as_json, resumed=run)


def _wanted(known: Recorded) -> Wanted:
    """The parts that the run was begun with; our own server gets an address of its own."""
    request, machine = known.planned.request, known.conditions.machine
    declared, program = machine.declared, known.conditions.harness_settings
    return Wanted(
        model_id=request.model,
        provider=request.provider,
        endpoint=None if request.provider == "embedded" else request.endpoint,
        harness=known.conditions.harness,
        harness_options=program.options if program else {},
        is_forced=bool(program and program.forced),
        thinking=request.thinking,
        sandbox_kind=_sandbox_kind(request.sandbox, program),
        label=machine.machine_label,
        gpu=declared.gpu if declared else None,
        gpu_memory_gb=declared.gpu_memory_gb if declared else None,
    )


def _sandbox_kind(sandbox: str | None, program: HarnessSettings | None) -> str:
    """A harness that ran directly on the machine does so again, if that is allowed again."""
    if program is not None and program.place == "direct":
        return "subprocess"
    return sandbox or "auto"


def newest_resumable() -> Path:
    """The newest run with something left to do that no process writes. Raises UsageError."""
    from bench_loop.engine.journal import JOURNAL
    from bench_loop.engine.recorded import read_journal
    from bench_loop.engine.run_folder import LIST_RUNS, run_folders
    from bench_loop.engine.run_lock import is_live
    from bench_loop.errors import JournalError, UsageError

    for folder in reversed(run_folders()):
        try:
            if not is_live(folder) and read_journal(folder / JOURNAL)[0].can_go_on:
                return folder
        except JournalError as error:
            click.echo(f"Left out: {error.message}", err=True)
    raise UsageError("There is no run to go on with.", remedy=LIST_RUNS)


def _tell_complete(run: OpenRun, known: Recorded) -> None:
    """Say that the run is complete; write its result if that is still to be done, or gone."""
    from bench_loop.engine.assemble import finished
    from bench_loop.engine.journal import ResultSaved
    from bench_loop.engine.run_folder import result_file
    from bench_loop.result.store import save

    file = result_file(known)
    if not file.exists():
        save(finished(known), file.parent)
    if not known.is_saved:
        run.append(ResultSaved())
    click.echo(f"The run {known.run_id} is complete already: {file}", err=True)


def _budget_left(known: Recorded) -> float | None:
    """Seconds that the run has left; None: it had no budget, or has spent it."""
    from bench_loop.engine.stopping import is_out_of_time

    budget_s = known.planned.request.options.budget_s
    if budget_s is None or is_out_of_time(known.end.status_reason):
        return None
    return max(budget_s - known.runtime_s, 0.0) or None


def _words(known: Recorded, budget_s: float | None) -> str:
    from bench_loop.report import figures

    planned = known.planned
    within = "" if budget_s is None else f" For the rest it has {figures.duration(budget_s)}."
    return (
        f"Going on with {known.run_id}: {planned.request.model}, {planned.profile}, "
        f"{len(known.trials)} trials are done.{within}"
    )
