"""What `bench-loop matrix` does: its plan, and what it tells before, meanwhile and in the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._matrix_work import MatrixWork
from bench_loop.commands._setup import Wanted, load_harness
from bench_loop.console import program
from bench_loop.report import figures

if TYPE_CHECKING:
    from bench_loop.engine.blocks import Block
    from bench_loop.engine.matrix import Arm, Matrix, OpenMatrix
    from bench_loop.engine.plan import RunPlan
    from bench_loop.engine.speed_plans import Rates
    from bench_loop.report.matrix_progress import ArmSoFar
    from bench_loop.result.records import RunResult, Trial
    from bench_loop.scoring.cells import Refusal

ENDED = frozenset({"complete", "refused", "incomplete"})
"""States of an arm that has had all its turns, or gets none."""
PROFILE = "harness"
"""What is run where no suite and no task is named."""


@dataclass(frozen=True, slots=True)
class Request:
    """A matrix as it was asked for; None leaves the choice to BenchLoop."""

    models: tuple[str, ...]
    harnesses: tuple[str, ...]
    suites: tuple[str, ...] | None
    task_ids: tuple[str, ...] | None
    trials: int | None
    context_window: int | None
    fresh_seed: int | None
    packs: Path | None
    output: Path
    wanted: Wanted
    """Of every arm; model and harness are the arm's own."""


