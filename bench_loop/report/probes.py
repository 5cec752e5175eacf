"""What the probes of a run found: how much of the window is usable, and whether answers repeat."""

from __future__ import annotations

from bench_loop.report import figures
from bench_loop.report.records import Reading
from bench_loop.result.records import ContextFacts, Determinism, RunHeader

NOT_PROBED = "not probed"


def probe_readings(header: RunHeader) -> tuple[Reading, ...]:
    """The probes that this run made; nothing of those that it did not."""
    context, found = header.subject.context, header.determinism
    readings = []
    if context is not None and (context.usable is not None or context.not_usable_reason):
        windows = (("declared", context.declared), ("loaded", context.loaded))
        told = [f"{name} {figures.count(size)}" for name, size in windows if size is not None]
        readings.append(Reading("window", ", ".join([*told, f"usable {usable(context)}"])))
    if found is not None:
        readings.append(Reading("same twice", determinism(found)))
    return tuple(readings)


def usable(context: ContextFacts | None) -> str:
    """The tokens of a window that a marker came back through, or why there is no such figure."""
    if context is None or context.usable is None:
        why = context.not_usable_reason if context else None
        return f"not found: {why}" if why else NOT_PROBED
    return figures.count(context.usable)


def determinism(found: Determinism | None) -> str:
    """How many prompts were answered the same when they were asked again."""
    if found is None:
        return NOT_PROBED
    same = f"{found.identical} of {found.prompts} prompts"
    if found.first_difference is None:
        return same
    return (
        f"{same}; the others part after {figures.count(found.first_difference)} characters or more"
    )
