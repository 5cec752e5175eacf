"""Findings about code that this site has judged, or could not judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench_loop.engine.rescore import VERDICT_FIELDS
from submissions.checks import Finding
from submissions.checks.finding import needs_review
from submissions.code_judging import Judged, code_trials
from submissions.models import Grade, Submission

CODES = frozenset({"code_waiting", "code_judged", "code_mismatch", "code_not_judged"})
"""Of the findings about code, which are told anew each time it is judged."""

MOST_MISMATCHES_TOLD = 50


def of_judged(judged: Judged, sandbox: str) -> Iterator[Finding]:
    """One for each verdict that came out otherwise, then one for each suite."""
    mismatches = judged.mismatches
    claimed_in = judged.filed.sandbox.kind if judged.filed.sandbox else None
    for place, trial, verdict in mismatches[:MOST_MISMATCHES_TOLD]:
        name = next(one for one in VERDICT_FIELDS if getattr(trial, one) != getattr(verdict, one))
        yield needs_review(
            "code_mismatch",
            f"trials[{place}].{name}",
            f"This site judged the stored output of {trial.task_id} otherwise than the file says.",
            claimed=_told(trial.outcome, trial.reason),
            judged=_told(verdict.outcome, verdict.reason),
            claimed_score=trial.score,
            judged_score=verdict.score,
            claimed_in=claimed_in,
            judged_in=sandbox,
        )
    suites = [suite.suite for suite in judged.filed.suites]
    code = [judged.filed.trials[place] for place in code_trials(judged.filed)]
    for index, suite in enumerate(suites):
        total = sum(trial.suite == suite for trial in code)
        done = sum(judged.filed.trials[place].suite == suite for place in judged.picked)
        wrong = sum(trial.suite == suite for _, trial, _ in mismatches)
        if total:
            yield Finding(
                "needs_review" if wrong else "note",
                "code_judged",
                f"suites[{index}]",
                f"Of {total} verdicts of {suite} that need code to be run, this site judged {done} "
                f"in its {sandbox} sandbox; {wrong} came out otherwise than the file says.",
                {"verdicts": total, "judged": done, "mismatches": wrong},
            )


def of_not_judged(grade: Grade, reason: str) -> Finding:
    """The code was not judged, and why."""
    return needs_review(
        "code_not_judged",
        "suites",
        f"{grade.code_trials} verdicts need code to be run and are as reported: {reason}",
        verdicts=grade.code_trials,
    )


def tell(submission: Submission, found: Sequence[Finding]) -> None:
    """Put these findings about code in the place of the ones before, the worst first."""
    kept = [one for one in submission.findings if one["code"] not in CODES]
    new = [one.as_json() for one in found]
    worst = [one for one in new if one["severity"] == "needs_review"]
    submission.findings = worst + kept + [one for one in new if one not in worst]
    submission.save(update_fields=["findings"])


def _told(outcome: str | None, reason: str | None) -> str:
    return f"{outcome} ({reason})" if reason else str(outcome)
