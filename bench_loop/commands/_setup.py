"""The parts of a run as the command line names them: server, sandbox, harness, and all together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from bench_loop.commands._harness import find_program, outside_of
from bench_loop.commands._sandbox import open_chosen, warn
from bench_loop.config import bundled

if TYPE_CHECKING:
    from bench_loop.contracts.harness import HarnessAdapter
    from bench_loop.contracts.place import PlaceKind
    from bench_loop.contracts.provider import ModelFacts, Provider, ServerFacts
    from bench_loop.contracts.sandbox import Sandbox
    from bench_loop.engine.plan import RunPlan
    from bench_loop.engine.run import Setup
    from bench_loop.machine.facts import MachineFacts
    from bench_loop.programs.installed import Installed

DEFAULT_WINDOW = 8192


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parts of a run as they were asked for; None leaves the choice to BenchLoop."""

    model_id: str
    provider: str | None = None
    endpoint: str | None = None
    harness: str = "raw"
    harness_options: Mapping[str, str] = field(default_factory=dict)
    is_forced: bool = False
    """Run a harness whose needs the server does not meet."""
    thinking: bool | None = None
    sandbox_kind: str = "auto"
    is_unsafe_allowed: bool = False
    sandbox_user: int | None = None
    label: str | None = None
    gpu: str | None = None
    gpu_memory_gb: float | None = None
    chat_template: str | None = None
    """In Jinja, in place of the model's; of the embedded engine only."""
    yarn_factor: int = 1
    """How many times the window of the model is stretched; of the embedded engine only."""


@contextmanager
def opened_setup(plan: RunPlan, wanted: Wanted, streams: int = 1) -> Iterator[Setup]:
    """The parts at work, all of them closed at the end, for so many `streams` at once.

    Raises what opening them raises.
    """
    with ExitStack() as stack:
        ready = ready_harness(plan, wanted)
        sandbox = stack.enter_context(opened_sandbox(plan, wanted))
        server = connect_wanted(wanted, plan.context_window, streams)
        stack.callback(server.close)
        yield setup_on(server, ready, sandbox, plan, wanted)


@dataclass(frozen=True, slots=True)
class Ready:
    """A harness, known to be able to work here before a model is loaded."""

    harness: HarnessAdapter
    program: tuple[Installed, PlaceKind] | None
    """None: it is none."""


def ready_harness(plan: RunPlan, wanted: Wanted) -> Ready:
    """The harness that is wanted. Raises as find_program does, and UsageError for its settings."""
    harness = load_harness(wanted.harness, wanted.harness_options)
    return Ready(harness, find_program(harness, plan, wanted))


@contextmanager
def opened_sandbox(plan: RunPlan, wanted: Wanted) -> Iterator[Sandbox | None]:
    """The sandbox of `sandbox_for`, closed at the end."""
    sandbox = sandbox_for(
        plan,
        wanted.sandbox_kind,
        is_unsafe_allowed=wanted.is_unsafe_allowed,
        user=wanted.sandbox_user,
    )
    try:
        yield sandbox
    finally:
        if sandbox is not None:
            sandbox.close()


def setup_on(
    server: Provider,
    ready: Ready,
    sandbox: Sandbox | None,
    plan: RunPlan,
    wanted: Wanted,
    *,
    like: Setup | None = None,
) -> Setup:
    """The parts together on a server that is there. Raises as outside_of and prepare do.

    `like` is the same model on the same server in another harness: it is not looked at again.
    """
    outside = None
    if ready.program is not None:
        outside = outside_of(ready.harness, ready.program, server, wanted.model_id, plan, wanted)
    if like is not None:
        return replace(like, harness=ready.harness, outside=outside)
    setup = prepare(
        server,
        wanted.model_id,
        ready.harness,
        sandbox=sandbox,
        thinking=wanted.thinking,
        context_window=plan.context_window,
        label=wanted.label,
        gpu=wanted.gpu,
        gpu_memory_gb=wanted.gpu_memory_gb,
    )
    return replace(setup, outside=outside)


def connect_wanted(wanted: Wanted, context_window: int, streams: int = 1) -> Provider:
    """The provider that is wanted. Raises as `connect` does."""
    return connect(
        wanted.provider,
        wanted.endpoint,
        wanted.model_id,
        context_window,
        streams,
        chat_template=wanted.chat_template,
        yarn_factor=wanted.yarn_factor,
    )


