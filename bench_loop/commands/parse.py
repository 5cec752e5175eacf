"""`bench-loop parse`: what names of models, GPUs and streams mean, for scripts."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import click

Entry = dict[str, Any]

BAD_LINES = 4
"""Exit code where a line could not be read, like that of a file that is wrong."""

EPILOG = """
\b
Examples:
  echo '{"raw": "qwen3:30b-a3b-q4_K_M", "provider": "ollama"}' | bench-loop parse model
  echo '{"raw": "NVIDIA GeForce RTX 4090", "memory": "24564 MiB"}' | bench-loop parse gpu
  bench-loop parse stream --dialect openai < streams.jsonl
"""


@click.group(epilog=EPILOG)
def command() -> None:
    """Read JSON lines of model names, GPUs or streams, and print what each means.

    One line of JSON comes out for each that goes in, with the names of the result file; null is
    unknown. A line that cannot be read gives one with `line`, `field` and `error`, the rest goes
    on, and the exit code is 4.
    """


@command.command()
def model() -> int:
    """Names of models: `raw`; `provider` and `metadata` (the server's words) where known."""
    return _each_line(_model)


@command.command()
def gpu() -> int:
    """Names of GPUs: `raw`; `reported_by`, `memory` and `system_ram_gb` where known."""
    return _each_line(_gpu)


@command.command()
@click.option("--dialect", type=click.Choice(["openai", "ollama"]), required=True)
def stream(dialect: str) -> int:
    """Streams of a model server: `raw`, as text, chunks in hex, or lines with times.

    Text is the bytes as they came, an object an answer that was not streamed. A list of hex
    strings are network chunks. A list of {"t_ms": ..., "line": ...} are lines with milliseconds
    since the request; without them all times are null. `input`, `bytes`, `lines` and `chunks` mean
    `raw`.
    """
    return _each_line(lambda entry: _stream(entry, dialect))


class BadFieldError(Exception):
    """A line holds something else than it should: the field (None: the whole line), and what."""

    def __init__(self, field: str | None, problem: str) -> None:
        super().__init__(problem)
        self.field = field
        self.problem = problem


def _each_line(meaning: Callable[[Entry], Entry]) -> int:
    """Print the meaning of every line of standard input; empty lines are passed over."""
    has_bad_line = False
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            found = meaning(_entry(line))
        except BadFieldError as bad:
            has_bad_line = True
            found = {"line": number, "field": bad.field, "error": bad.problem}
        click.echo(json.dumps(found))
    return BAD_LINES if has_bad_line else 0


def _entry(line: bytes) -> Entry:
    """The JSON object of a line; a bare string or list is its `raw`."""
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise BadFieldError(None, "the line is no JSON in UTF-8") from None
    if isinstance(value, str | list):
        return {"raw": value}
    if not isinstance(value, dict):
        raise BadFieldError(None, "the line is no JSON object")
    return value


def _model(entry: Entry) -> Entry:
    from dataclasses import asdict

    from bench_loop.names.parse import parse_model
    from bench_loop.providers.saved.facts import facts_from

    raw = _text(entry, "raw", is_needed=True) or ""
    said = _metadata(entry)
    found = asdict(
        parse_model(
            raw,
            facts_from(raw, said) if said else None,
            provider=_text(entry, "provider"),
        )
    )
    model_id = found.pop("model_id")
    family, line = found.pop("family"), found.pop("line")
    return {"model_id": model_id, "model_family": family, "model_line": line, **found}


def _metadata(entry: Entry) -> Entry:
    """The server's words: an object, or the text of one."""
    said = entry.get("metadata")
    if isinstance(said, str) and said.strip():
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            raise BadFieldError("metadata", "is text that is no JSON") from None
    if said in (None, ""):
        return {}
    if not isinstance(said, dict):
        raise BadFieldError("metadata", "is no JSON object")
    return said


_OF_PROCESSORS = re.compile(r"cpuinfo|\blscpu\b", re.I)


def _gpu(entry: Entry) -> Entry:
    from bench_loop.machine.cpu import clean_cpu_name, cpu_from_cpuinfo
    from bench_loop.machine.facts import MachineFacts
    from bench_loop.machine.record import cpu_class, reported_class
    from bench_loop.machine.reported import Reported, parse_gpus, processor_in

    # Tables that hold one string in a cell write its line breaks so.
    raw = _text(entry, "raw", is_needed=True) or ""
    for written, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\u0000", "\0")):
        raw = raw.replace(written, meant)
    source = _text(entry, "reported_by") or ""
    system = _amount(entry, "system_ram_gb")
    found = parse_gpus(raw, _memory(entry), system)
    cpu = processor_in(raw)
    if _OF_PROCESSORS.search(source) and found.vendor != "Apple":
        # It names processors only: the graphics that a name tells of were not what computed.
        found = Reported(is_wsl=found.is_wsl)
        cpu = cpu or cpu_from_cpuinfo(raw) or clean_cpu_name(raw.strip().partition("\n")[0])
    facts = MachineFacts(cpu_model=cpu, system_memory_gb=system)
    return {
        "gpu": found.gpu,
        "vendor": found.vendor,
        "gpu_count": len(found.gpus),
        "gpu_memory_class_gb": found.class_gb,
        "gpu_memory_total_class_gb": found.total_class_gb,
        "unified_memory": any(gpu.is_unified for gpu in found.gpus) if found.gpus else None,
        "is_known": all(gpu.is_known for gpu in found.gpus) if found.gpus else None,
        "gpus": [
            {"model": gpu.name, "vendor": gpu.vendor, "memory_class_gb": gpu.class_gb}
            for gpu in found.gpus
        ],
        "device_class": reported_class(found.gpus) or (cpu_class(facts) if cpu else None),
        "cpu_model": cpu,
        "os": "WSL2" if found.is_wsl else None,
    }


def _stream(entry: Entry, dialect: str) -> Entry:
    from typing import cast

    from bench_loop.providers.saved.stream import Dialect, read_stream

    pieces = _pieces(entry)
    found = read_stream([(at_s or 0.0, data) for at_s, data in pieces], cast(Dialect, dialect))
    reply = found.reply.model_dump(mode="json", exclude={"finish_reason", "latency_s", "stream"})
    if not pieces or any(at_s is None for at_s, _ in pieces):
        reply.update(dict.fromkeys(name for name in reply if name.startswith("t_")))
    marks = (reply["t_first_thinking_s"], reply["t_first_answer_s"])
    return {
        "state": found.state,
        **reply,
        "finish_reason": found.finish_reason,
        "ttft_s": min((mark for mark in marks if mark is not None), default=None),
        "ttfa_s": reply["t_first_answer_s"],
        "reason": found.reason,
        "error": found.error,
    }


def _pieces(entry: Entry) -> list[tuple[float | None, bytes]]:
    """What arrived, with seconds after the request; None where no time was written down."""
    field = next((name for name in _STREAM_FIELDS if name in entry), "raw")
    raw = entry.get(field)
    if isinstance(raw, str):
        return [(None, raw.encode("utf-8", "surrogatepass"))]
    if isinstance(raw, dict):
        return [(None, json.dumps(raw).encode())]
    if not isinstance(raw, list):
        raise BadFieldError(field, "is missing" if raw is None else "is neither text nor a list")
    return [_piece(piece, f"{field}[{at}]") for at, piece in enumerate(raw)]


_STREAM_FIELDS = ("raw", "input", "bytes", "lines", "chunks")


def _piece(piece: object, field: str) -> tuple[float | None, bytes]:
    if isinstance(piece, str):
        try:
            return None, bytes.fromhex(piece)
        except ValueError:
            raise BadFieldError(field, "is no hex") from None
    if not isinstance(piece, dict):
        raise BadFieldError(field, "is neither hex nor a line with its time")
    line = _text(piece, "line", is_needed=True, place=f"{field}.")
    at_ms = _amount(piece, "t_ms", place=f"{field}.")
    if at_ms is None:
        raise BadFieldError(f"{field}.t_ms", "is missing")
    return at_ms / 1000, f"{line}\n".encode("utf-8", "surrogatepass")


def _text(entry: Entry, field: str, *, is_needed: bool = False, place: str = "") -> str | None:
    value = entry.get(field)
    if value is None and is_needed:
        raise BadFieldError(f"{place}{field}", "is missing")
    if value is not None and not isinstance(value, str):
        raise BadFieldError(f"{place}{field}", "is no text")
    return value


def _memory(entry: Entry) -> str | None:
    """What was said of the memory; a bare number is in GiB."""
    value = entry.get("memory")
    if value is None or isinstance(value, str):
        return value or None
    return f"{_amount(entry, 'memory'):g} GB"


def _amount(entry: Entry, field: str, *, place: str = "") -> float | None:
    """A number, or text that is one; empty is unknown."""
    import math

    value = entry.get(field)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not 0 <= number < 1e9:
        raise BadFieldError(f"{place}{field}", "is no number from 0 up")
    return number
