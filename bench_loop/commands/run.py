"""`bench-loop run`: benchmark one model and write a result file."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._measuring import measuring_options
from bench_loop.commands._sandbox import open_chosen, sandbox_options, warn
from bench_loop.commands.parameters import SamplingValues
from bench_loop.config import bundled
from bench_loop.registry import names

if TYPE_CHECKING:
    from bench_loop.contracts.chat import Sampling
    from bench_loop.contracts.harness import HarnessAdapter
    from bench_loop.contracts.provider import ModelFacts, Provider, ServerFacts
    from bench_loop.contracts.sandbox import Sandbox
    from bench_loop.engine.plan import RunOptions, RunPlan
    from bench_loop.engine.run import Setup
    from bench_loop.errors import BenchLoopError
    from bench_loop.machine.facts import MachineFacts
    from bench_loop.result.records import RunResult

SERVED = ("ollama", "openai_compat")
"""The providers that speak to a server at an address."""
PROVIDERS = (*SERVED, "embedded")
PROFILES = ("smoke", "quick", "core", "full")
DEFAULT_PROFILE = "quick"
DEFAULT_WINDOW = 8192

EXAMPLES = """
\b
Examples:
  bench-loop run --model qwen3:8b --provider ollama
  bench-loop run --model local --provider openai_compat --endpoint http://127.0.0.1:8080
  bench-loop run --model smollm2-135m --provider embedded --profile smoke
  bench-loop run --model qwen3:8b --suites reasonmath,loop_schema --trials 3
