"""View records: a run as pages print it, every figure formatted and every name made printable.

Run page and static dashboard are drawn from the same records, so that a template only places text.
None in a field means that there is nothing to print there; the words for absence are in the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from bench_loop.contracts.verifier import Outcome
from bench_loop.engine.profiles import PROFILES
from bench_loop.report import figures, plots
from bench_loop.report.figures import NOT_RUN, UNKNOWN, Figure
from bench_loop.report.printable import one_line, printable
from bench_loop.result.records import (
    Aggregates,
    Interval,
    Machine,
    RunHeader,
    RunResult,
    ShapeSpeed,
    Speed,
    Spread,
    Subject,
    SuiteResult,
    Trial,
)
from bench_loop.scoring import constants
from bench_loop.scoring.rates import engine_rate, ttft_s
from bench_loop.scoring.speed import half_width
from bench_loop.scoring.suites import is_censored

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

SUITES_BEFORE_TRIALS = "speed"
"""The suite whose trials are measured and not judged."""


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
class SpeedView:
    """The speed suite, raw."""

    plan: str
    rows: tuple[SpeedRow, ...]
    shapes: tuple[ShapeRow, ...]
    trials: tuple[SpeedTrialRow, ...]
    findings: tuple[str, ...]
    basis: str


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
    trials: tuple[SuiteTrials, ...]
    speed: SpeedView | None
    settings: tuple[Reading, ...]
    machine: tuple[Reading, ...]
    provenance: tuple[Reading, ...]
    command: str


def run_view(result: RunResult) -> RunView:
    """The whole run as text."""
    judged = [trial for trial in result.trials if trial.outcome and not trial.is_warmup]
    return RunView(
        run_id=result.run_id,
        stack=stack_name(result.subject, result.machine),
        title=title(result.subject, result.machine),
        profile=result.profile,
        status=result.status,
        scoring_version=one_line(result.scoring_version),
        started=figures.moment(result.started_at),
        runtime=figures.duration(result.total_runtime_s),
        not_ranked=not_ranked_reason(result),
        lede=run_lede(result),
        notices=notices(result),
        stats=stats(result, judged),
        formula=None if not_ranked_reason(result) else formula(result.aggregates),
        path=signal_path(result, judged),
        tapes=tapes(judged),
        outcomes=outcome_counts(trial.outcome for trial in judged),
        suites=tuple(suite_row(suite, result.trials) for suite in _quality(result)),
        trials=suite_trials(judged),
        speed=speed_view(result.speed, result.trials) if result.speed else None,
        settings=settings_readings(result),
        machine=machine_readings(result.machine),
        provenance=provenance(result),
        command=command_line(result),
    )


def stack_name(subject: Subject, machine: Machine) -> StackName:
    """Model, quantization, harness and device as a stack is named."""
    return StackName(
        model=one_line(subject.model_id),
        quantization=one_line(subject.quantization) if subject.quantization else None,
        harness=one_line(subject.harness),
        harness_version=one_line(subject.harness_version),
        harness_shape=harness_shape(subject.harness),
        device=device(machine),
    )


def harness_shape(harness: str) -> str:
    """Name of the harness's mark in the sprite and of its series colour."""
    return HARNESS_SHAPES.get(harness, OTHER_HARNESS)


def trust(word: str, *, is_signed: bool = False) -> Trust:
    """Rungs for a level; flagged, rejected and withdrawn are tombstones; else a bare word."""
    rungs = LEVELS.index(word) + 1 if word in LEVELS else 0
    return Trust(word, rungs, is_tombstone=word in TOMBSTONES, is_signed=is_signed)


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
    if not machine.is_local:
        return "a remote server"
    return f"CPU only, {one_line(machine.cpu_model)}" if machine.cpu_model else "CPU only"


def title(subject: Subject, machine: Machine) -> str:
    """The run in one line: `qwen3:8b Q4_K_M in raw, RTX 4090 24 GB`."""
    model = " ".join(filter(None, (subject.model_id, subject.quantization)))
    return f"{one_line(model)} in {one_line(subject.harness)}, {device(machine)}"