def template_text(file: Path) -> str:
    """A chat template. Raises ResultError where it cannot be read, UsageError for no text."""
    from bench_loop.errors import UsageError
    from bench_loop.result.store import read

    try:
        return read(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is no text in UTF-8.", remedy="Give a Jinja template.") from error


def begin(request: Request, *, is_plan_only: bool, as_json: bool) -> None:
    """Begin a matrix and work through it, or only say what it would be."""
    from bench_loop.commands._queue import asked_of
    from bench_loop.engine.matrix import OpenMatrix
    from bench_loop.engine.plan import RunOptions
    from bench_loop.result.store import make_ready

    plan, is_profile = _first_plan(request)
    asked = asked_of(
        plan,
        request.wanted,
        RunOptions(),
        request.output,
        PROFILE if is_profile else None,
        cool_down_s=0.0,
        trials=request.trials,
    )
    work = MatrixWork(asked, request.task_ids)
    work.refuse_unready(request.models[0], request.harnesses)
    _tell_plan(plan, request)
    if is_plan_only:
        return
    make_ready(request.output)
    matrix = OpenMatrix.begun(request.models, request.harnesses, asked, request.task_ids)
    try:
        with matrix:
            _work_through(matrix, work, as_json=as_json)
    finally:
        if matrix.state.is_untouched:
            matrix.discard()


def resume(name: str | None, endpoint: str | None, *, as_json: bool) -> None:
    """Go on with a matrix; `endpoint` is where its server is now."""
    from bench_loop.engine.matrix import OpenMatrix, find_matrix

    with OpenMatrix.resumed(find_matrix(name)) as matrix:
        if endpoint is not None:
            matrix.keep(asked=matrix.state.asked.model_copy(update={"endpoint": endpoint}))
        state = matrix.state
        _work_through(matrix, MatrixWork(state.asked, state.task_ids), as_json=as_json)


def show(name: str | None, *, as_json: bool) -> None:
    """Show what came of a matrix."""
    from bench_loop.engine.matrix import find_matrix, newest_matrix, read_matrix

    folder = newest_matrix() if name is None else find_matrix(name)
    _tell(read_matrix(folder), folder, as_json=as_json)


def _first_plan(request: Request) -> tuple[RunPlan, bool]:
    """The plan of every arm, and whether it is that of the profile. Raises UsageError."""
    from bench_loop.engine.plan import make_plan, only_tasks
    from bench_loop.engine.shelf import Shelf
    from bench_loop.errors import UsageError

    shelf = Shelf(request.fresh_seed, request.packs)
    suites = request.suites
    if suites is None and request.packs is not None:
        suites = tuple(shelf.private_names())
    if suites is None and request.task_ids is not None:
        suites = tuple(dict.fromkeys(task_id.partition(".")[0] for task_id in request.task_ids))
    if suites is not None and "speed" in suites:
        raise UsageError(
            "Speed is no suite of a matrix: it is the model's and its server's, in any harness.",
            remedy="Leave it out; bench-loop run --suites speed measures it.",
        )
    needs = [load_harness(name).needs.context_window for name in request.harnesses]
    plan = make_plan(
        profile=PROFILE if suites is None else None,
        suites=suites,
        trials=request.trials,
        context_window=request.context_window,
        least_window=max(needs),
        is_thinking=request.wanted.thinking is True,
        shelf=shelf,
    )
    if request.task_ids is not None:
        plan = only_tasks(plan, request.task_ids)
    return plan, suites is None


def _tell_plan(plan: RunPlan, request: Request) -> None:
    from bench_loop.engine.blocks import blocks

    arms = len(request.models) * len(request.harnesses)
    turns = len(blocks(plan, len(request.harnesses))) * len(request.models)
    each = len(plan.quality_trials)
    _say(
        f"{figures.counted(len(request.models), 'model')} x "
        f"{figures.counted(len(request.harnesses), 'harness', 'harnesses')}: "
        f"{figures.counted(arms, 'arm')}, {figures.counted(each * arms, 'trial')} in "
        f"{figures.counted(turns, 'block')}, window {figures.count(plan.context_window)}"
    )
    suites = ", ".join(f"{name} {count}" for name, count in plan.quality_counts.items())
    _say(f"trials of each arm: {suites}")
    for harness in request.harnesses:
        needed = load_harness(harness).needs.context_window or 0
        if needed > plan.context_window and not request.wanted.is_forced:
            _say(
                f"{harness} needs a window of {figures.count(needed)}: it will be left out, "
                "or run all the same with --force"
            )
    for model_id in request.models:
        known = _known_rates(model_id, request.output)
        if known is None:
            told = "how long it takes is told once it is loaded"
        else:
            seconds = sum(_expected(plan, request.harnesses, known).values())
            told = f"about {figures.duration(seconds)} by its last measured speed"
        _say(f"{model_id}: {told}")


def _expected(plan: RunPlan, harnesses: Sequence[str], rates: Rates) -> Mapping[Block, float]:
    from bench_loop.engine.blocks import blocks
    from bench_loop.engine.expected import expected_block_s

    adapters = [load_harness(name) for name in harnesses]
    return {
        block: expected_block_s(plan, block, rates, adapters[block.arm])
        for block in blocks(plan, len(harnesses))
    }


def _known_rates(model_id: str, folder: Path) -> Rates | None:
    """The speed of the model by the newest result of this machine; None: none tells it."""
    from bench_loop.config import machine_id
    from bench_loop.engine.expected import last_speed
    from bench_loop.names.parse import parse_model

    found = last_speed(folder, machine_id(), parse_model(model_id).model_id)
    return found.rates if found else None


def _work_through(matrix: OpenMatrix, work: MatrixWork, *, as_json: bool) -> None:
    from bench_loop.console import console
    from bench_loop.report.matrix_progress import MatrixProgress

    try:
        if as_json:
            matrix.work_through(work, work.listen)
        else:
            with MatrixProgress(console(), _so_far(matrix.state, work)) as work.progress:
                matrix.work_through(work, work.listen)
    except BaseException:
        _tell_unfinished(matrix.state, as_json=as_json)
        raise
    _tell(matrix.state, matrix.file.parent, as_json=as_json)
    _refuse_unless_complete(matrix.state)


def _so_far(matrix: Matrix, work: MatrixWork) -> list[ArmSoFar]:
    """Each arm with the trials that it has."""
    from bench_loop.report.matrix_progress import ArmSoFar

    planned = len(work.plan.quality_trials)
    return [
        ArmSoFar(
            arm.model_id,
            arm.harness,
            planned,
            _trials(arm),
            is_out=arm.state == "refused",
        )
        for arm in matrix.arms
    ]


def _trials(arm: Arm) -> list[Trial]:
    from bench_loop.engine.run_folder import known_run

    run = known_run(arm.run_id) if arm.run_id is not None else None
    return list(run.trials) if run is not None else []


def _tell_unfinished(matrix: Matrix, *, as_json: bool) -> None:
    """Of a matrix that was cut short: what each arm has, how to see it, and how to go on."""
    if as_json:
        _tell_ended(matrix)
    if matrix.is_untouched:
        return
    _tell_arms(matrix)
    if any(arm.run_id for arm in matrix.arms):
        _say(f"See what there is: {program()} matrix --show {matrix.matrix_id}")
    _tell_how_to_go_on(matrix)


def _tell(matrix: Matrix, folder: Path, *, as_json: bool) -> None:
    """What came of it, on a page in `folder` too; of one that is not done how to go on."""
    from bench_loop.console import console
    from bench_loop.engine.matrix import PAGE
    from bench_loop.programs.matrices import matrix_of_runs
    from bench_loop.report.matrix_html import write_matrix_html
    from bench_loop.report.matrix_terminal import print_matrix

    results = list(_results(matrix))
    if as_json:
        _tell_ended(matrix)
    elif results:
        shown = matrix_of_runs(results, list(_refusals(matrix)))
        print_matrix(shown, console())
        try:
            write_matrix_html(shown, folder / PAGE)
            _say(f"The same as a page: {folder / PAGE}")
        except OSError as error:  # What ended the matrix, or came of it, is told all the same.
            _say(f"No page: {folder / PAGE}: {error.strerror}")
        _say(f"A result file for each arm, in {matrix.asked.output}:")
    _tell_arms(matrix)
    _tell_how_to_go_on(matrix)


def _tell_ended(matrix: Matrix) -> None:
    arms = [arm.model_dump(mode="json") for arm in matrix.arms]
    click.echo(json.dumps({"event": "matrix_ended", "matrix_id": matrix.matrix_id, "arms": arms}))


def _tell_arms(matrix: Matrix) -> None:
    """Each arm with its run, and of one that is not complete how it stands with it."""
    waiting = 0
    for arm in matrix.arms:
        name = f"{arm.model_id} in {arm.harness}"
        if arm.state == "complete":
            _say(f"  {name}: {arm.run_id}")
        elif arm.state in ENDED:
            _say(f"  {name}: {arm.state}. {arm.reason or ''}".rstrip())
        elif done := len(_trials(arm)):
            _say(f"  {name}: {figures.counted(done, 'trial')} finished")
        else:
            waiting += 1
    if waiting:
        _say(f"  {figures.counted(waiting, 'arm')} without a finished trial")


def _tell_how_to_go_on(matrix: Matrix) -> None:
    if not matrix.is_done:
        _say(f"Go on with it: {program()} matrix --resume {matrix.matrix_id}")


def _say(line: str) -> None:
    """A line beside the report; a name in it may come from outside."""
    from bench_loop.report.printable import printable

    click.echo(printable(line), err=True)


def _results(matrix: Matrix) -> Iterator[RunResult]:
    """What there is of the arms; a file that is gone or damaged is said to be."""
    from bench_loop.errors import ResultError
    from bench_loop.result.store import load

    for arm in matrix.arms:
        if arm.run_id is None:
            continue
        try:
            yield load(Path(matrix.asked.output) / f"{arm.run_id}.json")
        except ResultError as error:
            _say(f"Left out: {error.message}")


def _refusals(matrix: Matrix) -> Iterator[Refusal]:
    from bench_loop.scoring.cells import Refusal

    for arm in matrix.arms:
        for need in arm.needs:
            yield Refusal(arm.model_id, None, arm.harness, need, arm.reason or "")


def _refuse_unless_complete(matrix: Matrix) -> None:
    from bench_loop.errors import ProviderError

    missing = [arm for arm in matrix.arms if arm.state != "complete"]
    if missing:
        names = ", ".join(f"{arm.model_id} in {arm.harness}" for arm in missing)
        raise ProviderError(
            f"{len(missing)} of {len(matrix.arms)} arms are not complete: {names}.",
            remedy="See the reasons above; what is complete is kept.",
        )
