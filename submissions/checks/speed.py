"""Speed: every timing of the plan is there, and tokens and times fit together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from bench_loop.engine.physics import implausible_speeds
from bench_loop.engine.profiles import PROFILES
from bench_loop.engine.speed_plans import PLANS, WARMUP_ROUNDS
from bench_loop.result.records import Trial
from bench_loop.scoring.constants import FINDINGS
from bench_loop.scoring.load import streams_of
from bench_loop.scoring.rates import Shape
from bench_loop.scoring.suites import is_warmup
from submissions.checks.finding import Finding, Severity, needs_review, refused
from submissions.checks.upload import Upload

REVIEW_TPS = 2_500.0
IMPOSSIBLE_TPS = 100_000.0
"""Tokens a second of one stream: a clock or a count must be wrong."""

LONGEST_TOKEN = 128
"""Characters of the longest tokens in use (runs of spaces)."""

SPEED_DOUBTS = frozenset({"broken_stream", "engine_client_gap"})


def check_speed_plan(upload: Upload) -> Iterator[Finding]:
    """The speed suite holds every timing of its plan: slow ones cannot be left out."""
    result = upload.result
    has_suite = any(suite.dimension == "speed" for suite in result.suites)
    if has_suite != (result.speed is not None):
        yield refused("speed_mismatch", "speed", "Speed and the speed suite belong together.")
    if result.speed is None or result.speed.plan is None:
        return
    plan = result.speed.plan
    rules = PROFILES.get(result.profile)
    if rules is not None and plan not in rules.speed_plans:
        yield refused(
            "speed_mismatch",
            "speed.plan",
            f"The profile {rules.name} has the speed plans {', '.join(rules.speed_plans)}.",
        )
    timed = Counter(
        trial.task_id for trial in result.trials if trial.suite == "speed" and not is_warmup(trial)
    )
    rounds = PLANS[plan][WARMUP_ROUNDS[plan] :]
    for shape, wanted in Counter(shape for one in rounds for shape in one).items():
        if timed[shape.task_id] < wanted:
            yield refused(
                "missing_trial",
                "trials",
                f"The speed plan {plan} times {shape.task_id} {wanted} times.",
                found=timed[shape.task_id],
                expected=wanted,
            )


def check_speed_groups(upload: Upload) -> Iterator[Finding]:
    """Of streams at once, and under a sustained load, no trial was left out."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for trial in upload.result.trials:
        if trial.suite == "speed" and Shape.parse(trial.task_id) is None:
            numbers[trial.task_id].append(trial.trial)
    for task_id, found in numbers.items():
        wanted = streams_of(task_id) or len(found)
        if sorted(found) != list(range(1, wanted + 1)):
            yield refused(
                "missing_trial",
                "trials",
                f"The trials of {task_id} are not numbered from 1 to {wanted}.",
                found=len(found),
                expected=wanted,
            )


def check_rates(upload: Upload) -> Iterator[Finding]:
    """Token counts, output lengths and times of a trial fit together."""
    for index, trial in enumerate(upload.result.trials):
        where = f"trials[{index}]"
        rate = fastest_rate(trial)
        if rate is not None and rate > IMPOSSIBLE_TPS:
            yield refused(
                "impossible_speed",
                f"{where}.tokens.completion",
                "No stream is this fast: the tokens and the times do not belong together.",
                tokens_per_second=rate,
            )
        elif rate is not None and rate > REVIEW_TPS:
            yield needs_review(
                "very_fast",
                f"{where}.tokens.completion",
                "The stream is unusually fast.",
                tokens_per_second=rate,
            )
        length = len(trial.output or "") + len(trial.thinking or "")
        tokens = trial.tokens.completion
        if tokens is not None and length > (tokens + 1) * LONGEST_TOKEN:
            yield needs_review(
                "too_few_tokens",
                f"{where}.tokens.completion",
                "The output is longer than this many tokens can be.",
                tokens=tokens,
                characters=length,
            )


def check_plausibility(upload: Upload) -> Iterator[Finding]:
    """No request was faster than the memory and the compute of the named hardware allow."""
    for one in implausible_speeds(upload.result):
        yield needs_review(
            "implausible_speed",
            f"trials[{one.index}]",
            f"Its {one.kind} speed is above what this hardware and this model's size allow.",
            tokens_per_second=one.tps,
            ceiling=one.ceiling_tps,
        )


def fastest_rate(trial: Trial) -> float | None:
    """Tokens a second of the trial's stream, by the faster of both clocks; None: cannot be told."""
    rates = []
    first = min(
        (mark for mark in (trial.t_first_thinking_s, trial.t_first_answer_s) if mark is not None),
        default=None,
    )
    if trial.tokens.completion and first is not None and trial.t_last_s is not None:
        early = trial.stream.first_event_tokens if trial.stream else 1
        window_s = trial.t_last_s - first
        if trial.tokens.completion > early and window_s > 0:
            rates.append((trial.tokens.completion - early) / window_s)
    engine = trial.engine_timings
    if engine and engine.generated_tokens and engine.generated_tokens > 1 and engine.generation_s:
        rates.append(engine.generated_tokens / engine.generation_s)
    return max(rates, default=None)


def check_speed_findings(upload: Upload) -> Iterator[Finding]:
    """What scoring itself says of the speed; the claimed codes are compared with it elsewhere.

    A trial that was dropped, or clocks that disagree, may hide something; the rest is only noted.
    """
    for code in upload.result.speed.findings if upload.result.speed else ():
        severity: Severity = "needs_review" if code in SPEED_DOUBTS else "note"
        sentence = FINDINGS.get(code, "A speed finding of a kind that is not known here.")
        yield Finding(severity, "speed", "speed.findings", sentence, {})
