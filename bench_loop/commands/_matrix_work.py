"""What a matrix has done for each model: its server, its harnesses, and their runs by blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._setup import (
    Ready,
    Wanted,
    connect_wanted,
    opened_sandbox,
    ready_harness,
    setup_on,
)

if TYPE_CHECKING:
    from bench_loop.contracts.provider import Provider
    from bench_loop.engine.blocks import Block, Turn
    from bench_loop.engine.events import Event
    from bench_loop.engine.matrix import ModelWork
    from bench_loop.engine.plan import RunPlan
    from bench_loop.engine.queue import Asked
    from bench_loop.engine.run import Setup
    from bench_loop.engine.speed_plans import Rates
    from bench_loop.errors import NeedsError
    from bench_loop.report.matrix_progress import MatrixProgress


def plan_of_matrix(asked: Asked, task_ids: Sequence[str] | None) -> RunPlan:
    """The plan of every arm. Raises as make_plan and only_tasks do."""
    from bench_loop.commands._queue import plan_of_asked
    from bench_loop.engine.plan import only_tasks

    plan = plan_of_asked(asked)
    return plan if task_ids is None else only_tasks(plan, task_ids)


def _window(server: Provider, model_id: str, plan: RunPlan) -> int:
    """Tokens of the window of all arms: what was asked for, or the model's where it is smaller.

    An Ollama gives programs the window that it was started with, so that is what all arms have.
    """
    from bench_loop.commands._harness import load_as_served
    from bench_loop.contracts.provider import Addressed

    is_ollama = isinstance(server, Addressed) and server.address().is_ollama
    if isinstance(server, Addressed) and is_ollama:
        load_as_served(server.address(), model_id, plan.context_window)
    facts = server.model(model_id)
    if is_ollama and facts.context_loaded is not None:
        return facts.context_loaded
    known = (facts.context_loaded, facts.context_declared)
    return min([plan.context_window, *(one for one in known if one is not None)])


class MatrixWork:
    """What the matrix has done for each model."""

    def __init__(self, asked: Asked, task_ids: Sequence[str] | None) -> None:
        self._asked = asked
        self._task_ids = task_ids
        self.progress: MatrixProgress | None = None
        """What shows it; None: each event is told as one line of JSON."""
        names = {field.name for field in fields(Wanted)} & type(asked).model_fields.keys()
        self._parts = {name: getattr(asked, name) for name in names}

    def refuse_unready(self, model_id: str, harnesses: Sequence[str]) -> None:
        """Raises what speaks against one of the harnesses before any model is loaded."""
        plan = self.plan
        for harness in harnesses:
            ready_harness(plan, self._wanted(model_id, harness))

    @contextmanager
    def opened(self, model_id: str, harnesses: Sequence[str]) -> Iterator[ModelWork]:
        from bench_loop.contracts.provider import Addressed, Freeing
        from bench_loop.engine.expected import rates_now
        from bench_loop.errors import NeedsError

        if self.progress is not None:
            self.progress.hide()
            click.echo(f"Waiting for {model_id}", err=True)
        plan = self.plan
        ready = {one: ready_harness(plan, self._wanted(model_id, one)) for one in harnesses}
        with ExitStack() as stack:
            any_harness = self._wanted(model_id, harnesses[0])
            sandbox = stack.enter_context(opened_sandbox(plan, any_harness))
            server = stack.enter_context(closing(connect_wanted(any_harness, plan.context_window)))
            window = _window(server, model_id, plan)
            if window != plan.context_window:
                click.echo(f"The window of all arms is {window:,} tokens, as served.", err=True)
            plan = replace(plan, context_window=window)
            setups: dict[str, Setup] = {}
            seen: Setup | None = None
            refused: dict[str, NeedsError] = {}
            for harness in harnesses:
                wanted = self._wanted(model_id, harness)
                try:
                    setup = setup_on(server, ready[harness], sandbox, plan, wanted, like=seen)
                except NeedsError as error:
                    refused[harness] = error
                    if self.progress is not None:
                        self.progress.leave_out(model_id, harness, error.message)
                    continue
                seen = setup
                if setup.outside is None and isinstance(server, Addressed):
                    setup = replace(setup, gated=server)
                setups[harness] = setup
            rates = rates_now(server, model_id, plan.context_window) if setups else None
            yield _OnServer(self, plan, setups, refused, rates, ready)
            if isinstance(server, Freeing):
                server.free(model_id)

    @property
    def plan(self) -> RunPlan:
        """Of every arm, but for what its server changes of the window."""
        return plan_of_matrix(self._asked, self._task_ids)

    def _wanted(self, model_id: str, harness: str) -> Wanted:
        return Wanted(**(self._parts | {"model_id": model_id, "harness": harness}))

    @property
    def output(self) -> Path:
        """Folder of the result files."""
        return Path(self._asked.output)

    def listen(self, event: Event) -> None:
        """Tell of an event, of the matrix or of the run of an arm."""
        from bench_loop.report.event_lines import event_line

        if self.progress is None:
            click.echo(event_line(event))
        else:
            self.progress(event)


@dataclass(frozen=True)
class _OnServer:
    """One model on its server, with its harnesses set up."""

    work: MatrixWork
    plan: RunPlan
    setups: Mapping[str, Setup]
    refused: Mapping[str, NeedsError]
    rates: Rates | None
    ready: Mapping[str, Ready]

    def run(self, harness: str, run_id: str, turn: Turn) -> None:
        from bench_loop.commands._benchmark import signal_nodes
        from bench_loop.config import runs_folder
        from bench_loop.engine.resume import plan_again
        from bench_loop.engine.run import Run
        from bench_loop.engine.run_folder import OpenRun, known_run

        setup, plan = self.setups[harness], self.plan
        with ExitStack() as stack:
            resumed = None
            if known_run(run_id) is not None:
                resumed = stack.enter_context(OpenRun.resumed(runs_folder() / run_id))
                plan = plan_again(resumed.read())
            if self.work.progress is not None:
                self.work.progress.show_path(signal_nodes(setup))
            Run(
                plan,
                setup,
                self.work.output,
                self.work.listen,
                resumed=resumed,
                run_id=None if resumed else run_id,
                turn=turn,
            ).go()

    def expected_s(self, harness: str, block: Block) -> float | None:
        from bench_loop.engine.expected import expected_block_s

        if self.rates is None:
            return None
        return expected_block_s(self.plan, block, self.rates, self.ready[harness].harness)