def not_ranked_reason(header: RunHeader) -> str:
    """Why this run may not stand in a ranking, as a sentence; empty when it may."""
    rules = PROFILES.get(header.profile)
    context, speed = header.subject.context, header.speed
    half_width = speed.generation_half_width if speed else None
    if header.status != "complete":
        return f"The run is {header.status}."
    if rules is None or not rules.is_ranked:
        return f"Runs of the profile {header.profile} are never ranked."
    if header.aggregates.overall_score is None:
        return "There is no overall score: a part of the profile was not measured."
    if context is None or context.loaded is None:
        return "The loaded context window was not read back from the server."
    if half_width is not None and half_width > constants.PUBLISHABLE_HALF_WIDTH:
        return "The speed varied too much to be ranked."
    return ""


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
    share = half_width(spread)
    return figures.rate(spread.median, None if share is None else share * spread.mean)


def run_lede(header: RunHeader) -> tuple[Span, ...]:
    """The run in a sentence or two, generated from its figures."""
    scores = header.aggregates
    suites = [suite for suite in _quality(header) if suite.score is not None]
    if not suites and header.speed is None:
        return (Span("Nothing was measured in this run."),)
    spans: list[Span] = []
    overall = score_figure(scores.overall_score, scores.overall_score_interval)
    reason = not_ranked_reason(header)
    if overall and not reason:
        spans += [Span("Overall "), *_figure_spans(overall), Span(". ")]
    if suites:
        spans += _best_and_worst(suites, scores)
    generation = generation_figure(header.speed)
    if generation:
        spans += [Span("It writes "), Span(generation.value, "strong"), Span(" tok/s")]
        ttft = ttft_figure(header.speed)
        spans += [Span(f" after {ttft.value} s to the first token.") if ttft else Span(".")]
    return tuple(spans)


def _best_and_worst(suites: Sequence[SuiteResult], scores: Aggregates) -> list[Span]:
    in_order = sorted(suites, key=lambda suite: suite.score or 0.0, reverse=True)
    best, worst = in_order[0], in_order[-1]
    quality = score_figure(scores.quality_score, scores.quality_score_interval)
    if not best.score:
        tasks = sum(suite.task_count for suite in suites)
        return [Span("It passed "), Span("none", "strong"), Span(f" of {tasks} tasks. ")]
    if best.score == worst.score and len(suites) > 1 and quality:
        return [Span("Quality "), *_figure_spans(quality), Span(" in every suite. ")]
    if best is worst:
        return [Span(f"{one_line(best.suite)} "), *_suite_spans(best), Span(". ")]
    spans = [Span(f"Highest in {one_line(best.suite)}, "), *_suite_spans(best)]
    return [
        *spans,
        Span(f"; lowest in {one_line(worst.suite)}, "),
        *_suite_spans(worst),
        Span(". "),
    ]


def _suite_spans(suite: SuiteResult) -> list[Span]:
    figure = score_figure(suite.score, suite.score_interval)
    assert figure is not None
    return _figure_spans(figure)


def _figure_spans(figure: Figure) -> list[Span]:
    spans = [Span(figure.value, "strong")]
    if figure.interval:
        spans += [Span(" "), Span(f"({figure.interval})", "interval")]
    return spans


def notices(header: RunHeader) -> tuple[Notice, ...]:
    """What limits this run, worst first."""
    found: list[Notice] = []
    if header.status == "incomplete":
        errors = sum(suite.error_count for suite in header.suites)
        found.append(Notice("limit", f"Incomplete: {errors} trials could not be judged."))
    if header.status == "aborted":
        found.append(Notice("limit", "Aborted before its end: what was finished is shown."))
    if header.profile == "smoke":
        found.append(
            Notice("information", "Smoke asks whether everything works. Its scores are not ranked.")
        )
    if not header.machine.is_local:
        found.append(
            Notice("information", "The server is not on this machine: its hardware is not known.")
        )
    censored = [one_line(suite.suite) for suite in _quality(header) if is_censored(suite)]
    if censored:
        names = ", ".join(censored)
        found.append(
            Notice("limit", f"Censored: 2 % or more of the answers were cut off in {names}.")
        )
    return tuple(found)


