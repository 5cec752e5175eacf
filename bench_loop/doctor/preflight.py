"""What speaks against benchmarking a model on a server, told before time is spent; pure rules."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from bench_loop.contracts.provider import ModelFacts, ServerFacts
from bench_loop.doctor.finding import Finding, Severity
from bench_loop.doctor.known_bad import known_faults, version_key
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.room import fit, whole_room
from bench_loop.names.parse import parse_model

NO_TEMPLATE = "sha256:" + hashlib.sha256(b"{{ .Prompt }}").hexdigest()
"""Hash of what Ollama takes for a model that came without a chat template."""

ASKED_WINDOW = ("ollama", "embedded")
"""Providers that give a run the window that it asks for."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model on a server, on the machine that the server runs on (empty facts: another one)."""

    server: ServerFacts
    model: ModelFacts
    machine: MachineFacts
    window: int
    """Tokens that a run asks for."""

    @property
    def typed_id(self) -> str:
        """The model's id as a word of a command: a server may list any text as an id."""
        return shlex.quote(self.model.model_id)


def preflight(subject: Subject) -> tuple[Finding, ...]:
    """One finding for each thing that can be told; see `finding.Severity`."""
    checks = (_version, _kind, _window, _memory, _template, _tools, _spill)
    return tuple(finding for check in checks for finding in check(subject))


def _finding(
    subject: Subject,
    code: str,
    severity: Severity,
    title: str,
    evidence: str,
    remedy: str | None = None,
) -> Finding:
    return Finding(code, "model", severity, title, evidence, remedy, subject.model.model_id)


def _version(subject: Subject) -> Iterator[Finding]:
    engine, version = subject.server.engine, subject.server.version
    shown = " ".join(filter(None, (engine, version)))
    name = parse_model(subject.model.model_id, subject.model, provider=engine)
    faults = known_faults(engine, version, f"{name.line or ''} {subject.model.model_id}")
    for bad in faults:
        yield _finding(
            subject,
            "engine_known_bad",
            bad.severity,
            "engine",
            f"{shown} {bad.what}: {bad.source}",
            bad.remedy(),
        )
    if faults:
        return
    if version_key(version or ""):
        yield _finding(subject, "engine_ok", "ok", "engine", f"nothing is known against {shown}")
    else:
        evidence = f"{shown} tells no version that could be looked up"
        yield _finding(subject, "engine_version_unknown", "note", "engine", evidence)


def _kind(subject: Subject) -> Iterator[Finding]:
    model = subject.model
    name = parse_model(model.model_id, model, provider=subject.server.engine)
    remedy = "bench-loop info lists the models that can be run"
    if model.is_remote or model.model_id.endswith(("-cloud", ":cloud")):
        evidence = "the server only forwards it to a cloud"
        yield _finding(subject, "cloud_forwarded", "error", "kind", evidence, remedy)
    elif name.refuse_reason:
        evidence = name.refuse_reason.rstrip(".")
        yield _finding(subject, "not_a_chat_model", "error", "kind", evidence, remedy)
    else:
        yield _finding(subject, "kind_ok", "ok", "kind", "a chat model on this server")


def _window(subject: Subject) -> Iterator[Finding]:
    """Tasks that need more than the loaded window fail for it, so too small a one is a warning."""
    model, wanted = subject.model, subject.window
    loaded, declared = model.context_loaded, model.context_declared
    title = "window"
    if declared is not None and declared < wanted:
        yield _finding(
            subject,
            "window_beyond_model",
            "warning",
            title,
            f"the model is made for {declared:,} tokens, a run asks for {wanted:,}",
            f"bench-loop run --model {subject.typed_id} --context-window {declared}",
        )
    elif subject.server.provider in ASKED_WINDOW:
        evidence = f"a run is given the {wanted:,} tokens that it asks for"
        yield _finding(subject, "window_ok", "ok", title, evidence)
    elif loaded is None:
        evidence = f"the server does not tell how much is loaded; a run needs {wanted:,} tokens"
        yield _finding(subject, "window_unknown", "note", title, evidence)
    elif loaded < wanted:
        evidence = f"{loaded:,} tokens are loaded, a run needs {wanted:,}"
        remedy = _larger_window(subject)
        yield _finding(subject, "window_too_small", "warning", title, evidence, remedy)
    else:
        evidence = f"{loaded:,} tokens are loaded, a run needs {wanted:,}"
        yield _finding(subject, "window_ok", "ok", title, evidence)


