"""The report after a run, in a terminal: the answer first, then its proof, then what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bench_loop.console import NARROW, Signs, clean, in_signs, signs, width
from bench_loop.report import figures
from bench_loop.report.marks import (
    LABEL,
    axis,
    cell,
    cut,
    outcome_word,
    score_bar,
    sign,
    signal_path,
    tape_lines,
)
from bench_loop.report.progress import RunProgress
from bench_loop.result.records import Machine, RunResult, Speed, Spread, Subject, Trial

__all__ = ["RunProgress", "print_run", "stack_nodes"]

AGGREGATES = ("overall", "quality", "speed", "reliability", "value")
FAILURES_SHOWN = 12


def print_run(result: RunResult, console: Console, file: Path | None = None) -> None:
    """Print the report of `result`; `file` is where it was written, if the reader may ask."""
    marks = signs(console)
    columns = width(console)
    sections = (
        _head(result, marks),
        _speed(result.speed, columns),
        _tapes(result, marks, columns),
        _scores(result, marks, columns),
        _failures(result, marks, columns),
        _where(file),
    )
    for section in sections:
        lines = list(section)
        for line in lines:
            console.print(in_signs(line, marks), no_wrap=True, crop=False, overflow="ignore")
        if lines:
            console.print()


def stack_nodes(subject: Subject) -> tuple[str, ...]:
    """The nodes of a run's signal path, from the weights to the verifier."""
    model = " ".join(filter(None, (subject.model_id, subject.quantization)))
    harness = f"{subject.harness} {subject.harness_version}"
    return model, subject.provider_version or subject.provider, harness, "verifier"


def _head(result: RunResult, marks: Signs) -> Iterator[Text]:
    yield signal_path(stack_nodes(result.subject), marks)
    context = result.subject.context
    loaded = context.loaded if context else None
    window = (
        f"window {figures.count(loaded)} read back"
        if loaded
        else f"window {figures.count(result.settings.context_window)} asked for"
    )
    facts = (_device(result.machine), window, f"{result.profile} profile")
    yield Text(", ".join(facts), style="basis")
    yield Text()
    yield from _lede(result)


def _lede(result: RunResult) -> Iterator[Text]:
    """The answer in a sentence, and where it cannot be ranked the reason."""
    scored = [trial for trial in result.trials if is_scored(trial)]
    passed = sum(trial.outcome == "pass" for trial in scored)
    noun = "tasks" if result.settings.trials == 1 else "trials"
    line = Text()
    aggregates = result.aggregates
    if aggregates.overall_score is not None:
        overall = figures.score(aggregates.overall_score, aggregates.overall_score_interval)
        line.append(f"Overall {overall}", style="figure").append(": ")
    line.append(f"{passed} of {len(scored)}", style="figure").append(f" {noun} passed")
    if result.speed and result.speed.generation_tps:
        line.append(", at ").append(_generation(result.speed), style="figure").append(" tok/s")
    yield line.append(".")
    reason = not_ranked(result)
    if reason:
        yield Text(f"Not ranked: {reason}.", style="partial")


def not_ranked(result: RunResult) -> str | None:
    """Why this run has no place among the ranked ones, as far as its file can tell."""
    lost = sum(trial.outcome == "infrastructure_error" for trial in result.trials)
    if result.profile in ("smoke", "custom"):
        return f"{result.profile} profile"
    if result.status == "aborted":
        return "the run was stopped before its end"
    if lost:
        return f"{lost} trials with infrastructure errors"
    if result.status == "incomplete":
        return "the run is incomplete"
    return None


def is_scored(trial: Trial) -> bool:
    """Whether a trial counts in the denominator of its suite's score."""
    unscored = (None, "infrastructure_error", "not_applicable")
    return not trial.is_warmup and trial.outcome not in unscored


def _device(machine: Machine) -> str:
    if machine.gpus:
        names = Counter(gpu.model for gpu in machine.gpus)
        device = ", ".join(f"{n} x {name}" if n > 1 else name for name, n in names.items())
        memory = machine.gpu_memory_gb
    else:
        device, memory = machine.cpu_model or machine.device_class, machine.system_memory_gb
    return clean(device) + (f" {figures.memory(memory)} GB" if memory else "")


def _generation(speed: Speed) -> str:
    assert speed.generation_tps is not None
    spread = speed.generation_tps
    half_width = speed.generation_half_width
    return str(figures.rate(spread.median, half_width and half_width * spread.mean))