def stats(header: RunHeader, judged: Sequence[Trial]) -> tuple[Stat, ...]:
    """The aggregates with their ingredients; the raw figure stands beside the score."""
    scores = header.aggregates
    counts = Counter(trial.outcome for trial in judged)
    reason = not_ranked_reason(header)
    return (
        Stat(
            "Overall",
            score_figure(scores.overall_score, scores.overall_score_interval)
            if not reason
            else None,
            absence="not ranked",
            basis=reason or None,
        ),
        Stat(
            "Quality",
            score_figure(scores.quality_score, scores.quality_score_interval),
            basis=f"{counts['pass']} of {len(judged)} trials passed" if judged else None,
        ),
        Stat(
            "Speed",
            score_figure(scores.speed_score, scores.speed_score_interval),
            absence="no score" if header.speed else NOT_RUN,
            basis=_speed_basis(header.speed),
        ),
        Stat(
            "Reliability",
            score_figure(scores.reliability_score, scores.reliability_score_interval),
            basis=_reliability_basis(counts),
        ),
        Stat(
            "Value",
            score_figure(scores.value_score, scores.value_score_interval),
            absence="no score",
            basis="quality × speed × reliability",
        ),
        _answers_stat(header),
    )


def _answers_stat(header: RunHeader) -> Stat:
    rate = header.aggregates.answers_per_minute
    return Stat(
        "Right answers",
        None if rate is None else figures.rate(rate, None),
        unit="/min",
        basis=f"{figures.duration(header.total_runtime_s)} in all",
    )


def _speed_basis(speed: Speed | None) -> str | None:
    generation, ttft = generation_figure(speed), ttft_figure(speed)
    parts = [
        f"{generation} tok/s" if generation else None,
        f"TTFT {ttft.value} s" if ttft else None,
    ]
    return ", ".join(filter(None, parts)) or None


def _reliability_basis(counts: Counter[Outcome | None]) -> str | None:
    if not counts:
        return None
    return f"{counts['truncated']} truncated, {counts['harness_error']} harness errors"


def formula(scores: Aggregates) -> str | None:
    """The overall score with its numbers put in; None where one of them is missing."""
    parts = (scores.quality_score, scores.speed_score, scores.reliability_score)
    if scores.overall_score is None or None in parts:
        return None
    quality, speed, reliability = (figures.number(part or 0.0, 1) for part in parts)
    share = min(1.0, (scores.quality_score or 0.0) / constants.FULL_CREDIT_QUALITY)
    before, after = (f"{figures.number(share, 2)} × (", ")") if share < 1 else ("", "")
    return (
        f"{constants.QUALITY_WEIGHT:.2f} × {quality} quality + {before}"
        f"{constants.SPEED_WEIGHT:.2f} × {speed} speed + "
        f"{constants.RELIABILITY_WEIGHT:.2f} × {reliability} reliability{after}"
        f" = {figures.number(scores.overall_score, 1)} overall"
    )


