"""The way of a run from the weights to the verdict, as the nodes that a page draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench_loop.report import figures
from bench_loop.report.printable import one_line
from bench_loop.report.records import PathNode
from bench_loop.report.stack import (
    WHERE,
    device,
    harness_label,
    harness_shape,
)
from bench_loop.result.records import (
    Machine,
    RunHeader,
    Subject,
    Trial,
)
from bench_loop.scoring.constants import OUTCOMES


def signal_path(result: RunHeader, judged: Sequence[Trial]) -> tuple[PathNode, ...]:
    """From the weights to the verdict, with the points where BenchLoop's clock sits."""
    subject, machine = result.subject, result.machine
    if result.imported:
        tool = PathNode("another tool's clock", harness_label(result), (), is_probe=False)
        return (_weights_node(subject), _device_node(machine), tool)
    kinds = sorted({trial.verifier_type for trial in judged if trial.verifier_type})
    verdicts = sum(OUTCOMES[trial.outcome].is_verdict for trial in judged if trial.outcome)
    verifier = PathNode(
        kind="verifier",
        name=", ".join(kinds) or "none",
        readings=(f"{figures.count(verdicts)} verdicts", "0 judged by a model"),
        is_probe=True,
    )
    return (
        _weights_node(subject),
        _device_node(machine),
        _server_node(result),
        *_harness_nodes(result, judged),
        verifier,
    )


def _harness_nodes(result: RunHeader, judged: Sequence[Trial]) -> Iterator[PathNode]:
    """`raw`, which records by itself, or the gateway and the program that it stands before."""
    subject, program = result.subject, result.settings.harness
    requests = _request_readings(judged)
    if program is not None:
        yield PathNode("gateway", "recording proxy", requests, is_probe=True)
        requests = (WHERE[program.place],)
    yield PathNode(
        kind="harness, recording" if subject.harness == "raw" else "harness",
        name=harness_label(result),
        readings=requests,
        is_probe=subject.harness == "raw",
        harness_shape=harness_shape(subject.harness),
    )


def _weights_node(subject: Subject) -> PathNode:
    size = f"{figures.significant(subject.parameters_b)} B" if subject.parameters_b else None
    digest = subject.weights_digest
    return PathNode(
        kind="weights",
        name=one_line(subject.model_id),
        readings=_texts(
            ", ".join(filter(None, (subject.quantization, size))) or None,
            f"sha256 {digest[7:11]}\N{HORIZONTAL ELLIPSIS}{digest[-4:]}" if digest else "no digest",
        ),
    )


def _device_node(machine: Machine) -> PathNode:
    memory = machine.system_memory_gb
    return PathNode(
        kind="device",
        name=device(machine),
        readings=_texts(
            f"{figures.memory(memory)} GB memory" if memory else None,
            machine.backend,
        ),
    )


def _server_node(result: RunHeader) -> PathNode:
    subject, context = result.subject, result.subject.context
    loaded = context.loaded if context else None
    return PathNode(
        kind="server",
        name=one_line(subject.provider_version or subject.provider),
        readings=_texts(
            f"window {figures.count(loaded)} read back" if loaded else "window not read back",
            ", ".join(
                filter(
                    None,
                    (
                        f"KV {subject.kv_cache_type}" if subject.kv_cache_type else None,
                        _slots(result.settings.parallel_slots),
                    ),
                )
            )
            or None,
        ),
    )


def _slots(slots: int | None) -> str | None:
    return None if slots is None else f"{slots} slot" if slots == 1 else f"{slots} slots"


def _request_readings(judged: Sequence[Trial]) -> tuple[str, ...]:
    turns = sum(trial.turns for trial in judged)
    retries = sum(trial.retries for trial in judged)
    known = [trial.tokens.prompt for trial in judged if trial.tokens.prompt is not None]
    return _texts(
        f"{figures.count(turns)} replies, {figures.count(retries)} retried",
        f"{figures.count(sum(known))} prompt tokens" if known else None,
    )


def _texts(*texts: str | None) -> tuple[str, ...]:
    return tuple(one_line(text) for text in texts if text)
