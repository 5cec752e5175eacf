"""`bench-loop recommend`: which of the installed models to take for a purpose."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

import click

from bench_loop.commands._sandbox import sandbox_options
from bench_loop.commands.parameters import Duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench_loop.contracts.sandbox import Sandbox
    from bench_loop.engine.plan import RunPlan
    from bench_loop.engine.recommend import Candidate, Tried, Turn

PURPOSES = ("coding", "agent", "chat")

EXAMPLES = """
\b
Examples:
  bench-loop recommend --for chat
  bench-loop recommend --for coding --budget 15m
  bench-loop recommend --for chat --endpoint http://127.0.0.1:8080 --endpoint http://127.0.0.1:8081
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--for",
    "purpose",
    type=click.Choice(PURPOSES),
    required=True,
    help="What it is to be used for.",
)
@click.option(
    "--budget",
    type=Duration(),
    default="15m",
    show_default=True,
    metavar="TIME",
    help="Time for all models together; each gets an equal share of what is left.",
)
@click.option(
    "--endpoint",
    "endpoints",
    metavar="URL|NAME",
    multiple=True,
    help="A server to look at, in place of those that are found. May be given several times.",
)
@sandbox_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(
    purpose: str,
    budget: float,
    endpoints: tuple[str, ...],
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    as_json: bool,
) -> None:
    """Try the installed models and say which one to take.

    All do the same tasks in the same order, the small ones first. A model that is clearly behind is
    stopped, and so is everything once one is clearly ahead. Each model's run is kept as a result
    file; such runs are not ranked, since their suites are picked by hand.
    """
    from bench_loop.commands._setup import sandbox_for
    from bench_loop.config import results_folder
    from bench_loop.console import console
    from bench_loop.engine.profiles import CONTEXT_WINDOW
    from bench_loop.engine.recommend import Race, recommend_plan
    from bench_loop.report import recommendation
    from bench_loop.result.store import make_ready

    candidates = find_candidates(endpoints, CONTEXT_WINDOW)
    model_count = sum(not each.refused for each in candidates)
    plan = recommend_plan(purpose, CONTEXT_WINDOW, model_count)
    folder = results_folder()
    make_ready(folder)
    with ExitStack() as stack:
        sandbox = sandbox_for(plan, sandbox_kind, is_unsafe_allowed=allow_unsafe, user=sandbox_user)
        if sandbox is not None:
            stack.callback(sandbox.close)
        else:
            plan = recommend_plan(purpose, CONTEXT_WINDOW, model_count, has_sandbox=False)
        race = Race(purpose, plan, candidates, budget)
        if not as_json:
            recommendation.print_outlook(race.outlook, purpose, budget, console())

        def measure(turn: Turn) -> Tried:
            return _measure(turn, plan, sandbox, folder, is_quiet=as_json)

        found = race.go(measure)
    if as_json:
        click.echo(json.dumps(recommendation.recommendation_json(found), indent=1))
        return
    recommendation.print_recommendation(found, console())


def find_candidates(endpoints: Sequence[str], window: int) -> list[Candidate]:
    """The models of these servers, or of those that are found here; smaller ones first.

    A server that was only found and does not answer is told of and left out.
    Raises ProviderError when there is no server, or none of them has a model, UsageError for what
    is no address.
    """
    from bench_loop.commands._sandbox import warn
    from bench_loop.engine.recommend import candidate
    from bench_loop.errors import BenchLoopError, ProviderError
    from bench_loop.machine.detect import detect
    from bench_loop.machine.listener import machine_behind
    from bench_loop.machine.room import whole_room
    from bench_loop.providers import discover

    named = [discover.meet(text, warn) for text in endpoints]
    servers = named or discover.ready_servers(warn)
    facts = detect()
    found: list[Candidate] = []
    for one in servers:
        limit_s = math.inf if named else discover.ASK_LIMIT_S
        try:
            with closing(discover.connect(one, limit_s)) as provider:
                server, models = provider.server(), provider.models()
        except BenchLoopError as error:
            if named:
                raise
            warn(f"{one.engine} at {one.endpoint} is left out: {error.message}")
            continue
        here = machine_behind(server.endpoint, facts, is_local=server.is_local)
        room = whole_room(here)
        found += [candidate(server, model, room, window, is_named=one.is_named) for model in models]
    if not found:
        raise ProviderError(
            "No model was found on this machine.",
            remedy="Start Ollama or llama.cpp, or give --endpoint.",
        )
    return sorted(found, key=lambda one: (one.model.size_bytes or 0, one.model.model_id))


def _measure(
    turn: Turn, plan: RunPlan, sandbox: Sandbox | None, folder: Path, *, is_quiet: bool
) -> Tried:
    """Run one candidate until it is through or ended, and give its memory back."""
    from bench_loop.commands._benchmark import progress_of
    from bench_loop.commands._setup import connect, load_harness, prepare
    from bench_loop.console import console
    from bench_loop.engine.events import Event, RunFinished
    from bench_loop.engine.plan import RunOptions
    from bench_loop.engine.recommend import SpeedTooLong, Tried, without_speed
    from bench_loop.engine.run import Run
    from bench_loop.engine.stopping import StopEarly
    from bench_loop.errors import ProviderError
    from bench_loop.result.records import RunResult

    one, model_id = turn.candidate, turn.candidate.model.model_id
    results: list[RunResult] = []
    with ExitStack() as stack:
        provider = connect(
            one.provider, one.endpoint, model_id, plan.context_window, is_named=one.is_named
        )
        stack.callback(provider.close)
        setup = prepare(provider, model_id, load_harness("raw"), sandbox=sandbox)
        progress = None
        if not is_quiet:
            progress = stack.enter_context(progress_of(plan, setup, console()))

        def hear(event: Event) -> None:
            if progress is not None:
                progress(event)
            if isinstance(event, RunFinished):
                results.append(event.result)

        def run(plan: RunPlan) -> None:
            options = RunOptions(budget_s=turn.left_s)
            Run(plan, setup, folder, turn.ended(hear), options).go()

        note = ""
        try:
            try:
                run(plan)
            except SpeedTooLong:
                run(without_speed(plan))
        except StopEarly as stop:
            note = str(stop)
        # A server that failed in the run was left by an error and is asked for nothing more.
        with suppress(ProviderError):
            provider.unload(model_id)
    result = results[-1] if results else None
    if result is not None and not note and result.status != "complete":
        note = result.status_reason or ""
    return Tried(one, result, note)
