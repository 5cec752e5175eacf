"""Sentences about a run, generated from its figures by fixed templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench_loop.engine.physics import implausible_speeds
from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.engine.standard import custom_reason
from bench_loop.machine.forwarders import is_door
from bench_loop.machine.record import UNKNOWN
from bench_loop.report import figures
from bench_loop.report.figures import Figure
from bench_loop.report.printable import one_line
from bench_loop.report.records import Notice, Span
from bench_loop.report.stack import (
    generation_figure,
    quality_suites,
    score_figure,
    spread_figure,
    ttft_figure,
)
from bench_loop.result.records import (
    Aggregates,
    Imported,
    Machine,
    RunHeader,
    RunResult,
    SuiteResult,
)
from bench_loop.scoring import constants
from bench_loop.scoring.plausibility import Implausible
from bench_loop.scoring.suites import is_censored


def run_lede(header: RunHeader) -> tuple[Span, ...]:
    """The run in a sentence or two, generated from its figures."""
    scores = header.aggregates
    suites = [suite for suite in quality_suites(header) if suite.score is not None]
    if not suites and header.speed is None:
        return (Span("Nothing was measured in this run."),)
    spans: list[Span] = []
    overall = score_figure(scores.overall_score, scores.overall_score_interval)
    reason = not_ranked_reason(header)
    if overall and not reason:
        spans += [Span("Overall "), *figure_spans(overall), Span(". ")]
    if suites:
        spans += _passes(suites, header)
    generation = generation_figure(header.speed)
    if generation:
        spans += [Span("It writes "), Span(generation.value, "strong"), Span(" tok/s")]
        ttft = ttft_figure(header.speed)
        spans += [Span(f" after {ttft.value} s to the first token.") if ttft else Span(".")]
    elif header.speed and header.speed.prompt_tps and not suites:
        prompt = spread_figure(header.speed.prompt_tps)
        spans += [Span("It reads "), Span(prompt.value, "strong"), Span(" prompt tok/s.")]
    return tuple(spans)


def _passes(suites: Sequence[SuiteResult], header: RunHeader) -> list[Span]:
    """What the quality suites came to; of a run that stopped early, only what was run counts."""
    if any(suite.score for suite in suites):
        return _best_and_worst(suites, header.aggregates)
    answers = sum(map(_lost_answers, suites))
    if header.status == "complete":
        of_what = f"{answers + sum(suite.error_count or 0 for suite in suites)} trials"
    else:
        of_what = f"the {answers} answers it gave"
    return [Span("It passed "), Span("none", "strong"), Span(f" of {of_what}. ")]


def _lost_answers(suite: SuiteResult) -> int:
    """Answers that did not pass; what ended in an error is no answer of the model."""
    counts = (suite.partial_count, suite.fail_count, suite.truncated_count)
    return sum(count or 0 for count in counts)


def _best_and_worst(suites: Sequence[SuiteResult], scores: Aggregates) -> list[Span]:
    in_order = sorted(suites, key=lambda suite: suite.score or 0.0, reverse=True)
    best, worst = in_order[0], in_order[-1]
    quality = score_figure(scores.quality_score, scores.quality_score_interval)
    if best.score == worst.score and len(suites) > 1 and quality:
        return [Span("Quality "), *figure_spans(quality), Span(" in every suite. ")]
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
    return figure_spans(figure)


def figure_spans(figure: Figure) -> list[Span]:
    spans = [Span(figure.value, "strong")]
    if figure.interval:
        spans += [Span(" "), Span(f"({figure.interval})", "interval")]
    return spans


def notices(header: RunHeader) -> tuple[Notice, ...]:
    """What limits this run, worst first."""
    found: list[Notice] = []
    if header.imported:
        found += _import_notices(header.imported)
    if header.status != "complete":
        reason = header.status_reason or "what was finished is shown."
        found.append(Notice("limit", f"{header.status.capitalize()}: {one_line(reason, 400)}"))
    if header.profile == "smoke":
        found.append(
            Notice("information", "Smoke asks whether everything works. Its scores are not ranked.")
        )
    if custom := one_line(custom_reason(header), 400):
        found.append(
            Notice("limit", f"Custom, not the pinned configuration of its harness. {custom}")
        )
    found += _task_notices(header)
    if header.matrix is not None:
        others = [one_line(name, 40) for name in header.matrix.arms]
        found.append(
            Notice(
                "information",
                f"An arm of a matrix: {', '.join(others)} took turns with the model, block by "
                "block, so that they can be compared.",
            )
        )
    elif header.parts and len(header.parts) > 1:
        found.append(
            Notice(
                "information",
                f"Resumed: made in {len(header.parts)} parts on unchanged settings. Its time "
                "leaves out the pauses; speed after one was measured behind a new calibration.",
            )
        )
    if place := place_of_server(header.machine):
        found.append(Notice("information", place))
    load = header.speed.sustained if header.speed else None
    if load is not None and load.ratio < constants.THROTTLING_RATIO:
        found.append(
            Notice(
                "limit",
                f"Throttling: after {figures.duration(load.duration_s)} of load it wrote at "
                f"{figures.percent(load.ratio)} of its speed at the beginning.",
            )
        )
    censored = [one_line(suite.suite) for suite in quality_suites(header) if is_censored(suite)]
    if censored:
        names = ", ".join(censored)
        found.append(
            Notice("limit", f"Censored: 2 % or more of the answers were cut off in {names}.")
        )
    return tuple(found)


def _task_notices(header: RunHeader) -> Iterator[Notice]:
    """That its tasks are not simply the official ones."""
    own = [one_line(suite.suite) for suite in header.suites if suite.is_private]
    if own:
        names = ", ".join(own)
        yield Notice("limit", f"Private packs, whose results stay on this machine: {names}.")
    seed = header.settings.fresh_seed
    if seed is None:
        return
    suites = quality_suites(header)
    drawn = sum(suite.task_count or 0 for suite in suites)
    left_out = sum(suite.left_out_count or 0 for suite in suites)
    without = f"; {left_out} official tasks have no family and were left out" if left_out else ""
    yield Notice("limit", f"Fresh instances of seed {seed}: {drawn} tasks drawn anew{without}.")


def _import_notices(imported: Imported) -> Iterator[Notice]:
    """That another tool measured, and where its file contradicts itself."""
    tool = " ".join(filter(None, (imported.tool, imported.tool_version)))
    yield Notice(
        "limit",
        f"Not ranked, imported: {one_line(tool)} measured this in its own way, and nothing of it "
        "was measured again.",
    )
    for finding in imported.findings:
        yield Notice("wrong", one_line(finding, 400))


def place_of_server(machine: Machine) -> str | None:
    """Where the server is, if not plainly on the machine that the result names."""
    if machine.is_local and machine.listener == UNKNOWN:
        return "Which program answers at the server's port is not known: it may be a tunnel."
    if machine.is_local and machine.listener and is_door(machine.listener):
        return (
            "The server runs in a container or virtual machine of this computer: how much of the "
            "hardware it may use is not known."
        )
    if machine.is_local is not False:
        return None
    if machine.listener:
        program = one_line(machine.listener)
        return f"{program} hands the requests on: the hardware behind it is not known."
    return "The server is not on this machine: its hardware is not known."


def doubts(result: RunResult) -> tuple[Notice, ...]:
    """Speeds that this machine and this model cannot have: one notice for each kind of speed."""
    worst: dict[str, Implausible] = {}
    for one in implausible_speeds(result):
        if one.kind not in worst or one.tps > worst[one.kind].tps:
            worst[one.kind] = one
    return tuple(
        Notice(
            "limit",
            f"Implausible speed: {figures.significant(one.tps)} {kind} tok/s, where hardware and "
            f"model size allow about {figures.significant(one.ceiling_tps)}.",
        )
        for kind, one in worst.items()
    )


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


def scoring_rules() -> tuple[str, ...]:
    """How the aggregates are made, in a line each, with the constants that the scoring uses."""
    c = constants
    return (
        "quality = mean of the suites; a suite = share of its trials that passed in full",
        f"speed = {c.GENERATION_WEIGHT:.2f} generation + {c.PROMPT_WEIGHT:.2f} prompt + "
        f"{c.TTFT_WEIGHT:.2f} time to the first token, each on a log scale",
        "reliability = share of the scored trials with an answer that could be read",
        f"overall = {c.QUALITY_WEIGHT:.2f} quality + {c.SPEED_WEIGHT:.2f} speed + "
        f"{c.RELIABILITY_WEIGHT:.2f} reliability, the last two in full from "
        f"{c.FULL_CREDIT_QUALITY:g} quality up",
    )
