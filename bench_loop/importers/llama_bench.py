"""llama-bench of llama.cpp, `-o json` and `-o jsonl`: prompt and generation speed by shape.

Fields as llama.cpp's tools/llama-bench writes them: old builds name their backends by booleans
(`cuda`, `metal`, ...) and give `flash_attn` as a boolean, newer ones write `backends` as a text and
`flash_attn` as -1 (auto), 0 or 1, and know `n_depth`. `samples_ns` and `samples_ts` are in both.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from bench_loop.contracts.provider import ModelFacts
from bench_loop.contracts.record import Count
from bench_loop.importers.building import (
    Found,
    Wishes,
    contradictions,
    one_line,
    settings_of,
    subject_of,
)
from bench_loop.importers.document import Document, Place, Row
from bench_loop.machine.cpu import clean_cpu_name
from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.record import cpu_class, gpu_class
from bench_loop.machine.reported import parse_gpus
from bench_loop.names.parse import parse_model
from bench_loop.names.paths import file_name
from bench_loop.result.records import Gpu, Machine, Rate, ShapeSpeed, Speed, Spread, Subject
from bench_loop.scoring.speed import half_width
from bench_loop.scoring.spreads import spread

TOOL = "llama-bench"
REMEDY = "Give the file that llama-bench wrote with -o json or -o jsonl, whole and unchanged."
BACKENDS = {
    "cuda": "cuda",
    "rocm": "rocm",
    "hip": "rocm",
    "metal": "metal",
    "mtl": "metal",
    "vulkan": "vulkan",
    "sycl": "sycl",
    "kompute": "kompute",
    "opencl": "opencl",
}
"""What llama.cpp calls what it computes with, in lower case; everything else is the processor."""

Nanoseconds = Annotated[int, Field(ge=0, le=2**53 - 1)]
Name = Annotated[str, Field(max_length=1000)]


class BenchRow(Row):
    """One test of one configuration, repeated."""

    build_commit: Name | None = None
    build_number: Count | None = None
    cpu_info: Name | None = None
    gpu_info: Name | None = None
    backends: Name | None = None
    model_filename: Name
    model_type: Name | None = None
    model_size: Count | None = None
    model_n_params: Count | None = None
    n_threads: Count | None = None
    type_k: Name | None = None
    n_gpu_layers: int | None = None
    flash_attn: bool | int | None = None
    n_prompt: Count
    n_gen: Count
    n_depth: Count = 0
    test_time: Annotated[AwareDatetime, Field(strict=False)] | None = None
    avg_ts: Rate
    stddev_ts: Rate | None = None
    samples_ns: Annotated[list[Nanoseconds], Field(max_length=10_000)] = []
    samples_ts: Annotated[list[Rate], Field(min_length=1, max_length=10_000)]

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.n_prompt, self.n_gen, self.n_depth

    @property
    def title(self) -> str:
        """As llama-bench itself names a test: pp512, tg128@d4096."""
        parts = (("pp", self.n_prompt), ("tg", self.n_gen))
        depth = f"@d{self.n_depth}" if self.n_depth else ""
        return "+".join(f"{name}{n}" for name, n in parts if n) + depth


MEASURED = frozenset(
    {"n_prompt", "n_gen", "n_depth", "test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts"}
    | {"samples_ns", "samples_ts"}
)
"""Fields that differ between the tests of one configuration."""

KEPT = frozenset(BenchRow.model_fields) - {"n_gpu_layers", "flash_attn"}
"""Fields that the result has a place for; the others go with it as they are stated."""


@dataclass(frozen=True, slots=True)
class _Test:
    place: Place
    row: BenchRow


def is_mine(document: Document) -> bool:
    """Whether the first value is a test of llama-bench."""
    first = document.places[0].value if document.places else None
    return isinstance(first, dict) and {"model_filename", "avg_ts"} <= first.keys()


def read(document: Document, wishes: Wishes) -> Iterator[Found]:
    """One run for each configuration: all that is equal but the shapes and what was measured."""
    if not document.places:
        raise document.fault(Place("", None), "", "holds no test", REMEDY)
    groups: dict[str, list[_Test]] = defaultdict(list)
    for place in document.places:
        row = document.row(place, BenchRow, REMEDY)
        if not row.n_prompt and not row.n_gen:
            raise document.fault(
                place, "n_prompt", "0 prompt and 0 output tokens are no test", REMEDY
            )
        setting = {key: value for key, value in place.value.items() if key not in MEASURED}
        groups[json.dumps(setting, sort_keys=True)].append(_Test(place, row))
    for tests in groups.values():
        yield _found(tests, wishes)


def _found(tests: Sequence[_Test], wishes: Wishes) -> Found:
    first = tests[0].row
    rows = [test.row for test in tests]
    times = [row.test_time for row in rows if row.test_time is not None]
    ends = [end for row in rows if (end := _end(row)) is not None]
    build = f"b{first.build_number}" if first.build_number else None
    version = " ".join(filter(None, (build, first.build_commit))) or None
    stated = {k: v for k, v in tests[0].place.value.items() if k not in KEPT | MEASURED}
    mixed = [row.title for row in rows if row.n_prompt and row.n_gen]
    return Found(
        subject=_subject(first, version, wishes),
        tool=TOOL,
        tool_version=one_line(version) if version else None,
        machine=_machine(first, tests[0].place.value),
        settings=settings_of(flash_attention=_switch(first.flash_attn), threads=first.n_threads),
        speed=_speed(rows),
        measured_at=min(times, default=None),
        finished_at=max(ends, default=None),
        stated=stated | {f"{title}, tok/s of both together": "left out" for title in mixed},
        samples=_samples(rows),
        findings=[sentence for test in tests for sentence in _findings(test)],
    )


def _end(row: BenchRow) -> datetime | None:
    """When the last repetition of a test ended; None: it states no time, or one without end."""
    if row.test_time is None:
        return None
    try:
        return row.test_time + timedelta(seconds=sum(row.samples_ns) / 1e9)
    except OverflowError:
        return None


def _subject(row: BenchRow, version: str | None, wishes: Wishes) -> Subject:
    model_file = file_name(row.model_filename)
    facts = ModelFacts(
        model_id=model_file,
        file_name=model_file,
        parameters=row.model_n_params or None,
        quantization=_file_type(row.model_type),
        size_bytes=row.model_size or None,
    )
    name = parse_model(wishes.model or model_file, facts, provider="llama.cpp")
    return subject_of(
        name,
        TOOL,
        version,
        bits_per_weight=name.bits_per_weight,
        file_name=one_line(model_file),
        kv_cache_type=one_line(row.type_k) if row.type_k else None,
        offloaded_layers=0 if row.n_gpu_layers == 0 else None,
        provider_version=one_line(" ".join(filter(None, ("llama.cpp", version)))),
    )


def _file_type(model_type: str | None) -> str | None:
    """The weights' format in a text like `qwen2 7B Q4_K - Medium` or `llama 7B mostly Q4_0`."""
    words = (model_type or "").split(" ", 2)
    return words[2].removeprefix("mostly ") or None if len(words) == 3 else None


