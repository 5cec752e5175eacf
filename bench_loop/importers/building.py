"""From what an importer found to a result file of the usual schema; what is not stated is null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import pstdev
from typing import Any

import bench_loop
from bench_loop.importers.document import Document
from bench_loop.machine.record import UNKNOWN, declared_class
from bench_loop.names.parse import ModelName
from bench_loop.result.fingerprint import UNSET, fingerprinted
from bench_loop.result.records import (
    SCHEMA_VERSION,
    Aggregates,
    DeclaredMachine,
    Imported,
    ImportFormat,
    Machine,
    RunResult,
    Settings,
    Speed,
    Spread,
    Subject,
    SuiteResult,
)
from bench_loop.result.store import new_run_id
from bench_loop.scoring.constants import SCORING_VERSION
from bench_loop.scoring.spreads import spread

MOST_STATED = 100
MOST_FINDINGS = 50
LONGEST_STATED = 200
TOLERANCE = 0.005
"""A figure that differs from its own samples by more than this share contradicts them."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user adds to a file: it may state neither its model nor its machine."""

    model: str | None = None
    label: str | None = None
    gpu: str | None = None
    gpu_memory_gb: float | None = None
    samples: tuple[Path, ...] = ()
    """samples_*.jsonl of lm-evaluation-harness, to check its results by."""


@dataclass(frozen=True, slots=True)
class Found:
    """One run of a file."""

    subject: Subject
    tool: str
    tool_version: str | None
    machine: Machine | None = None
    settings: Settings | None = None
    speed: Speed | None = None
    suites: tuple[SuiteResult, ...] = ()
    measured_at: datetime | None = None
    finished_at: datetime | None = None
    total_runtime_s: float | None = None
    stated: Mapping[str, object] = field(default_factory=dict)
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict)
    findings: Sequence[str] = ()


def result_of(found: Found, document: Document, name: ImportFormat, wishes: Wishes) -> RunResult:
    """The result file of one run, under a run id of its own."""
    now = datetime.now(UTC)
    imported = Imported(
        format=name,
        tool=found.tool,
        tool_version=found.tool_version,
        file_name=one_line(document.path.name),
        file_hash=document.file_hash,
        at=now,
        measured_at=found.measured_at,
        stated=stated_texts(found.stated),
        samples={key: tuple(rates) for key, rates in list(found.samples.items())[:MOST_STATED]},
        findings=(*found.findings, *_future(found, now))[:MOST_FINDINGS],
    )
    started = found.measured_at or now
    result = RunResult(
        schema_version=SCHEMA_VERSION,
        run_id=new_run_id(now),
        run_index=0,
        status="complete",
        benchmark_version=bench_loop.__version__,
        scoring_version=SCORING_VERSION,
        profile="custom",
        started_at=started,
        finished_at=max(found.finished_at or started, started),
        total_runtime_s=found.total_runtime_s,
        fingerprint=UNSET,
        subject=found.subject,
        machine=_machine(found.machine, wishes),
        settings=found.settings or settings_of(),
        software=None,
        imported=imported,
        speed=found.speed,
        aggregates=Aggregates(),
        suites=found.suites,
        trials=(),
    )
    return fingerprinted(result)


def _future(found: Found, now: datetime) -> Iterator[str]:
    """That the file was measured after today: clocks of two machines may differ by hours."""
    if found.measured_at is not None and found.measured_at - now > timedelta(days=1):
        yield f"It states that it was measured on {found.measured_at:%Y-%m-%d}, in the future."


def subject_of(name: ModelName, tool: str, version: str | None, **known: Any) -> Subject:
    """What was measured: the model by its normalised name, and the tool that measured it."""
    fields: dict[str, Any] = {
        "model_id": one_line(name.model_id),
        "model_family": name.family,
        "parameters_b": name.parameters_b,
        "active_parameters_b": name.active_parameters_b,
        "quantization": name.quantization,
        "quant_publisher": name.quant_publisher,
        "provider": tool,
        "harness": tool,
        "harness_version": one_line(version) if version else None,
    }
    return Subject(**(fields | known))


def settings_of(*, flash_attention: bool | None = None, threads: int | None = None) -> Settings:
    """The settings of a run that states none but these."""
    return Settings(
        trials=None,
        sampling=None,
        seed_rule=None,
        answer_budget_rule=None,
        context_window=None,
        wall_limit_rule=None,
        use_prompt_cache=None,
        flash_attention=flash_attention,
        threads=threads,
    )


def _machine(stated: Machine | None, wishes: Wishes) -> Machine:
    """The machine that the file states, with what the user declares beside it."""
    machine = stated or Machine(machine_id=None, device_class=UNKNOWN, is_local=None)
    declared = (wishes.label, wishes.gpu, wishes.gpu_memory_gb)
    if declared == (None, None, None):
        return machine
    by_user = declared_class(wishes.gpu, wishes.gpu_memory_gb)
    is_stated = machine.device_class != UNKNOWN
    return machine.model_copy(
        update={
            "machine_label": wishes.label,
            "device_class": machine.device_class if is_stated or not by_user else by_user,
            "declared": DeclaredMachine(
                label=wishes.label, gpu=wishes.gpu, gpu_memory_gb=wishes.gpu_memory_gb
            ),
        }
    )


def one_line(text: str) -> str:
    """`text` without what no terminal, page or site should get from a stranger's file."""
    shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return " ".join(shown.split())[:LONGEST_STATED]


def stated_texts(stated: Mapping[str, object]) -> dict[str, str]:
    """Settings by their own names as texts; lists and objects are left out."""
    scalars = {
        one_line(name): one_line("yes" if value is True else "no" if value is False else str(value))
        for name, value in stated.items()
        if isinstance(value, bool | int | float | str)
    }
    return dict(list(scalars.items())[:MOST_STATED])


def contradictions(
    what: str,
    samples: Sequence[float],
    claims: Mapping[str, float | None],
) -> list[str]:
    """Sentences for every claim that does not follow from the samples.

    `claims` may hold peak, mean, median, stdev and n; None is not claimed. Both ways of dividing
    are taken for a standard deviation.
    """
    own = spread(samples)
    if own is None:
        return []
    computed: dict[str, tuple[float, ...]] = {
        "peak": (own.peak,),
        "mean": (own.mean,),
        "median": (own.median,),
        "stdev": (own.stdev or 0.0, pstdev(samples)),
        "n": (float(own.n),),
    }
    return [
        f"{what}: it claims {name} {claim:g}, and its {own.n} single values give "
        f"{computed[name][0]:g}."
        for name, claim in claims.items()
        if claim is not None and not any(_is_same(claim, one, own) for one in computed[name])
    ]


def _is_same(claim: float, computed: float, own: Spread) -> bool:
    return abs(claim - computed) <= TOLERANCE * max(abs(computed), own.mean)
