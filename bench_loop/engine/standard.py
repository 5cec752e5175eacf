"""Whether a run's harness was in the configuration that this installation pins, in one sentence."""

from __future__ import annotations

from bench_loop.programs.known import pinned
from bench_loop.result.pinned import custom_reasons
from bench_loop.result.records import RunHeader


def custom_reason(run: RunHeader) -> str:
    """Why the run is custom, as a sentence; empty: it is standard."""
    reasons = "; ".join(custom_reasons(run, pinned()))
    return f"{reasons[0].upper()}{reasons[1:]}." if reasons else ""
