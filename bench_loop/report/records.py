"""View records: a run as pages print it, every figure formatted and every name made printable.

Run page and static dashboard are drawn from the same records, so that a template only places text.
None in a field means that there is nothing to print there; the words for absence are in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from bench_loop.contracts.verifier import Outcome
from bench_loop.report import plots
from bench_loop.report.figures import NOT_RUN, Figure

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OUTCOME_WORDS: dict[Outcome, str] = {
    "pass": "pass",
    "partial": "partial",
    "fail": "fail",
    "truncated": "truncated",
    "harness_error": "harness error",
    "infrastructure_error": "infrastructure",
    "not_applicable": "n/a",
}
HARNESS_SHAPES = {
    "raw": "raw",
    "openclaw": "openclaw",
    "aider": "aider",
    "hermes": "hermes",
    "opencode": "opencode",
    "reference": "reference",
}
"""Harnesses with a shape and series of their own; all others share the neutral hexagon."""
OTHER_HARNESS = "other"

LEVELS = ("reported", "consistent", "reproduced", "verified")
TOMBSTONES = ("flagged", "rejected", "withdrawn")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence. `kind` is plain, strong (bold), figure or interval."""

    text: str
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that limits what the page says. `kind` is limit, wrong or information."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class StackName:
    """The two lines by which a stack is named everywhere."""

    model: str
    quantization: str | None
    harness: str
    harness_version: str
    harness_shape: str
    device: str
    custom: str = ""
    """Why its harness was not run as BenchLoop pins it, as a sentence; empty: it was."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How well a row is evidenced: `rungs` of four, or a tombstone word."""

    word: str
    rungs: int
    is_tombstone: bool = False
    is_signed: bool = False

    @property
    def steps(self) -> tuple[bool, ...]:
        """Which of the four rungs are reached."""
        return tuple(step < self.rungs for step in range(len(LEVELS)))


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure with what it stands on. `figure` None: `absence` says why in its place."""

    label: str
    figure: Figure | None
    unit: str | None = None
    basis: str | None = None
    absence: str = NOT_RUN


@dataclass(frozen=True, slots=True)
class PathNode:
    """A station between weights and verdict. `is_probe`: BenchLoop's own clock sits here."""

    kind: str
    name: str
    readings: tuple[str, ...]
    is_probe: bool = False
    harness_shape: str | None = None


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How often an outcome came."""

    outcome: Outcome
    word: str
    count: str


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A suite in the suites table."""

    suite: str
    version: str
    tasks: str
    trials_each: str | None
    score: Figure | None
    bar: plots.ScoreBar | None
    segments: tuple[plots.Segment, ...]
    outcomes: tuple[OutcomeCount, ...]
    diagnostic: str
    finished: str
    pass_cubed: str
    latency: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A name and its value, both as text."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that came from a model or a tool."""

    who: str
    text: str
    is_thinking: bool = False


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial with its reason, raw numbers and everything that was kept of it."""

    anchor: str
    task: str
    ordinal: str
    about: str
    outcome: Outcome
    word: str
    reason: str | None
    message: str | None
    latency: str
    readings: tuple[Reading, ...]
    timing: plots.Timing | None
    passages: tuple[Passage, ...]

    @property
    def is_pass(self) -> bool:
        return self.outcome == "pass"


@dataclass(frozen=True, slots=True)
class SuiteTrials:
    """The judged trials of one suite, those that did not pass first."""

    suite: str
    failed: tuple[TrialView, ...]
    passed: tuple[TrialView, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """A headline quantity of the speed suite, raw."""

    name: str
    unit: str
    figure: Figure
    mean: str
    peak: str
    stdev: str
    n: str


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """One shape of the speed plan: medians."""

    prompt: str
    output: str
    generation: str
    prompt_rate: str
    ttft: str
    latency: str
    n: str


@dataclass(frozen=True, slots=True)
class SpeedTrialRow:
    """One measured request of the speed suite, with its raw clocks."""

    task: str
    trial: str
    prompt_tokens: str
    cached_tokens: str
    completion_tokens: str
    first: str
    last: str
    engine: str


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Speed beyond a single short request: heads with their units, and rows of figures."""

    title: str
    heads: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SpeedView:
    """The speed suite, raw."""

    plan: str
    rows: tuple[SpeedRow, ...]
    shapes: tuple[ShapeRow, ...]
    trials: tuple[SpeedTrialRow, ...]
    findings: tuple[str, ...]
    basis: str
    loads: tuple[LoadTable, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run, ready to be printed."""

    run_id: str
    stack: StackName
    title: str
    profile: str
    status: str
    scoring_version: str
    started: str
    runtime: str
    not_ranked: str
    lede: tuple[Span, ...]
    notices: tuple[Notice, ...]
    stats: tuple[Stat, ...]
    formula: str | None
    path: tuple[PathNode, ...]
    tapes: tuple[plots.Tape, ...]
    outcomes: tuple[OutcomeCount, ...]
    suites: tuple[SuiteRow, ...]
    has_pass_cubed: bool
    """Whether any suite was asked often enough for pass^3: else its column would be empty."""
    capabilities: tuple[Reading, ...]
    """Empty where the trials carry no tags, as imported ones."""
    trials: tuple[SuiteTrials, ...]
    speed: SpeedView | None
    settings: tuple[Reading, ...]
    machine: tuple[Reading, ...]
    provenance: tuple[Reading, ...]
    command: str
