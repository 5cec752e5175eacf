"""Verdicts: those of this installation on what is stored of each trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench_loop.contracts.verifier import TaskScore
from bench_loop.result.records import Trial
from bench_loop.scoring.differences import is_same
from submissions.checks.endings import JUDGED, Ending
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload


def check_verdicts(upload: Upload) -> Iterator[Finding]:
    """Every verdict is what this site's verifiers say about the stored output."""
    waiting = Counter[str]()
    for index, ending in upload.endings.items():
        trial = upload.result.trials[index]
        if trial.outcome == "infrastructure_error":
            continue  # `check_status` refuses it.
        if ending.leaves_open(trial.outcome, trial.reason):
            waiting[trial.suite] += 1
        else:
            yield from _verdict_findings(f"trials[{index}]", trial, ending)
    for index, suite in enumerate(upload.result.suites):
        if count := waiting.pop(suite.suite, 0):
            yield needs_review(
                "code_waiting",
                f"suites[{index}]",
                f"{count} verdicts of {suite.suite} need code to be run, which was not done yet; "
                "they are as reported.",
                verdicts=count,
            )


def _verdict_findings(where: str, trial: Trial, ending: Ending) -> Iterator[Finding]:
    verdict = ending.verdict(trial.outcome, trial.reason)
    if verdict is None:
        yield refused(
            "verdict_mismatch",
            f"{where}.outcome",
            "There is an output, and what is stored of the trial shows no failure of the engine "
            "or the harness.",
        )
        return
    faults = list(_differences(where, trial, verdict))
    yield from faults
    if not faults and not ending.is_certain:
        yield needs_review(
            "not_judged_again",
            f"{where}.outcome",
            "What is stored of this trial does not tell how it ended; it is as reported.",
        )


def _differences(where: str, trial: Trial, verdict: TaskScore) -> Iterator[Finding]:
    for name in JUDGED:
        claimed, judged = getattr(trial, name), getattr(verdict, name)
        if not is_same(claimed, judged):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"The verifier gives another {name} for what is stored of this trial.",
                **({"claimed": claimed, "computed": judged} if name != "answer" else {}),
            )


def check_speed_outcomes(upload: Upload) -> Iterator[Finding]:
    """A timing has an outcome exactly where no reply came: a slow one is not called a failure."""
    for index, (trial, judged) in enumerate(
        zip(upload.result.trials, upload.judged_trials, strict=True)
    ):
        if trial.suite != "speed" or trial.outcome == "infrastructure_error":
            continue
        if trial.outcome != judged.outcome:
            yield refused(
                "verdict_mismatch",
                f"trials[{index}].outcome",
                "Nothing is judged in a speed trial: it has an outcome where no reply came, only.",
                claimed=trial.outcome,
            )
        elif trial.score is not None or trial.answer is not None:
            yield refused(
                "verdict_mismatch",
                f"trials[{index}].score",
                "A speed trial has neither score nor answer.",
            )
