"""Names of stacks, their headline figures, and whether a run may be ranked."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from bench_loop.contracts.place import PlaceKind
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.standard import custom_reason
from bench_loop.report import figures
from bench_loop.report.figures import Figure
from bench_loop.report.printable import one_line
from bench_loop.report.records import (
    HARNESS_SHAPES,
    LEVELS,
    OTHER_HARNESS,
    TOMBSTONES,
    StackName,
    Trust,
)
from bench_loop.result.records import (
    Interval,
    Machine,
    RunHeader,
    Speed,
    Spread,
    Subject,
    SuiteResult,
    SuiteSettings,
)
from bench_loop.scoring.speed import reach

PLACES: dict[PlaceKind, str] = {
    "bubblewrap": "in a sandbox (bubblewrap) whose only network is the model",
    "direct": "directly on this machine, by choice",
}
"""Where the program of a harness ran."""


WHERE: dict[PlaceKind, str] = {"bubblewrap": "in a sandbox", "direct": "directly on the machine"}
"""The same where there is no room."""


def harness_shape(harness: str) -> str:
    """Name of the harness's mark in the sprite and of its series colour."""
    return HARNESS_SHAPES.get(harness, OTHER_HARNESS)


def harness_label(header: RunHeader) -> str:
    """The harness and its version; `raw (tools)` where suites with tools had its tool loop;
    `(custom)` where it was not run as it is pinned.
    """
    name, version = one_line(header.subject.harness), one_line(header.subject.harness_version or "")
    if custom_reason(header):
        return f"{name} {version}".rstrip() + " (custom)"
    suites = quality_suites(header)
    with_tools = sum(_has_tools(suite.suite) for suite in suites) if name == "raw" else 0
    if not with_tools:
        return f"{name} {version}".rstrip()
    return f"raw (tools) {version}" if with_tools == len(suites) else f"raw, raw (tools) {version}"


def harness_configuration(header: RunHeader) -> str | None:
    """`standard`, or `custom` with the reason; None: the harness is no program."""
    if header.settings.harness is None:
        return None
    reason = one_line(custom_reason(header), 400)
    return f"custom: {reason[0].lower()}{reason[1:]}" if reason else "standard"


@lru_cache(maxsize=256)
def _has_tools(suite: str) -> bool:
    return suite in pack_names() and any(task.tools for task in load_pack(suite).tasks)


def trust(word: str, *, is_signed: bool = False) -> Trust:
    """Rungs for a level; flagged, rejected and withdrawn are tombstones; else a bare word."""
    rungs = LEVELS.index(word) + 1 if word in LEVELS else 0
    return Trust(word, rungs, is_tombstone=word in TOMBSTONES, is_signed=is_signed)


def stack_name(header: RunHeader) -> StackName:
    """Model, quantization, harness and device as a stack is named."""
    subject, machine = header.subject, header.machine
    return StackName(
        model=one_line(subject.model_id),
        quantization=one_line(subject.quantization) if subject.quantization else None,
        harness=one_line(subject.harness),
        harness_version=one_line(subject.harness_version or ""),
        harness_shape=harness_shape(subject.harness),
        device=device(machine),
        custom=one_line(custom_reason(header), 400),
    )


def profile(name: str) -> str:
    """What was run, in words; `custom` alone would be taken for a custom harness."""
    return "hand-picked suites" if name == "custom" else f"{name} profile"


def device(machine: Machine) -> str:
    """The machine in a few words: `RTX 4090 24 GB`, `2 × RTX 3090 24 GB`, `CPU only, Ryzen 7`."""
    if machine.gpus:
        kinds = Counter(
            f"{one_line(gpu.model)} {figures.memory(gpu.memory_gb)} GB"
            if gpu.memory_gb
            else one_line(gpu.model)
            for gpu in machine.gpus
        )
        return " + ".join(f"{n} × {kind}" if n > 1 else kind for kind, n in kinds.items())
    if machine.declared and machine.declared.gpu:
        return f"{one_line(machine.declared.gpu)} (declared)"
    if machine.is_local is False:
        return "a remote server"
    if machine.is_local is None and (machine.backend != "cpu" or not machine.cpu_model):
        return "a machine not stated"
    return f"CPU only, {one_line(machine.cpu_model)}" if machine.cpu_model else "CPU only"


def title(subject: Subject, machine: Machine) -> str:
    """The run in one line: `qwen3:8b Q4_K_M in raw, RTX 4090 24 GB`."""
    model = " ".join(filter(None, (subject.model_id, subject.quantization)))
    return f"{one_line(model)} in {one_line(subject.harness)}, {device(machine)}"


def score_figure(value: float | None, interval: Interval | None) -> Figure | None:
    """A score with its interval, or None."""
    return None if value is None else figures.score(value, interval)


def generation_figure(speed: Speed | None) -> Figure | None:
    """Headline generation speed in tokens a second."""
    return spread_figure(speed.generation_tps) if speed and speed.generation_tps else None


def ttft_figure(speed: Speed | None) -> Figure | None:
    """Headline time to the first token in seconds."""
    return spread_figure(speed.ttft_s) if speed and speed.ttft_s else None


def spread_figure(spread: Spread) -> Figure:
    """The median of a spread with the half-width of the 95 % interval of its mean."""
    return figures.rate(spread.median, reach(spread))


def own_way(own: SuiteSettings) -> str:
    """How a suite is run that has trials or sampling of its own: `3, temperature 0.7, top_p 1`."""
    sampling = own.sampling
    return f"{own.trials}, temperature {sampling.temperature:g}, top_p {sampling.top_p:g}"


def quality_suites(header: RunHeader) -> list[SuiteResult]:
    return [suite for suite in header.suites if suite.dimension == "quality"]
