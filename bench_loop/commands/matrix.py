"""`bench-loop matrix`: models x harnesses, taking turns on one server, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import click

from bench_loop.commands._beside import refuse_beside
from bench_loop.commands._options import machine_options, output_options, server_options
from bench_loop.commands._packs import fresh_seed_option, packs_option
from bench_loop.commands._sandbox import sandbox_options
from bench_loop.commands._setup import Wanted
from bench_loop.commands._stopping import stoppable
from bench_loop.commands.parameters import listed
from bench_loop.config import bundled
from bench_loop.registry import names

RESUME_OPTIONS = frozenset({"resume", "endpoint", "as_json"})
SHOW_OPTIONS = frozenset({"show", "as_json"})
NEWEST = "newest"
"""Stands for the newest matrix: with something left to do, or of all."""

EXAMPLES = """
\b
Examples:
  bench-loop matrix --models qwen3:8b,gemma3:12b --harnesses raw,goose,opencode
  bench-loop matrix --models qwen3:8b --harnesses raw,aider --suites agent --trials 1
  bench-loop matrix --models qwen3:8b --harnesses raw,openclaw --plan
  bench-loop matrix --resume
  bench-loop matrix --show
"""


@click.command(epilog=EXAMPLES)
@click.option("--models", metavar="A,B", help="Models, as the server names them.")
@click.option(
    "--harnesses",
    metavar="A,B",
    help=f"Harnesses, of: {', '.join(names(bundled('harnesses')))}. raw is what they are held "
    "against.",
)
@click.option("--suites", metavar="A,B", help="Suites by name. [all of the profile harness]")
@click.option("--tasks", metavar="A,B", help="Only these tasks, by their ids.")
@click.option(
    "--trials", type=click.IntRange(1, 100), help="Times that each task is run. [as its suite says]"
)
@click.option("--plan", "is_plan_only", is_flag=True, help="Say what would be run, and stop.")
@click.option(
    "--resume",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[MATRIX]",
    help="Go on with a matrix: the newest that is not done, or this one.",
)
@click.option(
    "--show",
    is_flag=False,
    flag_value=NEWEST,
    metavar="[MATRIX]",
    help="Show what came of a matrix, the newest or this one; write its page.",
)
@server_options
@click.option(
    "--context-window",
    type=click.IntRange(512, 1_048_576),
    help="Window in tokens of every arm. [the largest that a suite or a harness needs]",
)
@click.option(
    "--force", is_flag=True, help="Run harnesses whose needs are not met; the results say so."
)
@click.option(
    "--chat-template",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Jinja template in place of the models' own; embedded engine only.",
)
@click.option(
    "--yarn",
    "yarn_factor",
    type=click.IntRange(1, 16),
    default=1,
    metavar="FACTOR",
    help="Stretch the models' windows so many times by YaRN; embedded engine only.",
)
@click.option("--thinking", type=click.Choice(["on", "off"]), help="Have the models think or not.")
@fresh_seed_option
@packs_option("Your own packs: all in DIR, or those of --suites. They are never uploaded.")
@sandbox_options
@machine_options
@output_options
@click.pass_context
def command(
    ctx: click.Context,
    models: str | None,
    harnesses: str | None,
    suites: str | None,
    tasks: str | None,
    trials: int | None,
    is_plan_only: bool,
    resume: str | None,
    show: str | None,
    provider: str | None,
    endpoint: str | None,
    context_window: int | None,
    force: bool,
    chat_template: Path | None,
    yarn_factor: int,
    thinking: str | None,
    fresh_seed: int | None,
    packs: Path | None,
    sandbox_kind: str,
    allow_unsafe: bool,
    sandbox_user: int | None,
    label: str | None,
    gpu: str | None,
    gpu_memory_gb: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Run models in several harnesses, and see what each harness costs and gains.

    The arms take turns, all tasks of one suite at a time, on one server with the same window,
    sampling and limits, so that they can be compared. Each is a run with a result of its own. Every
    finished trial is on disk: a matrix that was stopped goes on with --resume.
    """
    from bench_loop.commands import _matrix
    from bench_loop.commands._queue import model_names
    from bench_loop.config import results_folder
    from bench_loop.errors import UsageError

    if show is not None:
        refuse_beside(ctx, "--show", SHOW_OPTIONS)
        _matrix.show(None if show == NEWEST else show, as_json=as_json)
        return
    if resume is not None:
        refuse_beside(ctx, "--resume", RESUME_OPTIONS)
        with stoppable():
            _matrix.resume(None if resume == NEWEST else resume, endpoint, as_json=as_json)
        return
    if models is None or harnesses is None:
        raise UsageError(
            "A matrix needs --models and --harnesses.",
            remedy="bench-loop matrix --models qwen3:8b --harnesses raw,goose",
        )
    request = _matrix.Request(
        models=model_names(models),
        harnesses=listed("harness", harnesses),
        suites=listed("suite", suites) if suites is not None else None,
        task_ids=listed("task", tasks) if tasks is not None else None,
        trials=trials,
        context_window=context_window,
        fresh_seed=fresh_seed,
        packs=packs,
        output=output or results_folder(),
        wanted=Wanted(
            model_id="",
            provider=provider,
            endpoint=endpoint,
            is_forced=force,
            thinking=None if thinking is None else thinking == "on",
            sandbox_kind=sandbox_kind,
            is_unsafe_allowed=allow_unsafe,
            sandbox_user=sandbox_user,
            label=label,
            gpu=gpu,
            gpu_memory_gb=gpu_memory_gb,
            chat_template=_matrix.template_text(chat_template) if chat_template else None,
            yarn_factor=yarn_factor,
        ),
    )
    with stoppable():
        _matrix.begin(request, is_plan_only=is_plan_only, as_json=as_json)
