"""A run in the form of `.eval_results/*.yaml`, in which the Hugging Face Hub keeps evaluations.

Fields and their rules: https://huggingface.co/docs/hub/eval-results, read in November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC

import yaml

from bench_loop.errors import ResultError, UsageError
from bench_loop.report import figures
from bench_loop.report.printable import one_line
from bench_loop.report.stack import device, harness_label, quality_suites
from bench_loop.result.records import RunResult, SuiteResult

_DATASET = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_HEAD = (
    "# Save as .eval_results/bench-loop.yaml in the repository of the very weights that were "
    "measured.\n"
)


def eval_results(result: RunResult, dataset: str, source: str | None = None) -> str:
    """An entry for each quality suite with a score: the suite is the task, its score the value.

    `dataset` is the benchmark's data set on the Hub, whose `eval.yaml` names the suites as tasks;
    `source` the address at which the run can be seen. The Hub has no field for an interval, so it
    stands in the notes. Raises UsageError for a wrong `dataset`, ResultError without any score.
    """
    if not _DATASET.fullmatch(dataset):
        raise UsageError(
            f"{dataset!r} is no data set on the Hub.", remedy="Write it as OWNER/NAME."
        )
    suites = [suite for suite in quality_suites(result) if suite.score is not None]
    if result.status != "complete":
        raise ResultError(result.run_id, "status", f"the run is {result.status}")
    if not suites:
        raise ResultError(result.run_id, "suites", "no suite has a score")
    entries = [dict(_entry(result, suite, dataset, source)) for suite in suites]
    return _HEAD + yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=1000)


def _entry(
    result: RunResult, suite: SuiteResult, dataset: str, source: str | None
) -> Iterator[tuple[str, object]]:
    yield "dataset", {"id": dataset, "task_id": one_line(suite.suite)}
    yield "value", round(suite.score or 0.0, 2)
    yield "date", result.finished_at.astimezone(UTC).strftime("%Y-%m-%d")
    if source:
        yield "source", {"url": source, "name": "BenchLoop run"}
    yield "evaluation_framework", "bench-loop"
    yield "notes", _notes(result, suite)


def _notes(result: RunResult, suite: SuiteResult) -> str:
    figure = figures.score(suite.score or 0.0, suite.score_interval)
    parts = (
        f"95 % interval {figure.interval}" if figure.interval else None,
        figures.counted(suite.task_count, "task") if suite.task_count else None,
        one_line(result.subject.quantization) if result.subject.quantization else None,
        f"harness {harness_label(result)}",
        one_line(result.subject.provider_version or result.subject.provider),
        device(result.machine),
        f"suite version {one_line(suite.version)}",
        f"scoring {one_line(result.scoring_version)}",
        f"run {result.run_id}",
    )
    return "; ".join(filter(None, parts))