def _switch(value: bool | int | None) -> bool | None:
    """Flash attention: old builds write a boolean, new ones 1, 0 or -1, which is automatic."""
    return bool(value) if value in (0, 1) and value is not None else None


def _backend(row: BenchRow, fields: dict[str, Any]) -> str | None:
    """What computed. Old builds say it in booleans of their own; None: the file does not say."""
    if row.backends is None:
        old = [name for name in BACKENDS if fields.get(name) is True]
        is_told = any(name in fields for name in BACKENDS)
        return BACKENDS[old[0]] if old else "cpu" if is_told else None
    words = [word.strip().lower() for word in row.backends.split(",")]
    return next((BACKENDS[word] for word in words if word in BACKENDS), "cpu")


def _machine(row: BenchRow, fields: dict[str, Any]) -> Machine:
    backend = "cpu" if row.n_gpu_layers == 0 else _backend(row, fields)
    cpu = clean_cpu_name(one_line(row.cpu_info)) if row.cpu_info else None
    names = [name for name in (row.gpu_info or "").split(", ") if name.strip()]
    reported = [gpu for name in names for gpu in parse_gpus(name).gpus]
    gpus = tuple(Gpu(model=one_line(gpu.name), vendor=gpu.vendor) for gpu in reported)
    used = () if backend == "cpu" else gpus
    on_cpu = cpu_class(MachineFacts(cpu_model=cpu)) if backend == "cpu" and cpu else "unknown"
    return Machine(
        machine_id=None,
        device_class=gpu_class(used, None) or on_cpu,
        cpu_model=cpu,
        gpus=used,
        backend=backend,
        is_local=None,
    )


def _samples(rows: Sequence[BenchRow]) -> dict[str, list[float]]:
    """All single rates by test; a test that was run again adds to the first."""
    samples: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        samples[row.title] += row.samples_ts
    return dict(samples)


def _speed(rows: Sequence[BenchRow]) -> Speed:
    """Every pure test as a shape; the first without depth, of each kind, gives the headline.

    A test of prompt and generation together is neither speed and gives none.
    """
    by_shape: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for row in rows:
        by_shape[row.shape] += row.samples_ts
    generation = {
        shape: spread(rates, "engine_timings") for shape, rates in by_shape.items() if not shape[0]
    }
    prompt = {
        shape: spread(rates, "engine_timings") for shape, rates in by_shape.items() if not shape[1]
    }
    headline = _headline(generation)
    return Speed(
        plan=None,
        generation_tps=headline,
        prompt_tps=_headline(prompt),
        generation_half_width=half_width(headline),
        shapes=tuple(
            ShapeSpeed(
                prompt_tokens=shape[0],
                output_tokens=shape[1],
                depth_tokens=shape[2],
                generation_tps=generation.get(shape),
                prompt_tps=prompt.get(shape),
            )
            for shape in by_shape
        ),
    )


def _headline(by_shape: dict[tuple[int, int, int], Spread | None]) -> Spread | None:
    """The first test in an empty window, else the first."""
    return next(
        (found for shape, found in by_shape.items() if not shape[2]),
        next(iter(by_shape.values()), None),
    )


def _findings(test: _Test) -> Iterator[str]:
    row, where = test.row, test.place.where
    title = f"{row.title} ({where})" if where else row.title
    claims = {"mean": row.avg_ts, "stdev": row.stddev_ts}
    yield from contradictions(title, row.samples_ts, claims)
    if not row.samples_ns:
        return
    if len(row.samples_ns) != len(row.samples_ts):
        yield (
            f"{title}: it has {len(row.samples_ts)} rates and {len(row.samples_ns)} times of them."
        )
        return
    tokens = row.n_prompt + row.n_gen
    for number, (ns, rate) in enumerate(zip(row.samples_ns, row.samples_ts, strict=True)):
        own = tokens * 1e9 / ns if ns else 0.0
        if abs(own - rate) > 0.005 * max(own, rate):
            yield (
                f"{title}: samples_ts[{number}] is {rate:g} tok/s, and {tokens} tokens in "
                f"samples_ns[{number}] are {own:g}."
            )
            return
