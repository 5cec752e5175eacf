"""`bench-loop run`: benchmark one model and write a result file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._beside import refuse_beside
from bench_loop.commands._measuring import measuring_options
from bench_loop.commands._options import machine_options, output_options, server_options
from bench_loop.commands._packs import fresh_seed_option, packs_option, tell_of_instances
from bench_loop.commands._resume import NEWEST
from bench_loop.commands._sandbox import sandbox_options
from bench_loop.commands._setup import Wanted, load_harness
from bench_loop.commands._stopping import stoppable
from bench_loop.commands.parameters import Duration, NamedValue, SamplingValues
from bench_loop.config import bundled
from bench_loop.registry import names

if TYPE_CHECKING:
    from bench_loop.contracts.chat import Sampling
    from bench_loop.engine.plan import RunOptions

PROFILES = ("smoke", "quick", "core", "full", "harness")
DEFAULT_PROFILE = "quick"
LIKE_OPTIONS = frozenset(
    {
        *("like", "model_id", "provider", "endpoint", "output", "as_json", "packs"),
        *("allow_unsafe", "sandbox_user", "label", "gpu", "gpu_memory_gb"),
    }
)
"""What may stand beside --like: what is here and what it is called, not what is measured."""
RESUME_OPTIONS = frozenset(
    {"resume", "endpoint", "budget", "allow_unsafe", "sandbox_user", "as_json", "packs"}
)
"""What may stand beside --resume: where server and packs are now, the time, how to tell of it."""

EXAMPLES = """
\b
Examples:
  bench-loop run --model qwen3:8b --provider ollama
  bench-loop run --model local --provider openai_compat --endpoint http://127.0.0.1:8080
  bench-loop run --model smollm2-135m --provider embedded --profile smoke
  bench-loop run --model qwen3:8b --suites reasonmath,loop_schema --trials 3
  bench-loop run --models qwen3:8b,qwen3:14b,gemma3:12b --profile core
  bench-loop run --model qwen3:8b --profile core --fresh-seed 42
  bench-loop run --model qwen3:8b --packs my-packs
  bench-loop run --model qwen3:8b --harness opencode --suites agent
  bench-loop run --resume
  bench-loop run --like https://bench.example.org/runs/2mzq3w4xkd7a/