def signal_path(result: RunHeader, judged: Sequence[Trial]) -> tuple[PathNode, ...]:
    """From the weights to the verdict, with the points where BenchLoop's clock sits."""
    subject, machine = result.subject, result.machine
    harness = PathNode(
        kind="harness, recording" if subject.harness == "raw" else "harness",
        name=f"{one_line(subject.harness)} {one_line(subject.harness_version)}",
        readings=_request_readings(judged),
        is_probe=subject.harness == "raw",
        harness_shape=harness_shape(subject.harness),
    )
    kinds = sorted({trial.verifier_type for trial in judged if trial.verifier_type})
    verifier = PathNode(
        kind="verifier",
        name=", ".join(kinds) or "none",
        readings=(f"{figures.count(len(judged))} verdicts", "0 judged by a model"),
        is_probe=True,
    )
    return (
        _weights_node(subject),
        _device_node(machine),
        _server_node(result),
        harness,
        verifier,
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


def tapes(judged: Sequence[Trial]) -> tuple[plots.Tape, ...]:
    """A tape for each suite with judged trials, in the order of the run."""
    suites: dict[str, dict[str, list[Outcome]]] = {}
    for trial in judged:
        if trial.outcome:
            tasks = suites.setdefault(one_line(trial.suite), {})
            tasks.setdefault(one_line(trial.task_id), []).append(trial.outcome)
    return tuple(plots.tape(suite, tuple(tasks.items())) for suite, tasks in suites.items())


def outcome_counts(
    outcomes: Iterable[Outcome | None], *, with_zero: bool = True
) -> tuple[OutcomeCount, ...]:
    """Every outcome with its count; `with_zero` False leaves out what never came."""
    counts = Counter(outcomes)
    return tuple(
        OutcomeCount(outcome, OUTCOME_WORDS[outcome], figures.count(counts[outcome]))
        for outcome in OUTCOMES
        if with_zero or counts[outcome]
    )


def suite_row(suite: SuiteResult, trials: Sequence[Trial]) -> SuiteRow:
    """A row of the suites table. Outcomes are counted from the trials, which tell errors apart."""
    own = [
        trial.outcome
        for trial in trials
        if trial.suite == suite.suite and trial.outcome and not trial.is_warmup
    ]
    counts = Counter(own)
    each = len(own) // suite.task_count if suite.task_count else 0
    return SuiteRow(
        suite=one_line(suite.suite),
        version=one_line(suite.version),
        tasks=figures.count(suite.task_count),
        trials_each=f"× {each}" if each > 1 else None,
        score=score_figure(suite.score, suite.score_interval),
        bar=None if suite.score is None else plots.score_bar(suite.score, suite.score_interval),
        segments=plots.outcome_bar([(outcome, counts[outcome]) for outcome in OUTCOMES]),
        outcomes=outcome_counts(own, with_zero=False),
        diagnostic=_score_text(suite.diagnostic_score),
        finished=_score_text(suite.score_of_finished),
        pass_cubed=_score_text(suite.pass_cubed),
        latency=UNKNOWN
        if suite.median_latency_s is None
        else figures.seconds(suite.median_latency_s),
    )


def _score_text(value: float | None) -> str:
    return UNKNOWN if value is None else figures.number(value, 0)


def suite_trials(judged: Sequence[Trial]) -> tuple[SuiteTrials, ...]:
    """Judged trials by suite, failures first."""
    suites: dict[str, list[TrialView]] = {}
    for trial in judged:
        suites.setdefault(one_line(trial.suite), []).append(trial_view(trial))
    return tuple(
        SuiteTrials(
            suite=suite,
            failed=tuple(view for view in views if not view.is_pass),
            passed=tuple(view for view in views if view.is_pass),
            summary=f"{sum(view.is_pass for view in views)} of {len(views)} passed",
        )
        for suite, views in suites.items()
    )


def trial_view(trial: Trial) -> TrialView:
    """One judged trial as text."""
    assert trial.outcome is not None
    return TrialView(
        anchor=f"{one_line(trial.suite)}-{one_line(trial.task_id)}-{trial.trial}",
        task=one_line(trial.task_id),
        ordinal=f"trial {trial.trial}",
        about=", ".join(filter(None, (trial.difficulty, trial.verifier_type))),
        outcome=trial.outcome,
        word=OUTCOME_WORDS[trial.outcome],
        reason=one_line(trial.reason) if trial.reason else None,
        message=printable(trial.message) if trial.message else None,
        latency=_seconds(trial.latency_s),
        readings=trial_readings(trial),
        timing=_timing(trial),
        passages=passages(trial),
    )


def _timing(trial: Trial) -> plots.Timing | None:
    firsts = [t for t in (trial.t_first_thinking_s, trial.t_first_answer_s) if t is not None]
    if not firsts or trial.t_last_s is None:
        return None
    return plots.timing(min(firsts), trial.t_last_s, trial.t_first_thinking_s)


def trial_readings(trial: Trial) -> tuple[Reading, ...]:
    """The raw numbers of a trial; what is unknown is left out."""
    tokens = trial.tokens
    engine = trial.engine_timings
    found = (
        ("prompt tokens", _count(tokens.prompt)),
        ("cached", _count(tokens.cached)),
        ("completion tokens", _count(tokens.completion)),
        ("thinking tokens", _count(tokens.reasoning)),
        ("counted by", tokens.basis),
        ("latency", _known_seconds(trial.latency_s)),
        ("first byte", _known_seconds(trial.t_first_byte_s)),
        ("first thinking", _known_seconds(trial.t_first_thinking_s)),
        ("first answer", _known_seconds(trial.t_first_answer_s)),
        ("last token", _known_seconds(trial.t_last_s)),
        ("engine: prompt", _known_seconds(engine.prompt_s) if engine else None),
        ("engine: generation", _known_seconds(engine.generation_s) if engine else None),
        ("finish", trial.finish_reason),
        ("seed", None if trial.seed is None else str(trial.seed)),
        ("replies", str(trial.turns)),
        ("retries", str(trial.retries) if trial.retries else None),
        ("credit", None if trial.score is None else figures.number(trial.score, 2)),
    )
    return tuple(Reading(name, value) for name, value in found if value is not None)


def passages(trial: Trial) -> tuple[Passage, ...]:
    """Everything kept of what was said in a trial, in reading order."""
    found = []
    if trial.thinking:
        found.append(Passage("thinking", printable(trial.thinking), is_thinking=True))
    found += [
        Passage("tool call", printable(f"{call.name} {call.arguments}"))
        for call in trial.tool_calls
    ]
    if trial.output is not None:
        found.append(Passage("model", printable(trial.output) or "(empty)"))
    if trial.answer is not None:
        found.append(Passage("answer read", printable(trial.answer)))
    found += [
        Passage(one_line(artifact.path), printable(artifact.text))
        for artifact in trial.artifacts
        if artifact.text is not None
    ]
    return tuple(found)


def speed_view(speed: Speed, trials: Sequence[Trial]) -> SpeedView:
    """The speed suite with all its raw figures."""
    quantities = (
        ("Generation", "tok/s", speed.generation_tps),
        ("Prompt", "tok/s", speed.prompt_tps),
        ("TTFT", "s", speed.ttft_s),
        ("TTFA", "s", speed.ttfa_s),
        ("Load", "s", speed.load_s),
    )
    measured = [trial for trial in trials if trial.suite == "speed"]
    bases = {spread.basis for _, _, spread in quantities if spread and spread.basis}
    return SpeedView(
        plan=speed.plan,
        rows=tuple(_speed_row(name, unit, spread) for name, unit, spread in quantities if spread),
        shapes=tuple(_shape_row(shape) for shape in speed.shapes),
        trials=tuple(_speed_trial_row(trial) for trial in measured),
        findings=tuple(one_line(finding) for finding in speed.findings),
        basis=", ".join(sorted(basis.replace("_", " ") for basis in bases)) or "client clocks",
    )


def _speed_row(name: str, unit: str, spread: Spread) -> SpeedRow:
    return SpeedRow(
        name=name,
        unit=unit,
        figure=spread_figure(spread),
        mean=figures.significant(spread.mean),
        peak=figures.significant(spread.peak),
        stdev=UNKNOWN if spread.stdev is None else figures.significant(spread.stdev, 2),
        n=figures.count(spread.n),
    )


def _shape_row(shape: ShapeSpeed) -> ShapeRow:
    ns = [s.n for s in (shape.generation_tps, shape.ttft_s, shape.latency_s) if s]
    return ShapeRow(
        prompt=figures.tokens(shape.prompt_tokens),
        output=figures.tokens(shape.output_tokens),
        generation=_median(shape.generation_tps),
        prompt_rate=_median(shape.prompt_tps),
        ttft=_median(shape.ttft_s),
        latency=_median(shape.latency_s),
        n=str(max(ns)) if ns else UNKNOWN,
    )


def _median(spread: Spread | None) -> str:
    return UNKNOWN if spread is None else spread_figure(spread).value


def _speed_trial_row(trial: Trial) -> SpeedTrialRow:
    first, rate = ttft_s(trial), engine_rate(trial)
    return SpeedTrialRow(
        task=one_line(trial.task_id),
        trial="warm-up" if trial.is_warmup else str(trial.trial),
        prompt_tokens=_count(trial.tokens.prompt) or UNKNOWN,
        cached_tokens=_count(trial.tokens.cached) or UNKNOWN,
        completion_tokens=_count(trial.tokens.completion) or UNKNOWN,
        first=UNKNOWN if first is None else figures.seconds(first),
        last=UNKNOWN if trial.t_last_s is None else figures.seconds(trial.t_last_s),
        engine=UNKNOWN if rate is None else figures.significant(rate.tps),
    )


def settings_readings(result: RunHeader) -> tuple[Reading, ...]:
    """The core settings: equal, or two runs are not comparable."""
    settings, sampling, subject = result.settings, result.settings.sampling, result.subject
    context = subject.context
    loaded = context.loaded if context else None
    return _readings(
        ("temperature", f"{sampling.temperature:g}"),
        ("top_p, top_k, min_p", f"{sampling.top_p:g}, {sampling.top_k}, {sampling.min_p:g}"),
        ("seeds", settings.seed_rule),
        ("trials a task", str(settings.trials)),
        ("answer budget", settings.answer_budget_rule),
        ("wall limit", settings.wall_limit_rule),
        (
            "window asked, loaded",
            f"{figures.count(settings.context_window)}, "
            f"{figures.count(loaded) if loaded else 'not read back'}",
        ),
        ("thinking", {True: "on", False: "off", None: "no such switch"}[subject.thinking]),
        ("prompt cache", "allowed" if settings.use_prompt_cache else "off"),
        ("flash attention", _switch(settings.flash_attention)),
        ("parallel slots", _known(settings.parallel_slots)),
        ("threads", _known(settings.threads)),
        ("KV cache", subject.kv_cache_type or "unknown"),
    )


def machine_readings(machine: Machine) -> tuple[Reading, ...]:
    """The computer, as far as it is known."""
    return _readings(
        ("device class", machine.device_class),
        ("processor", machine.cpu_model or "unknown"),
        ("GPU", device(machine) if machine.gpus else "none found"),
        (
            "memory",
            f"{figures.memory(machine.system_memory_gb)} GB"
            if machine.system_memory_gb
            else "unknown",
        ),
        ("backend", machine.backend or "unknown"),
        ("system", machine.os or "unknown"),
        ("label", machine.machine_label),
    )


def provenance(result: RunHeader) -> tuple[Reading, ...]:
    """What a sceptic needs to trace the run."""
    subject = result.subject
    return _readings(
        ("run", result.run_id),
        ("fingerprint", result.fingerprint.removeprefix("sha256:")[:16]),
        ("measured", f"{figures.moment(result.started_at)}"),
        ("took", figures.duration(result.total_runtime_s)),
        ("run index", str(result.run_index)),
        ("bench-loop", result.benchmark_version),
        ("scoring", result.scoring_version),
        ("engine", subject.provider_version or "unknown"),
        ("file", subject.file_name),
        ("weights", subject.weights_digest or "no digest offered"),
        ("chat template", subject.chat_template_hash or "not offered"),
        ("python", result.software.python),
        ("platform", result.software.platform),
    )


def command_line(result: RunHeader) -> str:
    """The command that measures the same stack again, quoted for a POSIX shell."""
    import shlex

    subject = result.subject
    words = ["bench-loop", "run", "--model", subject.model_id, "--provider", subject.provider]
    if subject.harness != "raw":
        words += ["--harness", subject.harness]
    if result.profile == "custom":
        words += ["--suites", ",".join(suite.suite for suite in result.suites)]
    else:
        words += ["--profile", result.profile]
    return one_line(shlex.join(words), limit=1000)


def _quality(header: RunHeader) -> list[SuiteResult]:
    return [suite for suite in header.suites if suite.dimension == "quality"]


def _texts(*texts: str | None) -> tuple[str, ...]:
    return tuple(one_line(text) for text in texts if text)


def _readings(*pairs: tuple[str, str | None]) -> tuple[Reading, ...]:
    return tuple(Reading(name, one_line(value)) for name, value in pairs if value is not None)


def _count(value: int | None) -> str | None:
    return None if value is None else figures.count(value)


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{figures.seconds(value)} s"


def _known_seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f} s"


def _switch(value: bool | None) -> str:
    return {True: "on", False: "off", None: "unknown"}[value]


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)