"""


@click.command(epilog=EXAMPLES)
@click.option("--model", "model_id", required=True, help="The model, as the server names it.")
@click.option(
    "--provider",
    type=click.Choice(PROVIDERS),
    help="What serves the model; without it a running server is looked for.",
)
@click.option(
    "--endpoint",
    metavar="URL|NAME",
    help="Base URL of the server, or what it is saved under (bench-loop endpoints).",
)
@click.option(
    "--harness",
    type=click.Choice(names(bundled("harnesses"))),
    default="raw",
    show_default=True,
    help="What stands between task and model.",
)
@click.option("--profile", type=click.Choice(PROFILES), help="Named set of suites. [quick]")
@click.option("--suites", metavar="A,B", help="Suites by name, in place of a profile.")
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Times that each quality task is run.",
)
@click.option(
    "--context-window",
    type=click.IntRange(512, 1_048_576),
    default=DEFAULT_WINDOW,
    show_default=True,
    help="Window in tokens to ask of the server.",
)
@measuring_options
@click.option("--thinking", type=click.Choice(["on", "off"]), help="Have the model think or not.")
@click.option(
    "--sampling",
    type=SamplingValues(),
    metavar="NAME=N,..",
    help="With --thinking on: the model card's values, like temperature=0.6,top_p=0.95.",
)
@sandbox_options
@click.option("--machine", "label", metavar="LABEL", help="A name for this machine.")
@click.option("--gpu", metavar="NAME", help="Declare the GPU where it cannot be detected.")
@click.option("--gpu-memory-gb", type=click.FloatRange(0.1), help="Declare its memory.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the result file. [results/ in the data folder]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and only that.")
def command(
    model_id: str,
    provider: str | None,
    endpoint: str | None,
    harness: str,
    profile: str | None,
    suites: str | None,
    trials: int,
    context_window: int,
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
    """Benchmark one model and write a result file.

    Speed and quality are measured on your own server; nothing leaves this machine.
    """
    from bench_loop.config import results_folder
    from bench_loop.engine.plan import make_plan
    from bench_loop.engine.run import Run
    from bench_loop.errors import UsageError
    from bench_loop.result.store import make_ready

    if profile and suites:
        raise UsageError("--profile and --suites exclude each other.", remedy="Leave one out.")
    if sampling is not None and thinking != "on":
        raise UsageError(
            "Without thinking the sampling is fixed: greedy, everything else off.",
            remedy="Use --sampling with --thinking on.",
        )
    picked = [name.strip() for name in suites.split(",")] if suites is not None else None
    plan = make_plan(
        profile=None if picked is not None else profile or DEFAULT_PROFILE,
        suites=picked,
        trials=trials,
        context_window=context_window,
        is_thinking=thinking == "on",
        sampling=sampling,
    )
    folder = output or results_folder()
    make_ready(folder)
    with ExitStack() as stack:
        sandbox = sandbox_for(plan, sandbox_kind, is_unsafe_allowed=allow_unsafe, user=sandbox_user)
        if sandbox is not None:
            stack.callback(sandbox.close)
        server = connect(provider, endpoint, model_id, context_window)
        stack.callback(server.close)
        setup = prepare(
            server,
            model_id,
            load_harness(harness),
            sandbox=sandbox,
            thinking=None if thinking is None else thinking == "on",
            context_window=context_window,
            label=label,
            gpu=gpu,
            gpu_memory_gb=gpu_memory_gb,
        )
        if as_json:
            result = Run(plan, setup, folder, lambda event: None, options).go()
        else:
            result = benchmark(plan, setup, folder, options, is_endpoint_named=endpoint is not None)
    if as_json:
        from bench_loop.result.store import to_bytes

        click.echo(to_bytes(result).decode(), nl=False)
    if result.status != "complete":
        raise incomplete(result, lacks_sandbox=sandbox is None and needs_sandbox(plan))


def incomplete(result: RunResult, *, lacks_sandbox: bool) -> BenchLoopError:
    """The error that a run ends with when not all of its plan was measured."""
    from bench_loop.engine.run import SANDBOX_REMEDY
    from bench_loop.errors import ProviderError, SandboxError

    message = f"The run is incomplete: {result.status_reason}"
    kept = "what was measured is kept, not ranked."
    if lacks_sandbox:
        return SandboxError(message, remedy=f"{SANDBOX_REMEDY} Then run it again; {kept}")
    return ProviderError(message, remedy=f"See to the server and run it again; {kept}")


def connect(
    provider: str | None, endpoint: str | None, model_id: str, context_window: int
) -> Provider:
    """The provider that the options name, or a running server that is found.

    Raises ProviderError with the remedy when there is none, UsageError for what does not fit.
    """
    from bench_loop.config import api_key
    from bench_loop.errors import ProviderError, UsageError
    from bench_loop.providers import discover, embedded, ollama, openai_compat
    from bench_loop.providers.discover.endpoints import find_endpoint

    if provider == "embedded":
        if endpoint:
            raise UsageError("The embedded engine has no --endpoint.", remedy="Leave it out.")
        return embedded.start(
            model_id, context_window, on_progress=lambda text: click.echo(text, err=True)
        )
    if endpoint is not None:
        saved = find_endpoint(endpoint)
        endpoint = saved.url if saved else endpoint
        provider = provider or (saved.provider if saved else None)
        met = discover.meet(endpoint, warn)
        provider = provider or met.provider
    elif provider is None:
        found = discover.find_server(warn)
        if found is None:
            raise ProviderError(
                "No model server was found on this machine.",
                remedy="Start Ollama or llama.cpp, give --endpoint, or use --provider embedded.",
            )
        provider, endpoint = found.provider, found.endpoint
    modules = {"ollama": ollama, "openai_compat": openai_compat}
    connected: Provider = modules[provider].connect(endpoint, api_key(provider))
    return connected


def needs_sandbox(plan: RunPlan) -> bool:
    """Whether a suite of the plan runs code that a model wrote."""
    return any(suite.pack.needs_sandbox for suite in plan.suites)


def sandbox_for(
    plan: RunPlan, kind: str, *, is_unsafe_allowed: bool = False, user: int | None = None
) -> Sandbox | None:
    """A sandbox that passed its self-test; None where the plan needs none, or `auto` finds none.

    Raises SandboxError when the kind that was asked for cannot be had, or `auto` finds none and
    there is nothing to run without.
    """
    if not needs_sandbox(plan):
        return None
    from bench_loop.errors import SandboxError
    from bench_loop.sandboxes.ladder import AUTO

    try:
        return open_chosen(kind, allow_unsafe=is_unsafe_allowed, user=user)
    except SandboxError as error:
        if kind != AUTO or all(suite.pack.needs_sandbox for suite in plan.suites):
            raise
        warn(f"{error.message} {error.remedy or ''}".rstrip())
        return None


def load_harness(name: str) -> HarnessAdapter:
    """A fresh adapter of the harness `name`."""
    from bench_loop.registry import load

    adapter: HarnessAdapter = load("harness", bundled("harnesses"), name).Adapter()
    return adapter


def prepare(
    provider: Provider,
    model_id: str,
    harness: HarnessAdapter,
    *,
    sandbox: Sandbox | None = None,
    thinking: bool | None = None,
    context_window: int = DEFAULT_WINDOW,
    label: str | None = None,
    gpu: str | None = None,
    gpu_memory_gb: float | None = None,
) -> Setup:
    """Look at server, model and machine before any time is spent.

    `thinking` None leaves it off where there is a switch. Raises ProviderError when the server or
    the model cannot be benchmarked, UsageError when the model cannot be switched so.
    """
    from bench_loop.engine.run import Setup
    from bench_loop.engine.thinking import thinking_mode
    from bench_loop.machine.detect import detect
    from bench_loop.machine.record import machine_record

    server = provider.server()
    model = provider.model(model_id)
    facts = detect()
    stop_or_warn(server, model, facts, context_window)
    machine = machine_record(
        facts,
        is_local=server.is_local,
        label=label,
        declared_gpu=gpu,
        declared_gpu_memory_gb=gpu_memory_gb,
        backend="cpu" if server.offloaded_layers == 0 else None,
    )
    mode = thinking_mode(provider, model, thinking, context_window)
    return Setup(provider, harness, server, model, machine, mode, sandbox)


def stop_or_warn(
    server: ServerFacts, model: ModelFacts, machine: MachineFacts, context_window: int
) -> None:
    """Say what would make the figures worse; raise ProviderError for what makes a run pointless."""
    from bench_loop.doctor.finding import of_severity
    from bench_loop.doctor.preflight import Subject, preflight
    from bench_loop.errors import ProviderError
    from bench_loop.machine.facts import MachineFacts

    own = machine if server.is_local else MachineFacts()
    findings = preflight(Subject(server, model, own, context_window))
    for finding in of_severity(findings, "warning"):
        warn(f"{finding.title}: {finding.evidence}. {finding.remedy or ''}".rstrip())
    if blocking := of_severity(findings, "error"):
        reasons = "; ".join(finding.evidence for finding in blocking)
        raise ProviderError(
            f"{model.model_id} is not benchmarked here: {reasons}.",
            remedy="; ".join(filter(None, (finding.remedy for finding in blocking))),
        )


def benchmark(
    plan: RunPlan,
    setup: Setup,
    output: Path,
    options: RunOptions | None = None,
    *,
    is_endpoint_named: bool = False,
) -> RunResult:
    """Run the plan with a live display and print the report; the result is in `output`."""
    from bench_loop.console import console
    from bench_loop.engine.run import Run
    from bench_loop.names.parse import parse_model
    from bench_loop.report.progress import RunProgress
    from bench_loop.report.terminal import print_run

    screen = console()
    planned = Counter(suite.pack.name for suite, _, _ in plan.quality_trials)
    name = parse_model(setup.model.model_id, setup.model, provider=setup.server.engine)
    nodes = (
        " ".join(filter(None, (name.model_id, name.quantization))),
        " ".join(filter(None, (setup.server.engine, setup.server.version))),
        f"{setup.harness.name} {setup.harness.version}",
        "verifier",
    )
    with RunProgress(screen, planned=planned, nodes=nodes) as progress:
        result = Run(plan, setup, output, progress, options).go()
    endpoint = setup.server.endpoint if is_endpoint_named else None
    print_run(result, screen, progress.file, endpoint)
    return result
