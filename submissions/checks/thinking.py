"""Thinking and answer budgets: the run did what its settings say, no more and no less."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.contracts.chat import Sampling
from bench_loop.engine.plan import RunPlan
from bench_loop.engine.profiles import CONTEXT_WINDOW, CUSTOM, PROFILES
from bench_loop.result.records import RunResult, Trial
from submissions.checks.finding import Finding, needs_review
from submissions.checks.upload import Upload

TOKEN_SLACK = 2
"""Whether a token at the end counts is not the same everywhere."""


def check_thinking(upload: Upload) -> Iterator[Finding]:
    """A run that was told not to think does not, and one that was told to does.

    A model without the switch (`thinking` is null) may do either, inside its answer budget.
    """
    result = upload.result
    is_on = result.subject.thinking is True
    if is_on is (result.settings.thinking_budget is None):
        yield needs_review(
            "other_settings",
            "settings.thinking_budget",
            "A run has tokens for thinking exactly where thinking is on.",
        )
    if result.subject.thinking is None:
        return
    scored = {index: result.trials[index] for index in upload.endings}
    thought = [index for index, trial in scored.items() if has_thought(trial)]
    if not is_on and thought:
        yield needs_review(
            "thinking_mismatch",
            f"trials[{thought[0]}].thinking",
            "Thinking was off, and yet the model thought.",
            trials=len(thought),
        )
    if is_on and scored and not thought:
        yield needs_review(
            "thinking_mismatch",
            "subject.thinking",
            "Thinking was on, and yet the model thought in no trial.",
        )


def has_thought(trial: Trial) -> bool:
    """Whether there is a thought, or a token of one."""
    return bool((trial.thinking or "").strip() or trial.tokens.reasoning)


def check_answer_budget(upload: Upload) -> Iterator[Finding]:
    """No single reply is longer than the budget of its task, and one as long was cut there."""
    if upload.result.subject.harness != "raw":
        return
    plan = _budgets(upload.result)
    for index in upload.endings:
        trial = upload.result.trials[index]
        budget = plan.answer_budget(upload.tasks[trial.suite, trial.task_id])
        spent = trial.tokens.completion
        is_counted = trial.tokens.basis != "estimated"
        if spent is None or trial.turns != 1 or not is_counted or spent < budget:
            continue
        numbers = {"completion": spent, "budget": budget}
        where = f"trials[{index}].tokens.completion"
        if spent > budget + TOKEN_SLACK:
            sentence = "The reply has more tokens than its task allows."
            yield needs_review("over_budget", where, sentence, **numbers)
        elif trial.finish_reason == "stop" and trial.outcome != "truncated":
            sentence = "The reply used up its budget to the last token, and is told as not cut."
            yield needs_review("over_budget", where, sentence, **numbers)


def _budgets(result: RunResult) -> RunPlan:
    """A plan without suites, for its budgets alone."""
    rules = PROFILES.get(result.profile, CUSTOM)
    is_thinking = result.settings.thinking_budget is not None
    return RunPlan(rules, (), 1, Sampling(), CONTEXT_WINDOW, is_thinking)