"""


@click.command(epilog=EXAMPLES)
@click.option("--model", "model_id", help="The model, as the server names it.")
@click.option(
    "--models",
    metavar="A,B,C",
    help="A queue: one model after the other, each unloaded before the next.",
)
@click.option(
    "--cool-down",
    "cool_down_s",
    type=Duration(may_be_zero=True),
    metavar="TIME",
    help="In a queue: wait at most so long for the machine to cool down; 0 does not wait. [5m]",
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[RUN]",
    help="Go on with a run or a queue: the newest that is not complete, or this one.",
)
@click.option(
    "--like",
    metavar="RESULT|URL",
    help="Repeat the run of a result, anybody's, and compare the two.",
)
@server_options
@click.option(
    "--harness",
    type=click.Choice(names(bundled("harnesses"))),
    default="raw",
    show_default=True,
    help="What stands between task and model; bench-loop harness list tells of them.",
)
@click.option(
    "--harness-option",
    "harness_options",
    type=NamedValue(),
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the harness, like path=exec.",
)
@click.option(
    "--force", is_flag=True, help="Run a harness whose needs are not met; the result says so."
)
@click.option("--profile", type=click.Choice(PROFILES), help="Named set of suites. [quick]")
@click.option("--suites", metavar="A,B", help="Suites by name, in place of a profile.")
@fresh_seed_option
@packs_option(
    "Your own packs: all in DIR, or those of --suites. They are never uploaded or ranked."
)
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    help="Times that each quality task is run, in every suite. [1; agent, as its pack says: 3]",
)
@click.option(
    "--context-window",
    type=click.IntRange(512, 1_048_576),
    help="Window in tokens to ask of the server. [8192; 40960 where longcontext is run]",
)
@measuring_options
@click.option("--thinking", type=click.Choice(["on", "off"]), help="Have the model think or not.")
@click.option(
    "--sampling",
    type=SamplingValues(),
    metavar="NAME=N,..",
    help="With --thinking on: the model card's values, like temperature=0.6,top_p=0.95, in every "
    "suite, also in one whose pack says its own.",
)
@sandbox_options
@machine_options
@output_options
@click.pass_context
def command(
    ctx: click.Context,
    model_id: str | None,
    models: str | None,
    cool_down_s: float | None,
    resume: str | None,
    like: str | None,
    provider: str | None,
    endpoint: str | None,
    harness: str,
    harness_options: tuple[tuple[str, str], ...],
    force: bool,
    profile: str | None,
    suites: str | None,
    fresh_seed: int | None,
    packs: Path | None,
    trials: int | None,
    context_window: int | None,
    options: RunOptions,
    thinking: str | None,
    sampling: Sampling | None,
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    label: str | None,
    gpu: str | None,
    gpu_memory_gb: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Benchmark one model, or several in turn, and write a result file for each.

    Speed and quality are measured on your own server; nothing leaves this machine. Every finished
    trial is on disk before the next: a run that was stopped or cut off goes on with --resume.
    """
    from bench_loop.errors import UsageError

    if resume is not None:
        refuse_beside(ctx, "--resume", RESUME_OPTIONS)
        from bench_loop.commands._queue import queue_to_resume, resume_queue
        from bench_loop.commands._resume import resume as go_on

        with stoppable():
            queue = queue_to_resume(resume)
            if queue is not None:
                resume_queue(queue, endpoint=endpoint, budget_s=options.budget_s, as_json=as_json)
            else:
                go_on(
                    resume,
                    packs=packs,
                    endpoint=endpoint,
                    is_unsafe_allowed=allow_unsafe,
                    sandbox_user=sandbox_user,
                    as_json=as_json,
                    budget_s=options.budget_s,
                )
        return
    if like is not None:
        refuse_beside(ctx, "--like", LIKE_OPTIONS)
    elif models is not None and model_id is not None:
        raise UsageError("--model and --models exclude each other.", remedy="Leave one out.")
    elif model_id is None and models is None:
        raise UsageError("No model is named.", remedy="--model NAME; bench-loop info lists some.")
    if cool_down_s is not None and models is None:
        raise UsageError("--cool-down is for a queue.", remedy="--models A,B")
    if profile and packs and like is None:
        raise UsageError(
            "--profile and --packs exclude each other: private packs are in no profile.",
            remedy="Pick suites by name: --suites A,B",
        )
    if profile and suites:
        raise UsageError("--profile and --suites exclude each other.", remedy="Leave one out.")
    if sampling is not None and thinking != "on":
        raise UsageError(
            "Without thinking the sampling is fixed: greedy, everything else off.",
            remedy="Use --sampling with --thinking on.",
        )
    from bench_loop.config import results_folder

    wanted = Wanted(
        model_id=model_id or "",
        provider=provider,
        endpoint=endpoint,
        harness=harness,
        harness_options=dict(harness_options),
        is_forced=force,
        thinking=None if thinking is None else thinking == "on",
        sandbox_kind=sandbox_kind,
        is_unsafe_allowed=allow_unsafe,
        sandbox_user=sandbox_user,
        label=label,
        gpu=gpu,
        gpu_memory_gb=gpu_memory_gb,
    )
    folder = output or results_folder()
    if like is not None:
        from bench_loop.commands._like import repeat

        with stoppable():
            repeat(like, wanted, folder, packs=packs, as_json=as_json)
        return
    from bench_loop.engine.plan import make_plan
    from bench_loop.engine.shelf import Shelf

    shelf = Shelf(fresh_seed, packs)
    picked = [name.strip() for name in suites.split(",")] if suites is not None else None
    if picked is None and packs is not None:
        picked = shelf.private_names()
    chosen = None if picked is not None else profile or DEFAULT_PROFILE
    plan = make_plan(
        profile=chosen,
        suites=picked,
        trials=trials,
        context_window=context_window,
        least_window=load_harness(harness).needs.context_window,
        is_thinking=thinking == "on",
        sampling=sampling,
        shelf=shelf,
    )
    tell_of_instances(plan)
    if models is None:
        from bench_loop.commands._benchmark import run_planned

        with stoppable():
            run_planned(plan, wanted, folder, options, as_json=as_json)
        return
    from bench_loop.commands._queue import asked_of, model_names, run_queue

    asked = asked_of(plan, wanted, options, folder, chosen, cool_down_s, trials, sampling)
    with stoppable():
        run_queue(model_names(models), asked, as_json=as_json)
