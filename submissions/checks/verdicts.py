"""Verdicts: those of the verifiers of this installation on the stored outputs."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.contracts.task import BenchmarkTask
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
        else:
            yield from _verdict_findings(where, trial, task, upload.packs[trial.suite])


def _no_output_findings(where: str, trial: Trial) -> Iterator[Finding]:
    for name in ("score", "answer"):
        if getattr(trial, name):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"A trial that ended as {trial.outcome} without an output has no {name}.",
            )


def _verdict_findings(
    where: str, trial: Trial, task: BenchmarkTask, pack: Pack
) -> Iterator[Finding]:
    output = pack.stored_output(trial)
    verdict = judge_ending(output) if needs_sandbox(task) else judge(output, task)
    if verdict is None:
        yield needs_review(
            "not_judged_again",
            f"{where}.outcome",
            "This verdict needs code to be run, which this site does not do; it is as reported.",
        )
        return
    for name in ("outcome", "score", "reason", "answer"):
        claimed, judged = getattr(trial, name), getattr(verdict, name)
        if not is_same(claimed, judged):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"The verifier gives another {name} for the stored output.",
                **({"claimed": claimed, "computed": judged} if name != "answer" else {}),
            )
