"""The whole examination: servers, the model on each, this machine, and what is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from bench_loop import config
from bench_loop.contracts.provider import ModelFacts, Provider
from bench_loop.doctor import machine as checks
from bench_loop.doctor.chat_test import chat_test, template_of_file
from bench_loop.doctor.finding import Area, Finding, Severity, worst
from bench_loop.doctor.host import Host, nvidia_gpus
from bench_loop.doctor.preflight import Subject, preflight
from bench_loop.engine.profiles import CONTEXT_WINDOW
from bench_loop.errors import BenchLoopError, SandboxError
from bench_loop.machine.detect import detect
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.listener import machine_behind
from bench_loop.names.parse import parse_model
from bench_loop.programs.known import all_harnesses
from bench_loop.providers import discover
from bench_loop.providers.discover import FoundServer
from bench_loop.sandboxes.ladder import open_sandbox

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The one server to look at, and perhaps the one model."""

    provider: Provider
    model_id: str | None = None
    is_asked: bool = True
    """False: no prompt is sent, since the server may only forward it to a cloud."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What the doctor found, in the order in which it is told."""

    machine: MachineFacts
    findings: tuple[Finding, ...]

    @property
    def is_serious(self) -> bool:
        return worst(self.findings) == "error"


def examine(
    host: Host,
    chosen: Chosen | None = None,
    *,
    window: int = CONTEXT_WINDOW,
    say: Say = lambda sentence: None,
) -> Examination:
    """Look at everything; `chosen` None: every server that is found. `say` tells what is next.

    Load is read first, before the doctor makes any itself. Never raises for what is found.
    """
    began = host.clocks()
    say("this machine")
    gpus = nvidia_gpus(host)
    busy = checks.load(host, gpus)
    facts = detect()
    say("model servers")
    servers = list(examine_servers(chosen, facts, window, say))
    say("sandbox and harnesses")
    setup = [*examine_sandbox(), *examine_harnesses()]
    machine = [
        *checks.power(host, gpus),
        *checks.heat(host, gpus),
        *busy,
        *checks.clock(host, began),
        *checks.disk(host, config.home()),
    ]
    return Examination(facts, (*servers, *machine, *setup))


def examine_servers(
    chosen: Chosen | None, facts: MachineFacts, window: int, say: Say
) -> Iterator[Finding]:
    """Every server that is found with one of its models, or the chosen one."""
    if chosen is not None:
        yield from examine_server(chosen, facts, window, say)
        return
    found = discover.known_servers()
    if not found:
        yield no_server(has_engine=importlib.util.find_spec("xllamacpp") is not None)
    for server in found:
        if discover.is_open(server):
            with closing(discover.connect(server, discover.ASK_LIMIT_S)) as provider:
                chosen = Chosen(provider, is_asked=discover.may_be_taken(server))
                yield from examine_server(chosen, facts, window, say)
        else:
            yield not_ready(server)


def no_server(*, has_engine: bool) -> Finding:
    """That nothing runs; `has_engine`: the embedded engine is installed."""
    evidence = "no model server runs on this machine"
    if has_engine:
        evidence += "; the embedded engine is installed"
        return _server("server_missing", "note", evidence, "bench-loop quickstart")
    return _server("server_missing", "error", evidence, "ollama serve")


_STATES: dict[str, tuple[str, Severity, str, str]] = {
    "loading": (
        "server_loading",
        "warning",
        "still loads its model",
        "Wait until it is loaded, then run: bench-loop doctor",
    ),
    "locked": (
        "server_locked",
        "warning",
        "wants an API key",
        "export BENCHLOOP_API_KEY=...",
    ),
    "silent": (
        "endpoint_silent",
        "warning",
        "does not answer",
        "Start it, or: bench-loop endpoints remove {name}",
    ),
    "not_a_model_server": (
        "endpoint_wrong",
        "warning",
        "answers, but not as a model server",
        "bench-loop endpoints add {name} URL",
    ),
}


def not_ready(server: FoundServer) -> Finding:
    """A server that cannot be asked, or a saved endpoint where there is none."""
    code, severity, evidence, remedy = _STATES[server.state]
    is_there = server.state in ("loading", "locked")
    subject = f"{server.engine if is_there else server.name} at {server.endpoint}"
    if server.state == "locked" and server.name is None:
        remedy = "bench-loop endpoints add NAME {url}, then: " + remedy
    words = {"name": server.name or "NAME", "url": server.endpoint}
    return _server(code, severity, evidence, remedy.format(**words), subject)


