"""Verdicts: those of the verifiers of this installation on the stored outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import TaskScore
from bench_loop.engine.packs import Pack
from bench_loop.engine.rescore import has_no_output
from bench_loop.result.records import Trial
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import judge, judge_ending, needs_sandbox
from submissions.checks.differing import is_same
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload


def check_verdicts(upload: Upload) -> Iterator[Finding]:
    """Every verdict is what this site's verifiers say about the stored output."""
    waiting = Counter[str]()
    for where, trial in upload.quality_trials():
        task = upload.tasks.get((trial.suite, trial.task_id))
        if task is None or is_warmup(trial):
            continue
        if trial.outcome == "not_applicable" and upload.is_capable_of(task):
            yield refused(
                "verdict_mismatch",
                f"{where}.outcome",
                f"The harness {upload.result.subject.harness} can be given this task.",
            )
        elif has_no_output(trial):
            yield from _no_output_findings(where, trial)
        elif (verdict := _verdict(trial, task, upload.packs[trial.suite])) is None:
            waiting[trial.suite] += 1
        else:
            yield from _verdict_findings(where, trial, verdict)
    for index, suite in enumerate(upload.result.suites):
        if count := waiting.pop(suite.suite, 0):
            yield needs_review(
                "not_judged_again",
                f"suites[{index}]",
                f"{count} verdicts of {suite.suite} need code to be run; they are as reported until"
                " this site has run it.",
                verdicts=count,
            )


def _no_output_findings(where: str, trial: Trial) -> Iterator[Finding]:
    for name in ("score", "answer"):
        if getattr(trial, name):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"A trial that ended as {trial.outcome} without an output has no {name}.",
            )


def _verdict(trial: Trial, task: BenchmarkTask, pack: Pack) -> TaskScore | None:
    """The verdict on the stored output; None where that takes a sandbox: see grading.py."""
    output = pack.stored_output(trial)
    return judge_ending(output) if needs_sandbox(task) else judge(output, task)


def _verdict_findings(where: str, trial: Trial, verdict: TaskScore) -> Iterator[Finding]:
    for name in ("outcome", "score", "reason", "answer"):
        claimed, judged = getattr(trial, name), getattr(verdict, name)
        if not is_same(claimed, judged):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"The verifier gives another {name} for the stored output.",
                **({"claimed": claimed, "computed": judged} if name != "answer" else {}),
            )