def _speed(speed: Speed | None, columns: int) -> Iterator[Text]:
    line = Text(f"{'speed':<{LABEL}}")
    if speed is None:
        yield line.append(figures.NOT_RUN, style="basis")
        return
    ttft_half = speed.ttft_half_width
    readings = (
        ("", speed.generation_tps, _generation(speed) if speed.generation_tps else "", "tok/s"),
        ("prompt ", speed.prompt_tps, _rate(speed.prompt_tps), "tok/s"),
        ("TTFT ", speed.ttft_s, _time(speed.ttft_s, ttft_half), "s"),
        ("load ", speed.load_s, _time(speed.load_s, None), "s"),
    )
    shown = [reading for reading in readings if reading[1] is not None]
    for position, (name, _, value, unit) in enumerate(shown):
        if position:
            line.append("   ")
        line.append(name).append(value, style="figure").append(f" {unit}", style="basis")
    yield line if shown else line.append("not measured", style="basis")
    yield Text(" " * LABEL + _basis(speed), style="basis")
    if speed.findings:
        words = ", ".join(clean(finding).replace("_", " ") for finding in speed.findings)
        yield cut(Text(" " * LABEL + words, style="partial"), columns)


def _rate(spread: Spread | None) -> str:
    return str(figures.rate(spread.median, None)) if spread else ""


def _time(spread: Spread | None, half_width: float | None) -> str:
    if spread is None:
        return ""
    if half_width:
        return str(figures.rate(spread.median, half_width * spread.mean))
    return figures.seconds(spread.median)


def _basis(speed: Speed) -> str:
    parts = [f"plan {speed.plan}"]
    counted = speed.generation_tps
    if counted:
        parts.append(f"n {counted.n}")
        if counted.basis:
            parts.append(f"tokens by {counted.basis.replace('_', ' ')}")
    return ", ".join(parts)


def _tapes(result: RunResult, marks: Signs, columns: int) -> Iterator[Text]:
    for suite in result.suites:
        trials = [
            trial
            for trial in result.trials
            if trial.suite == suite.suite and not trial.is_warmup and trial.outcome is not None
        ]
        if suite.dimension == "quality":
            cells = [cell(trial.outcome, marks) for trial in trials]
            passed = sum(trial.outcome == "pass" for trial in trials)
            yield from tape_lines(suite.suite, cells, f"{passed} of {len(trials)}", columns)


def _scores(result: RunResult, marks: Signs, columns: int) -> Iterator[Text]:
    if columns >= NARROW:
        yield axis(LABEL + 4)
    for name in AGGREGATES:
        value = getattr(result.aggregates, f"{name}_score")
        interval = getattr(result.aggregates, f"{name}_score_interval")
        yield _score_line(name, value, interval, _absence(name, result), marks, columns)
    for suite in result.suites:
        if suite.dimension == "quality":
            yield _score_line(
                suite.suite, suite.score, suite.score_interval, figures.NOT_RUN, marks, columns
            )


def _score_line(
    name: str,
    value: float | None,
    interval: Sequence[float] | None,
    absence: str,
    marks: Signs,
    columns: int,
) -> Text:
    line = Text(f"{clean(name):<{LABEL}}")
    if value is None:
        return line.append(absence, style="basis")
    figure = figures.score(value, interval)
    line.append(f"{figure.value:>3} ", style="figure")
    if columns >= NARROW:
        line.append_text(score_bar(value, interval, marks)).append("  ")
    return line.append(figure.interval or "", style="basis")


def _absence(name: str, result: RunResult) -> str:
    """What stands in the place of an aggregate that cannot be told; never a 0."""
    if name == "overall":
        reason = not_ranked(result)
        return f"not ranked: {reason}" if reason else "not scored"
    if name == "speed" and result.speed:
        return f"not scored: plan {result.speed.plan}"
    return figures.NOT_RUN if name == "speed" else "not scored"


def _failures(result: RunResult, marks: Signs, columns: int) -> Iterator[Text]:
    failed = [
        trial
        for trial in result.trials
        if not trial.is_warmup and trial.outcome not in (None, "pass", "not_applicable")
    ]
    for trial in failed[:FAILURES_SHOWN]:
        line = Text(f"{sign(trial.outcome, marks)} ", style=str(trial.outcome))
        line.append(f"{outcome_word(trial.outcome):<8} ", style=str(trial.outcome))
        line.append(clean(trial.task_id), style="figure")
        if result.settings.trials > 1:
            line.append(f" trial {trial.trial}")
        line.append(f"  {clean(trial.reason or '')}", style="basis")
        yield cut(line, columns)
        if trial.message:
            yield cut(Text(f"{'':11}{clean(trial.message)}"), columns)
    rest = Counter(trial.reason or "no reason" for trial in failed[FAILURES_SHOWN:])
    if rest:
        reasons = ", ".join(f"{clean(reason)} {n}" for reason, n in rest.most_common())
        yield cut(Text(f"and {rest.total()} more: {reasons}", style="basis"), columns)


def _where(file: Path | None) -> Iterator[Text]:
    if file:
        yield Text(f"{'saved':<{LABEL}}{clean(str(file))}")