def examine_server(
    chosen: Chosen, machine: MachineFacts, window: int, say: Say
) -> Iterator[Finding]:
    """One server, and the chosen model or one that is loaded."""
    provider = chosen.provider
    try:
        server = provider.server()
        listed = provider.models()
    except BenchLoopError as error:
        yield _server("server_fails", "error", error.message.rstrip("."), error.remedy)
        return
    subject = f"{' '.join(filter(None, (server.engine, server.version)))} at {server.endpoint}"
    yield _models(listed, server.engine, subject)
    model_id = chosen.model_id or _loaded(listed, server.engine)
    if model_id is None:
        evidence = "no chat model is loaded, so none was asked"
        remedy = "bench-loop doctor --model NAME"
        yield _server("model_not_loaded", "note", evidence, remedy, subject)
        return
    try:
        model = provider.model(model_id)
    except BenchLoopError as error:
        yield _server("model_fails", "error", error.message.rstrip("."), error.remedy, subject)
        return
    own = machine_behind(server.endpoint, machine, is_local=server.is_local)
    yield from preflight(Subject(server, model, own, window))
    yield from template_of_file(provider, model)
    if chosen.is_asked:
        say(f"three prompts to {model.model_id}")
        yield from chat_test(provider, model, window)


def _models(listed: tuple[ModelFacts, ...], engine: str, subject: str) -> Finding:
    """How many models can be run, and which only embed or are forwarded to a cloud."""
    refused = [one for one in listed if _is_refused(one, engine)]
    if len(refused) == len(listed):
        evidence = "it has no chat model of its own"
        remedy = "ollama pull qwen3:4b" if engine == "ollama" else "Load a chat (instruct) model"
        return _server("models_missing", "error", evidence, remedy, subject)
    count = len(listed) - len(refused)
    evidence = f"{count} chat model{'s' if count != 1 else ''}"
    if refused:
        left_out = ", ".join(one.model_id for one in refused[:3])
        more = f" and {len(refused) - 3} more" if len(refused) > 3 else ""
        evidence += f"; not to be run here: {left_out}{more}"
    return _server("models_ok", "ok", evidence, subject=subject)


def _loaded(listed: Iterable[ModelFacts], engine: str) -> str | None:
    """A chat model that is in memory; the only one of a server that lists just one."""
    chat = [one for one in listed if not _is_refused(one, engine)]
    loaded = [one for one in chat if one.context_loaded is not None]
    if not loaded and engine != "ollama" and len(chat) == 1:
        loaded = chat
    return loaded[0].model_id if loaded else None


def _is_refused(model: ModelFacts, engine: str) -> bool:
    return parse_model(model.model_id, model, provider=engine).refuse_reason is not None


def examine_sandbox() -> Iterator[Finding]:
    """The sandbox that a run would take, after its self-test."""
    warnings: list[str] = []
    try:
        with closing(open_sandbox(warn=warnings.append)) as sandbox:
            record = sandbox.record()
    except SandboxError as error:
        remedy = error.remedy or "docs/sandbox.md says what is needed"
        evidence = error.message.rstrip(".")
        yield _setup("sandbox_missing", "error", "sandbox", evidence, remedy)
        return
    shown = " ".join(filter(None, (record.kind, record.engine_version)))
    yield _setup("sandbox_ok", "ok", "sandbox", f"{shown} passed its self-test")
    for sentence in warnings:
        yield _setup("sandbox_limit", "note", "sandbox", sentence.rstrip("."))


def examine_harnesses() -> Iterator[Finding]:
    """The harnesses that can be run, and in one line those that could be installed."""
    known = all_harnesses()
    for one in known:
        if one.is_here:
            evidence = f"{one.adapter.name} {one.adapter.version}"
            yield _setup("harness_ok", "ok", "harness", evidence)
    if absent := [one.adapter.name for one in known if not one.is_here]:
        evidence = f"not installed: {', '.join(absent)}"
        remedy = "bench-loop harness install NAME, to measure a model inside of one"
        yield _setup("harness_missing", "note", "harness", evidence, remedy)


def _server(
    code: str,
    severity: Severity,
    evidence: str,
    remedy: str | None = None,
    subject: str | None = None,
) -> Finding:
    return Finding(code, "server", severity, "server", evidence, remedy, subject)


def _setup(
    code: str, severity: Severity, title: str, evidence: str, remedy: str | None = None
) -> Finding:
    area: Area = "setup"
    return Finding(code, area, severity, title, evidence, remedy)