def _larger_window(subject: Subject) -> str:
    """The command that loads the model with the window that a run needs."""
    name, window = subject.typed_id, subject.window
    file = shlex.quote(subject.model.file_name or subject.model.model_id)
    commands = {
        "llama.cpp": f"llama-server -m {file} -c {window}",
        "lmstudio": f"lms load {name} --context-length {window}",
        "vllm": f"vllm serve {name} --max-model-len {window}",
        "ollama": f"OLLAMA_CONTEXT_LENGTH={window} ollama serve",
        "llama-swap": f"Add -c {window} to the cmd of {name} in llama-swap's configuration",
        "sglang": f"python -m sglang.launch_server --model-path {name} --context-length {window}",
    }
    return commands.get(subject.server.engine, f"Load the model with a window of {window} tokens")


def _memory(subject: Subject) -> Iterator[Finding]:
    """What the model needs against the memory of the machine; a model that is loaded fits.

    Never an error: weights can be read from the disk as they are needed, if slowly, and the server
    may see more memory than this process does.
    """
    title = "memory"
    if subject.model.context_loaded is not None:
        yield _finding(subject, "memory_ok", "ok", title, "the model is loaded")
        return
    room = whole_room(subject.machine)
    found = fit(subject.model, room, subject.window, subject.server.kv_cache_type)
    if found is None or not subject.server.is_local:
        return
    evidence = f"it needs {found}, there are {room}"
    remedy = "Take a smaller quantization or a smaller model: bench-loop info"
    if found.verdict == "too_large":
        yield _finding(subject, "memory_too_small", "warning", title, evidence, remedy)
    elif found.verdict == "spills":
        evidence += ": the rest is left to the processor"
        yield _finding(subject, "memory_spills", "warning", title, evidence, remedy)
    else:
        yield _finding(subject, "memory_ok", "ok", title, evidence)


def _template(subject: Subject) -> Iterator[Finding]:
    found, name = subject.model.chat_template_hash, subject.typed_id
    if subject.server.engine == "ollama" and found == NO_TEMPLATE:
        yield _finding(
            subject,
            "template_missing",
            "warning",
            "chat template",
            "Ollama has none for this model and sends it the bare words",
            f"ollama show --modelfile {name} > Modelfile, set TEMPLATE in it, then: "
            f"ollama create {name} -f Modelfile",
        )
    elif found is not None:
        evidence = f"the server has one, {found[:19]}"
        yield _finding(subject, "template_ok", "ok", "chat template", evidence)
    else:
        evidence = "the server does not tell which one it uses"
        yield _finding(subject, "template_unknown", "note", "chat template", evidence)


def _tools(subject: Subject) -> Iterator[Finding]:
    known = subject.model.capabilities
    if known is None:
        evidence = "the server does not tell whether the model can call any"
        yield _finding(subject, "tools_unknown", "note", "tools", evidence)
    elif "tools" in known:
        yield _finding(subject, "tools_ok", "ok", "tools", "the model can call them")
    else:
        evidence = "the server says that the model cannot call any: suites with tools will fail"
        yield _finding(subject, "tools_missing", "note", "tools", evidence)


def _spill(subject: Subject) -> Iterator[Finding]:
    """Layers left to the processor on a machine with a GPU."""
    share, layers = subject.model.offloaded_share, subject.server.offloaded_layers
    if not subject.machine.gpus or not subject.server.is_local:
        return
    if layers == 0 or (share is not None and share < 1):
        on_gpu = 0 if layers == 0 else round(100 * (share or 0))
        yield _finding(
            subject,
            "gpu_spill",
            "warning",
            "GPU",
            f"{on_gpu} % of the model lies on the GPU, the rest is left to the processor",
            _less_spill(subject),
        )
    elif share is not None:
        yield _finding(subject, "gpu_ok", "ok", "GPU", "all of the model lies on it")
    else:
        evidence = "the server does not tell how many layers lie on it; its log does"
        yield _finding(subject, "gpu_unknown", "note", "GPU", evidence)


def _less_spill(subject: Subject) -> str:
    """The command that puts more of the model on the GPU."""
    if subject.server.provider == "embedded":
        return "Serve the model with a llama.cpp that was built for the GPU: llama-server -ngl 999"
    if subject.server.engine == "ollama":
        return f"ollama stop {subject.typed_id}, then take a smaller model or window"
    return "Start the server with all layers on the GPU (llama-server -ngl 999)"