def connect(
    provider: str | None,
    endpoint: str | None,
    model_id: str,
    context_window: int,
    streams: int = 1,
    *,
    is_named: bool = True,
    chat_template: str | None = None,
    yarn_factor: int = 1,
) -> Provider:
    """The provider that the options name, or a running server that is found.

    The embedded engine is started for so many `streams` at once, each with a whole window.
    `is_named` False: the endpoint was found, so it gets no key.
    Raises ProviderError with the remedy when there is none, UsageError for what does not fit.
    """
    from bench_loop.config import api_key
    from bench_loop.errors import ProviderError, UsageError

    if provider == "embedded":
        if endpoint:
            raise UsageError("The embedded engine has no --endpoint.", remedy="Leave it out.")
        from bench_loop.providers import embedded

        return embedded.start(
            model_id,
            context_window,
            on_progress=lambda text: click.echo(text, err=True),
            slots=streams,
            chat_template=chat_template,
            yarn_factor=yarn_factor,
        )
    if chat_template is not None or yarn_factor != 1:
        raise UsageError(
            "--chat-template and --yarn are for the embedded engine.",
            remedy="Start your server with them (llama.cpp: --chat-template-file, --rope-scaling "
            "yarn --rope-scale 2), or use --provider embedded.",
        )
    from bench_loop.providers import discover, ollama, openai_compat

    if endpoint is not None:
        met = discover.meet(endpoint, warn, provider=provider)
        provider, endpoint = met.provider, met.endpoint
    elif provider is None:
        found = discover.find_server(warn)
        if found is None:
            raise ProviderError(
                "No model server was found on this machine.",
                remedy="Start Ollama or llama.cpp, give --endpoint, or use --provider embedded.",
            )
        provider, endpoint, is_named = found.provider, found.endpoint, found.is_named
    modules = {"ollama": ollama, "openai_compat": openai_compat}
    key = api_key(provider) if is_named else None
    connected: Provider = modules[provider].connect(endpoint, key)
    return connected


def sandbox_for(
    plan: RunPlan, kind: str, *, is_unsafe_allowed: bool = False, user: int | None = None
) -> Sandbox | None:
    """A sandbox that passed its self-test; None where the plan needs none, or `auto` finds none.

    Raises SandboxError when the kind that was asked for cannot be had, or `auto` finds none and
    there is nothing to run without.
    """
    if not plan.needs_sandbox:
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


def load_harness(name: str, options: Mapping[str, str] | None = None) -> HarnessAdapter:
    """A fresh adapter of the harness `name`, with those of its settings that are given.

    Raises UsageError for a setting or a value that it does not have.
    """
    from bench_loop.errors import UsageError
    from bench_loop.registry import load, pick

    plugin = load("harness", bundled("harnesses"), name)
    known: Mapping[str, tuple[str, ...]] = getattr(plugin, "OPTIONS", {})
    if options and not known:
        raise UsageError(f"{name} has no settings.", remedy="Leave --harness-option out.")
    for option, value in (options or {}).items():
        pick(f"setting of {name}", option, known)
        pick(f"value of {option}", value, known[option])
    adapter: HarnessAdapter = plugin.Adapter(**options) if options else plugin.Adapter()
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
    from bench_loop.machine.facts import MachineFacts
    from bench_loop.machine.listener import listener_at, runs_here
    from bench_loop.machine.record import machine_record

    server = provider.server()
    model = provider.model(model_id)
    facts = detect()
    # Behind a loopback address may stand a tunnel to another machine.
    listener = listener_at(server.endpoint) if server.is_local else None
    is_here = runs_here(listener, is_local=server.is_local)
    stop_or_warn(server, model, facts if is_here else MachineFacts(), context_window)
    machine = machine_record(
        facts,
        is_local=is_here,
        listener=listener.program if listener else None,
        label=label,
        declared_gpu=gpu,
        declared_gpu_memory_gb=gpu_memory_gb,
        backend="cpu" if server.offloaded_layers == 0 else None,
    )
    mode = thinking_mode(provider, model, thinking, context_window)
    return Setup(provider, harness, server, model, machine, mode, sandbox, asked_model=model_id)


def stop_or_warn(
    server: ServerFacts, model: ModelFacts, machine: MachineFacts, context_window: int
) -> None:
    """Say what would make the figures worse; raise ProviderError for what makes a run pointless.

    `machine` is the one that the server runs on; empty facts: one that is not known.
    """
    from bench_loop.doctor.finding import of_severity
    from bench_loop.doctor.preflight import Subject, preflight
    from bench_loop.errors import ProviderError

    findings = preflight(Subject(server, model, machine, context_window))
    for finding in of_severity(findings, "warning"):
        warn(f"{finding.title}: {finding.evidence}. {finding.remedy or ''}".rstrip())
    if blocking := of_severity(findings, "error"):
        reasons = "; ".join(finding.evidence for finding in blocking)
        raise ProviderError(
            f"{model.model_id} is not benchmarked here: {reasons}.",
            remedy="; ".join(filter(None, (finding.remedy for finding in blocking))),
        )
