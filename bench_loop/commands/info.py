"""`bench-loop info`: this machine, its model servers and their models, and what is installed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bench_loop.contracts.provider import ModelFacts
    from bench_loop.machine.facts import MachineFacts
    from bench_loop.machine.room import Room
    from bench_loop.providers.discover import FoundServer

EPILOG = """
\b
Examples:
  bench-loop info
  bench-loop info --json
"""


@click.command(epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and only that.")
def command(as_json: bool) -> None:
    """Show this machine, its model servers and their models, and what is installed.

    Looks for Ollama, llama.cpp, LM Studio, vLLM, Jan, mlx_lm and llama-swap on their usual ports
    of this machine, and at saved endpoints (bench-loop endpoints); asks nobody else.
    """
    found = gather()
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    from bench_loop.console import console
    from bench_loop.report.info import print_info

    print_info(found, console())


def gather() -> dict[str, Any]:
    """Everything that the command shows, as JSON data. Unknown is null."""
    import importlib.util
    import platform

    import bench_loop
    from bench_loop import config
    from bench_loop.engine.packs import load_pack, pack_names
    from bench_loop.machine.detect import detect
    from bench_loop.providers.embedded import MODEL_NAMES
    from bench_loop.result.records import SCHEMA_VERSION
    from bench_loop.result.store import result_files
    from bench_loop.sandboxes.ladder import present
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
        "servers": servers_json(facts),
        "embedded": {
            "is_installed": importlib.util.find_spec("xllamacpp") is not None,
            "models": list(MODEL_NAMES),
        },
        "suites": [
            {"name": pack.name, "version": pack.version, "pack_hash": pack.pack_hash}
            for pack in map(load_pack, pack_names())
        ],
        "sandboxes": list(present()),
        "harnesses": harnesses_json(),
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


def harnesses_json() -> list[dict[str, str | None]]:
    """Every harness with its version; null where it is not installed."""
    from bench_loop.programs.known import all_harnesses

    return [
        {"name": one.adapter.name, "version": one.adapter.version if one.is_here else None}
        for one in all_harnesses()
    ]


def servers_json(machine: MachineFacts) -> list[dict[str, Any]]:
    """The model servers that are found, each with its models and whether they fit `machine`."""
    from bench_loop.providers.discover import known_servers

    found = known_servers()
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(lambda server: _server_json(server, machine), found))


def _server_json(server: FoundServer, machine: MachineFacts) -> dict[str, Any]:
    """One server; `models` is null where it is not ready, or went away while being asked."""
    from bench_loop.errors import BenchLoopError
    from bench_loop.providers.discover import ASK_LIMIT_S, connect, is_open

    models = None
    if is_open(server):
        try:
            with closing(connect(server, ASK_LIMIT_S)) as provider:
                room = room_behind(server, machine)
                models = [model_json(model, server.engine, room) for model in provider.models()]
        except BenchLoopError:
            models = None
    return {
        "name": server.name,
        "provider": server.provider,
        "engine": server.engine,
        "version": server.version,
        "endpoint": server.endpoint,
        "state": server.state,
        "models": models,
    }


def room_behind(server: FoundServer, machine: MachineFacts) -> Room:
    """The memory that a server has, where it runs here."""
    from bench_loop.machine.listener import machine_behind
    from bench_loop.machine.room import whole_room

    return whole_room(machine_behind(server.endpoint, machine, is_local=server.is_local))


def model_json(model: ModelFacts, engine: str, room: Room) -> dict[str, Any]:
    """One model by its name and the server's words; `refuse_reason` says why it cannot be run.

    `memory` is how it fits (`fits`, `spills`, `too_large`) with the window of a run, null where
    nobody can tell; `lack` says what it lacks.
    """
    from bench_loop.engine.profiles import CONTEXT_WINDOW
    from bench_loop.machine.room import fit
    from bench_loop.names.parse import parse_model

    name = parse_model(model.model_id, model, provider=engine)
    found = fit(model, room, CONTEXT_WINDOW)
    is_loaded = model.context_loaded is not None
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
        "offloaded_share": model.offloaded_share,
        "capabilities": list(model.capabilities) if model.capabilities is not None else None,
        "is_remote": model.is_remote,
        "refuse_reason": name.refuse_reason,
        "memory": "fits" if is_loaded else found.verdict if found else None,
        "lack": found.lack if found and not is_loaded else None,
    }
