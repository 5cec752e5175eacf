"""What each harness did with each fault that was put in, as `make harness-faults` measured it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import AwareDatetime

from bench_loop.config import bundled
from bench_loop.contracts.record import Record
from bench_loop.gateway.faults import Fault
from bench_loop.scoring.matrix import Recovery

LEAST_S = 30.0
"""A harness that was ended sooner after the fault was not given the time to get over it."""


class Step(Record):
    """One request of a trial; seconds after its begin."""

    sent_s: float
    latency_s: float
    status: int | None
    messages: int | None
    is_answered: bool
    """There was a whole reply."""
    fault: str | None
    refused: str | None


class Row(Record):
    """One harness and one fault. Seconds, and the scripted model's tokens of four characters."""

    harness: str
    version: str
    mode: str | None
    """How it was asked, where it has several ways; None: it has one."""
    fault: Fault | None
    """None: the same task without a fault."""
    at: AwareDatetime
    load: float | None
    """Processes that wanted to run in the minute before, beside the harness; None: not told."""
    deadline_s: float
    """From its start until it is ended from outside."""
    put_in_at: int | None
    """The request in whose answer the fault was; None: in none."""
    is_file_right: bool
    has_last_words: bool
    requests: int
    first_prompt_tokens: int | None
    prompt_tokens: int | None
    """Of all requests."""
    tools_offered: int | None
    """In the first request."""
    wall_s: float
    model_s: float
    """In which at least one request was open."""
    tools_s: float | None
    """As far as the harness tells."""
    leftovers: int | None
    is_ended: bool
    """At the deadline, from outside."""
    failure: str | None
    """The harness's own word for what went wrong."""
    final_text: str
    steps: tuple[Step, ...]

    @property
    def is_recovered(self) -> bool:
        return self.is_file_right and self.has_last_words

    @property
    def start_s(self) -> float:
        """Until its first request."""
        return self.steps[0].sent_s if self.steps else 0.0

    @property
    def is_told(self) -> bool:
        """Whether it had the time to get over the fault, if it did not."""
        put_in_s = next((step.sent_s for step in self.steps if step.fault), 0.0)
        return self.is_recovered or not self.is_ended or self.wall_s - put_in_s >= LEAST_S

    @property
    def harness_s(self) -> float:
        """Neither in the model nor in tools."""
        return max(0.0, self.wall_s - self.model_s - (self.tools_s or 0.0))


class Measured(Record):
    """All rows, and what they were measured with."""

    bench_loop: str
    machine: str
    deadline_s: float
    stall_s: float
    rows: tuple[Row, ...]


def table_file() -> Path:
    return bundled("harnesses") / "faults.json"


def fault_table() -> Measured | None:
    """The table that came with this installation; None: there is none."""
    file = table_file()
    return Measured.model_validate_json(file.read_bytes()) if file.is_file() else None


def recoveries() -> dict[tuple[str, str | None], Recovery]:
    """What each harness did with the faults, by its name and the very version that was measured."""
    found: dict[tuple[str, str | None], dict[str, bool | None]] = {}
    for row in _bundled_rows():
        if row.fault is not None:
            found.setdefault((row.harness, row.version), {})[row.fault] = _is_over_it(row)
    return {version: Recovery(by_fault) for version, by_fault in found.items()}


def clean_s(harness: str, version: str | None) -> float | None:
    """Seconds of the task without a fault, with the scripted model, which answers at once: what
    the harness itself takes. None: this version was not measured, or did not do the task.
    """
    for row in _bundled_rows():
        if (row.harness, row.version, row.fault) == (harness, version, None):
            return row.wall_s if row.is_recovered else None
    return None


def _is_over_it(row: Row) -> bool | None:
    """None: the fault found no place, or the harness was given no time to get over it."""
    return row.is_recovered if row.put_in_at is not None and row.is_told else None


@cache
def _bundled_rows() -> tuple[Row, ...]:
    measured = fault_table()
    return measured.rows if measured else ()
