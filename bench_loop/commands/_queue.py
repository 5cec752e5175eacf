"""A queue of models on the command line: what is done for each, and the table in the morning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._setup import Wanted, connect
from bench_loop.commands.parameters import listed

if TYPE_CHECKING:
    from bench_loop.contracts.chat import Sampling
    from bench_loop.contracts.provider import Provider
    from bench_loop.engine.plan import RunOptions, RunPlan
    from bench_loop.engine.queue import Asked, OpenQueue, Queue
    from bench_loop.machine.rest import Rest

COOL_DOWN_S = 300.0
"""Longest wait between two models, in seconds, unless --cool-down says otherwise."""


def model_names(models: str) -> tuple[str, ...]:
    """The models of `--models A,B,C`. Raises UsageError for none, and for one twice."""
    return listed("model", models, remedy="--models A,B; bench-loop info lists some.")


def asked_of(
    plan: RunPlan,
    wanted: Wanted,
    options: RunOptions,
    output: Path,
    profile: str | None,
    cool_down_s: float | None,
    trials: int | None = None,
    sampling: Sampling | None = None,
) -> Asked:
    """What every run of a queue is to do, so that it can be read again after a kill.

    `trials` and `sampling` as the user gave them for all suites; None: as each pack says.
    """
    from bench_loop.engine.queue import Asked
    from bench_loop.engine.run import private_folder

    parts = {name: getattr(wanted, name) for name in Asked.model_fields if hasattr(wanted, name)}
    return Asked(
        **parts,
        profile=profile,
        suites=None if profile else tuple(suite.pack.name for suite in plan.suites),
        fresh_seed=plan.fresh_seed,
        packs=private_folder(plan),
        trials=trials,
        context_window=plan.context_window,
        sampling=sampling,
        options=options,
        output=str(output.resolve()),
        cool_down_s=COOL_DOWN_S if cool_down_s is None else cool_down_s,
    )


def run_queue(models: tuple[str, ...], asked: Asked, *, as_json: bool) -> None:
    """Begin a queue and work through it. Raises BenchLoopError where not all came to a result."""
    from bench_loop.engine.queue import OpenQueue
    from bench_loop.result.store import make_ready

    make_ready(Path(asked.output))
    plan_of_asked(asked)  # what is wrong with it is wrong for every model
    with OpenQueue.begun(models, asked) as queue:
        _work_through(queue, as_json=as_json)


def resume_queue(
    folder: Path, *, endpoint: str | None, budget_s: float | None, as_json: bool
) -> None:
    """Go on with the queue in `folder`; `endpoint` is where its server is now.

    `budget_s` is the budget of each model that has not begun, in place of the one that was asked.
    """
    from bench_loop.engine.queue import OpenQueue

    with OpenQueue.resumed(folder) as queue:
        asked = queue.queue.asked
        if endpoint is not None:
            asked = asked.model_copy(update={"endpoint": endpoint})
        if budget_s is not None:
            options = replace(asked.options, budget_s=budget_s)
            asked = asked.model_copy(update={"options": options})
        queue.keep(asked=asked)
        _work_through(queue, as_json=as_json)


def queue_to_resume(name: str) -> Path | None:
    """The folder of the queue that `--resume` means by `name`; None: it means a run.

    Without a name it is the newest queue with something left, unless a run that is none of its
    own was begun after it.
    """
    from bench_loop.commands._resume import NEWEST, newest_resumable
    from bench_loop.engine.queue import PREFIX, find_queue, newest_open_queue, read_queue
    from bench_loop.errors import UsageError

    if name != NEWEST:
        return find_queue(name) if Path(name).name.startswith(PREFIX) else None
    folder = newest_open_queue()
    if folder is None:
        return None
    try:
        run = newest_resumable()
    except UsageError:
        return folder
    queue = read_queue(folder)
    is_older = run.name < queue.queue_id.removeprefix(PREFIX)
    is_own = run.name in {one.run_id for one in queue.runs}
    return folder if is_older or is_own else None


def _work_through(queue: OpenQueue, *, as_json: bool) -> None:
    def say(text: str) -> None:
        click.echo(text, err=True)

    asked = queue.queue.asked
    work = _Work(asked, plan_of_asked(asked), as_json=as_json)
    try:
        queue.work_through(work, say)
    finally:
        _tell(queue.queue, as_json=as_json)
    _refuse_unless_complete(queue.queue)


def _tell(queue: Queue, *, as_json: bool) -> None:
    """The table, or the queue as one line of JSON; of one that is not done how to go on."""
    from bench_loop.console import console, program
    from bench_loop.engine.queue import DONE
    from bench_loop.report.queue import print_queue, queue_line

    if as_json:
        click.echo(queue_line(queue))
    else:
        print_queue(queue, console())
    if any(run.state not in DONE for run in queue.runs):
        click.echo(f"Go on with it: {program()} run --resume {queue.queue_id}", err=True)


def _refuse_unless_complete(queue: Queue) -> None:
    from bench_loop.errors import ProviderError

    missing = [run for run in queue.runs if run.state != "complete"]
    if missing:
        names = ", ".join(run.model_id for run in missing)
        raise ProviderError(
            f"{len(missing)} of {len(queue.runs)} models have no complete run: {names}.",
            remedy="See the reasons above; what is complete is kept.",
        )


def plan_of_asked(asked: Asked) -> RunPlan:
    """The plan of each run that was asked for. Raises as make_plan does."""
    from bench_loop.engine.plan import make_plan
    from bench_loop.engine.shelf import Shelf

    return make_plan(
        profile=asked.profile,
        suites=list(asked.suites) if asked.suites is not None else None,
        trials=asked.trials,
        context_window=asked.context_window,
        is_thinking=asked.thinking is True,
        sampling=asked.sampling,
        shelf=Shelf(asked.fresh_seed, Path(asked.packs) if asked.packs else None),
    )


class _Work:
    """What the queue has done for each model, by the ways of a single run."""

    def __init__(self, asked: Asked, plan: RunPlan, *, as_json: bool) -> None:
        from bench_loop.engine.queue import Asked

        self._asked = asked
        self._plan = plan
        self._as_json = as_json
        names = {field.name for field in fields(Wanted)} & Asked.model_fields.keys()
        self._parts = {name: getattr(asked, name) for name in names}

    def lack_of_room(self, model_id: str) -> str | None:
        from bench_loop.machine.detect import detect
        from bench_loop.machine.listener import machine_behind
        from bench_loop.machine.room import free_room, lack_of_room, whole_room
        from bench_loop.providers import embedded

        window = self._asked.context_window
        if self._asked.provider == "embedded":
            return lack_of_room(embedded.weights_facts(model_id), free_room(), window)
        with self._server(model_id) as server:
            told = server.server()
            here = machine_behind(told.endpoint, detect(), is_local=told.is_local)
            room = whole_room(here)
            return lack_of_room(server.model(model_id), room, window, told.kv_cache_type)

    def has_run(self, run_id: str) -> bool:
        from bench_loop.engine.run_folder import known_run

        return known_run(run_id) is not None

    def run(self, model_id: str, run_id: str) -> None:
        from bench_loop.commands._benchmark import run_planned
        from bench_loop.commands._resume import resume

        if self.has_run(run_id):
            resume(
                run_id,
                endpoint=self._asked.endpoint,
                is_unsafe_allowed=self._asked.is_unsafe_allowed,
                sandbox_user=self._asked.sandbox_user,
                as_json=self._as_json,
            )
            return
        run_planned(
            self._plan,
            Wanted(model_id=model_id, **self._parts),
            Path(self._asked.output),
            self._asked.options,
            as_json=self._as_json,
            run_id=run_id,
        )

    def free(self, model_id: str) -> str | None:
        from bench_loop.contracts.provider import Freeing
        from bench_loop.providers import embedded

        if self._asked.provider == "embedded":
            is_gone: bool | None = not embedded.is_any_running()
        else:
            with self._server(model_id) as server:
                is_gone = server.free(model_id) if isinstance(server, Freeing) else None
        if is_gone is None:
            return "Its server has no request to unload it: it may still be in memory."
        return None if is_gone else "It is still in memory after it was unloaded."

    def rest(self) -> Rest:
        from bench_loop.machine.rest import Rest, read_rest

        return read_rest() if self._asked.cool_down_s else Rest()

    def cool_down(self, before: Rest) -> str | None:
        from bench_loop.machine.rest import come_to_rest

        if not self._asked.cool_down_s:
            return None
        limit_s = self._asked.cool_down_s
        return come_to_rest(before, limit_s, lambda text: click.echo(text, err=True))

    @contextmanager
    def _server(self, model_id: str) -> Iterator[Provider]:
        asked = self._asked
        with closing(
            connect(asked.provider, asked.endpoint, model_id, asked.context_window)
        ) as server:
            yield server
