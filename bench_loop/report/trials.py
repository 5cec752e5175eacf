"""Judged trials as text: tapes, the suites table, and every trial with its raw numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.verifier import Outcome
from bench_loop.report import figures, plots
from bench_loop.report.figures import UNKNOWN
from bench_loop.report.printable import one_line, printable
from bench_loop.report.records import (
    OUTCOME_WORDS,
    OUTCOMES,
    OutcomeCount,
    Passage,
    Reading,
    SuiteRow,
    SuiteTrials,
    TrialView,
)
from bench_loop.report.stack import score_figure
from bench_loop.result.records import HarnessTrial, SuiteResult, Trial
from bench_loop.scoring.constants import OUTCOMES as OUTCOME_RULES
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.conduct import unnecessary


def with_outcome(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that came to an outcome, warm-ups left out; of the speed suite only the failed."""
    return [trial for trial in trials if trial.outcome and not is_warmup(trial)]


def quality_trials(trials: Iterable[Trial]) -> list[Trial]:
    """The trials of quality suites that came to an outcome: those that verdicts are counted in."""
    return [trial for trial in with_outcome(trials) if trial.suite != "speed"]


def of_suite(suite: str, trials: Iterable[Trial]) -> list[Trial]:
    """The trials of `suite`, which is its name in the result."""
    return [trial for trial in trials if trial.suite == suite]


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
    own = [trial.outcome for trial in with_outcome(of_suite(suite.suite, trials))]
    counts = Counter(own)
    each = len(own) // suite.task_count if suite.task_count else 0
    return SuiteRow(
        suite=one_line(suite.suite),
        version=one_line(suite.version),
        tasks=UNKNOWN if suite.task_count is None else figures.count(suite.task_count),
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


def passed_of(outcomes: Sequence[Outcome | None]) -> str:
    """`3 of 6`: passes of what is scored; what says nothing of the model is in neither number."""
    scored = [outcome for outcome in outcomes if outcome and OUTCOME_RULES[outcome].is_scored]
    return f"{scored.count('pass')} of {len(scored)}"


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
            summary=passed_of([view.outcome for view in views])
            + " passed"
            + _calls_of(suite, judged),
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
        ("tool calls", calls_text(trial.tool_calls) if trial.tool_calls else None),
        ("retries", str(trial.retries) if trial.retries else None),
        *_harness_readings(trial.harness),
        ("credit", None if trial.score is None else figures.number(trial.score, 2)),
    )
    return tuple(Reading(name, value) for name, value in found if value is not None)


def _harness_readings(harness: HarnessTrial | None) -> tuple[tuple[str, str | None], ...]:
    """Where the time of a harness's program went, and what it says of itself."""
    if harness is None:
        return ()
    return (
        ("in the model", _known_seconds(harness.model_s)),
        ("in tools", _known_seconds(harness.tools_s)),
        ("in the harness", _known_seconds(harness.harness_s)),
        ("waited for", harness.waited_for),
        ("the harness says", one_line(harness.failure) if harness.failure else None),
    )


def calls_text(calls: Sequence[CallRecord]) -> str:
    """`12, 3 unnecessary`: how many there were, and how many of them brought nothing, if known."""
    idle = unnecessary(calls)
    told = "" if idle is None else f", {figures.count(idle)} unnecessary"
    return figures.count(len(calls)) + told


def _calls_of(suite: str, judged: Sequence[Trial]) -> str:
    """`; tool calls: 31, 4 unnecessary` of all trials of `suite`; none: nothing."""
    own = (trial.tool_calls for trial in judged if one_line(trial.suite) == suite)
    calls = [call for calls in own for call in calls]
    return f"; tool calls: {calls_text(calls)}" if calls else ""


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


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{figures.seconds(value)} s"


def _known_seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f} s"


def _count(value: int | None) -> str | None:
    return None if value is None else figures.count(value)
