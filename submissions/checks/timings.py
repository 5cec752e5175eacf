"""Timings: those of a trial are its own, by its tokens and by the clock of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench_loop.result.records import Trial
from bench_loop.scoring.rates import Shape
from submissions.checks.finding import Finding, needs_review
from submissions.checks.upload import Upload

CLOCK_SLACK = 1.02
CLOCK_SLACK_S = 0.05
"""Two clocks, of the engine and of the client, of one request."""
LEAST_TOKENS = 16
"""After the first event, and as many arrivals: below that a rate says little."""
LEAST_WINDOW_S = 0.1
"""Shorter ones count as this long, since clocks are coarse."""
MANY_TIMINGS = 3
MANY_RATES = 10
"""Of which a median is told: of the speed suite, or of all trials."""
ODD_RATE = 4.0
"""Times the usual rate of the run: real runs reach twice, with prompts of very different lengths.

Slow trials are left alone: anything may hold up one of them.
"""


def check_engine_clock(upload: Upload) -> Iterator[Finding]:
    """The engine counted the tokens of this very trial, in no more time than it took."""
    for index, trial in enumerate(upload.result.trials):
        where = f"trials[{index}].engine_timings"
        timings, tokens = trial.engine_timings, trial.tokens
        if timings is None:
            continue
        fresh = None if tokens.prompt is None else tokens.prompt - (tokens.cached or 0)
        for name, counted, told in (
            ("generated_tokens", timings.generated_tokens, tokens.completion),
            ("prompt_tokens", timings.prompt_tokens, fresh),
        ):
            # Whether a token at the end or the beginning counts is not the same everywhere.
            if counted is not None and told is not None and abs(counted - told) > 2:
                yield needs_review(
                    "foreign_timings",
                    f"{where}.{name}",
                    "The engine counted other tokens than the trial has.",
                    engine=counted,
                    trial=told,
                )
        spent_s = (timings.prompt_s or 0.0) + (timings.generation_s or 0.0)
        if trial.latency_s and spent_s > trial.latency_s * CLOCK_SLACK + CLOCK_SLACK_S:
            yield needs_review(
                "foreign_timings",
                where,
                "By the engine's clock the trial took longer than by the client's.",
                engine_s=spent_s,
                latency_s=trial.latency_s,
            )


def check_stream_events(upload: Upload) -> Iterator[Finding]:
    """Every event of a stream carries a token or more."""
    for index, trial in enumerate(upload.result.trials):
        events, tokens = trial.stream and trial.stream.events, trial.tokens.completion
        is_counted = trial.tokens.basis != "estimated"
        if events and tokens is not None and is_counted and events > tokens + 2:
            yield needs_review(
                "foreign_timings",
                f"trials[{index}].stream.events",
                "More events came than the trial has tokens.",
                events=events,
                tokens=tokens,
            )


def check_usual_rate(upload: Upload) -> Iterator[Finding]:
    """No trial is far quicker than the others, as one with another's shorter times would be.

    Not where drafts of tokens are guessed ahead, which some texts take and others do not.
    """
    if upload.result.subject.speculative not in (None, "none"):
        return
    rates = {
        index: rate
        for index, trial in enumerate(upload.result.trials)
        if (rate := client_rate(trial)) is not None
    }
    timed = [rate for index, rate in rates.items() if _is_one_stream(upload.result.trials[index])]
    if len(timed) >= MANY_TIMINGS:  # They are the steadiest: texts of one length, one by one.
        usual = median(timed)
    elif len(rates) >= MANY_RATES:
        usual = median(rates.values())
    else:
        return
    for index, rate in rates.items():
        if rate > usual * ODD_RATE:
            yield needs_review(
                "foreign_timings",
                f"trials[{index}].t_last_s",
                "Its tokens came far quicker than those of the other trials.",
                tokens_per_second=rate,
                usual=usual,
            )


def _is_one_stream(trial: Trial) -> bool:
    return trial.suite == "speed" and Shape.parse(trial.task_id) is not None


def client_rate(trial: Trial) -> float | None:
    """Tokens a second after the first event, by the client; None: too few, or of no stream."""
    firsts = (trial.t_first_thinking_s, trial.t_first_answer_s)
    marks = [mark for mark in firsts if mark is not None]
    if not marks or trial.t_last_s is None or trial.tokens.completion is None:
        return None
    early, arrivals = 1, LEAST_TOKENS
    if trial.stream is not None:
        early, arrivals = trial.stream.first_event_tokens, trial.stream.distinct_arrivals
    tokens = trial.tokens.completion - early
    if tokens < LEAST_TOKENS or arrivals < LEAST_TOKENS:
        return None
    return tokens / max(trial.t_last_s - min(marks), LEAST_WINDOW_S)
