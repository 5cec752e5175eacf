"""lm-evaluation-harness, `results_*.json`: the share of right items by task, with its interval.

Metrics stand under `metric,filter` (`acc,none`) with their error under `metric_stderr,filter`;
before version 0.4 under `metric` and `metric_stderr`. Counts of items are in `n-samples`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from bench_loop.contracts.record import Count, Seconds
from bench_loop.errors import ResultError
from bench_loop.importers.building import Found, Wishes, one_line, subject_of
from bench_loop.importers.document import Document, Place, Row, open_document
from bench_loop.names.parse import parse_model
from bench_loop.result.records import Interval, Subject, SuiteResult
from bench_loop.scoring.intervals import Z, bounded, wilson

TOOL = "lm-evaluation-harness"
REMEDY = "Give a results_*.json that lm_eval wrote with --output_path, whole and unchanged."
NO_METRICS = frozenset({"alias", "name", "sample_len", "sample_count"})
SHARES = frozenset(
    {"acc", "acc_norm", "acc_bytes", "exact_match", "em", "f1", "pass@1", "pass_at_1"}
    | {"prompt_level_strict_acc", "prompt_level_loose_acc"}
    | {"inst_level_strict_acc", "inst_level_loose_acc"}
)
"""Metrics from 0 (nothing right) to 1 (all right). Others are no score and only kept as stated."""

MOST_SCORES = 100
"""Suites of a result file."""
STDERR_TOLERANCE = 0.05
MEAN_TOLERANCE = 1e-6
_NAME = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|path|engine)=([^,]+)")

Name = Annotated[str, Field(max_length=1000)]
Share = Annotated[float, Field(ge=0, le=1)]


class Config(Row):
    model: Name | None = None
    model_args: str | dict[str, Any] | None = None
    model_num_parameters: int | None = None
    model_dtype: Name | None = None
    batch_size: int | str | None = None
    limit: float | None = None
    gen_kwargs: str | dict[str, Any] | None = None


class SampleCount(Row):
    original: Count | None = None
    effective: Count


class Results(Row):
    """The parts of a results file that are read."""

    results: dict[str, dict[str, Any]]
    versions: dict[str, Any] = {}
    n_shot: Annotated[dict[str, Any], Field(alias="n-shot")] = {}
    n_samples: Annotated[dict[str, SampleCount], Field(alias="n-samples")] = {}
    config: Config = Config()
    date: Annotated[float, Field(ge=0, le=1e11)] | None = None
    lm_eval_version: Name | None = None
    git_hash: Name | None = None
    transformers_version: Name | None = None
    model_name: Name | None = None
    model_source: Name | None = None
    total_evaluation_time_seconds: float | str | None = None
    chat_template_sha: Name | None = None
    system_instruction_sha: Name | None = None
    fewshot_as_multiturn: bool | None = None


class _Metric(Row):
    """One figure of one task."""

    value: Share
    stderr: Annotated[float, Field(ge=0, le=1)] | None = None


@dataclass(frozen=True, slots=True)
class _Score:
    task: str
    metric: str
    filter: str
    value: float
    stderr: float | None
    items: int | None

    @property
    def key(self) -> str:
        return self.metric if self.filter in ("", "none") else f"{self.metric},{self.filter}"

    @property
    def passed(self) -> int | None:
        """Right items, where the share is one of whole items; a mean of partial credit is none."""
        if self.items is None:
            return None
        right = round(self.value * self.items)
        return right if abs(self.value * self.items - right) < 1e-3 else None


def is_mine(document: Document) -> bool:
    """Whether the file is one object with results and versions by task."""
    value = document.places[0].value if len(document.places) == 1 else None
    return (
        isinstance(value, dict)
        and "results" in value
        and {"versions", "config"} & value.keys() != set()
    )


def read(document: Document, wishes: Wishes) -> Iterator[Found]:
    """The one run of the file."""
    if len(document.places) != 1:
        raise document.fault(Place("", None), "", "holds more than one result", REMEDY)
    place = document.places[0]
    whole = document.row(place, Results, REMEDY)
    left_out: dict[str, str] = {}
    scores = list(_scores(document, place, whole, left_out))
    if not scores:
        raise document.fault(place, "results", "holds no share of right items", REMEDY)
    if len(scores) > MOST_SCORES:
        raise document.fault(
            place,
            "results",
            f"holds {len(scores)} scores; a result holds {MOST_SCORES}",
            "Run lm_eval on fewer tasks at a time, and import each of its files.",
        )
    version = whole.lm_eval_version or whole.git_hash
    began = None if whole.date is None else datetime.fromtimestamp(whole.date, UTC)
    runtime_s = _runtime_s(document, place, whole)
    findings = [sentence for score in scores for sentence in _doubts(score)]
    findings += _sample_findings(scores, wishes.samples)
    yield Found(
        subject=_subject(document, place, whole, version, wishes),
        tool=TOOL,
        tool_version=one_line(version) if version else None,
        suites=tuple(_suites(scores, whole)),
        measured_at=began,
        finished_at=None if began is None else began + timedelta(seconds=runtime_s or 0.0),
        total_runtime_s=runtime_s,
        stated=_stated(whole) | left_out,
        findings=findings,
    )


def _scores(
    document: Document, place: Place, whole: Results, left_out: dict[str, str]
) -> Iterator[_Score]:
    """Every metric that is a share, task by task; the others by name into `left_out`."""
    for task, metrics in whole.results.items():
        for key, value in metrics.items():
            metric, _, filter_name = key.partition(",")
            is_error = metric.endswith("_stderr") or value == "N/A"
            if metric.strip() in NO_METRICS or not metric.strip() or is_error:
                continue
            if metric not in SHARES:
                left_out[f"{task} {key}"] = f"{value}"
                continue
            comma = f",{filter_name}" if filter_name else ""
            stderr = metrics.get(f"{metric}_stderr{comma}")
            fields = {"value": value, "stderr": None if stderr == "N/A" else stderr}
            found = _metric(document, place, f"results.{task}.{key}", fields)
            count = whole.n_samples.get(task)
            yield _Score(
                task,
                metric,
                filter_name,
                found.value,
                found.stderr,
                count.effective if count else None,
            )


def _metric(document: Document, place: Place, field: str, fields: Mapping[str, Any]) -> _Metric:
    """Raises ResultError with the metric's own key."""
    try:
        return document.row(Place(place.where, fields), _Metric, REMEDY)
    except ResultError as error:
        part = " (its stderr)" if (error.field or "").endswith("stderr") else ""
        raise document.fault(place, field + part, error.reason, REMEDY) from error


def _suites(scores: list[_Score], whole: Results) -> Iterator[SuiteResult]:
    """A suite for each task; with several metrics one for each, named after it."""
    by_task = {score.task: sum(one.task == score.task for one in scores) for score in scores}
    for score in scores:
        name = score.task if by_task[score.task] == 1 else f"{score.task}/{score.key}"
        shots = whole.n_shot.get(score.task)
        version = whole.versions.get(score.task)
        words = [str(version) if version is not None else "version not stated"]
        words += [f"{shots}-shot"] if isinstance(shots, int) else []
        value = 100 * score.value
        yield SuiteResult(
            suite=one_line(name),
            version=one_line(", ".join(words)),
            pack_hash=None,
            dimension="quality",
            score=value,
            score_interval=_interval(score),
            task_count=score.items,
            pass_count=score.passed,
            partial_count=None,
            fail_count=None,
            truncated_count=None,
            error_count=None,
        )


def _interval(score: _Score) -> Interval | None:
    """Wilson where the right items are known, as for BenchLoop's own suites; else by its error."""
    if score.passed is not None and score.items:
        low, high = wilson(score.passed, score.items)
        return bounded(100 * low), bounded(100 * high)
    if not score.stderr:
        return None
    reach = 100 * Z * score.stderr
    return bounded(100 * score.value - reach), bounded(100 * score.value + reach)


def _doubts(score: _Score) -> Iterator[str]:
    """That a standard error does not follow from the share and the number of items."""
    if score.passed is None or score.stderr is None or not score.items or score.items < 2:
        return
    own = math.sqrt(score.value * (1 - score.value) / (score.items - 1))
    if abs(own - score.stderr) > STDERR_TOLERANCE * max(own, score.stderr, 1e-4):
        yield (
            f"{one_line(score.task)} {score.key}: it claims a standard error of "
            f"{score.stderr:.4g}, and {score.passed} right of {score.items} give {own:.4g}."
        )


def _sample_findings(scores: list[_Score], files: tuple[Path, ...]) -> Iterator[str]:
    """Where the single items of `samples_*.jsonl` give another share than the results."""
    for file in files:
        document = open_document(file)
        task = _task_of(document, scores)
        for score in (score for score in scores if score.task == task):
            own = list(_item_values(document, score))
            if not own:
                yield f"{one_line(task)} {score.key}: its samples do not hold this metric."
                continue
            share = sum(own) / len(own)
            if score.items is not None and len(own) != score.items:
                yield (
                    f"{one_line(task)} {score.key}: it claims {score.items} items, and its "
                    f"samples are {len(own)}."
                )
            elif abs(share - score.value) > MEAN_TOLERANCE:
                yield (
                    f"{one_line(task)} {score.key}: it claims {score.value:.6g}, and its "
                    f"{len(own)} samples give {share:.6g}."
                )


def _task_of(document: Document, scores: list[_Score]) -> str:
    """The task that a file of samples belongs to, by its name as lm_eval gives it."""
    stem = document.path.name
    tasks = sorted({score.task for score in scores}, key=len, reverse=True)
    for task in tasks:
        if stem.startswith((f"samples_{task}_", f"samples_{task}.")):
            return task
    raise ResultError(
        document.name,
        None,
        "belongs to no task of the results by its name",
        remedy="Give a samples_TASK_*.jsonl of the same run under its own name.",
    )


def _item_values(document: Document, score: _Score) -> Iterator[float]:
    remedy = "Give the samples_*.jsonl that lm_eval wrote with --log_samples, unchanged."
    for place in document.places:
        if not isinstance(place.value, dict):
            raise document.fault(place, "", "is no object", remedy)
        if place.value.get("filter", score.filter or "none") != (score.filter or "none"):
            continue
        if score.metric in place.value:
            value = {"value": place.value[score.metric]}
            yield _metric(document, place, score.metric, value).value


def _runtime_s(document: Document, place: Place, whole: Results) -> float | None:
    """The tool's own time, which it writes as a text."""

    class Time(Row):
        total_evaluation_time_seconds: Annotated[Seconds, Field(strict=False)] | None = None

    fields = {"total_evaluation_time_seconds": whole.total_evaluation_time_seconds}
    return document.row(Place(place.where, fields), Time, REMEDY).total_evaluation_time_seconds


def _subject(
    document: Document, place: Place, whole: Results, version: str | None, wishes: Wishes
) -> Subject:
    model = wishes.model or whole.model_name or _model_of(whole.config.model_args)
    if not model:
        raise document.fault(place, "model_name", "no model is named", "Name it with --model.")
    name = parse_model(model)
    parameters = whole.config.model_num_parameters
    known_b = parameters / 1e9 if parameters and parameters > 0 else name.parameters_b
    return subject_of(name, TOOL, version, parameters_b=known_b, provider_version=_engine(whole))


def _engine(whole: Results) -> str | None:
    engine = whole.model_source or whole.config.model
    return one_line(engine) if engine else None


def _model_of(arguments: str | dict[str, Any] | None) -> str | None:
    """The model in `pretrained=...,dtype=...`; other arguments may hold paths and keys."""
    if isinstance(arguments, dict):
        named = [arguments.get(key) for key in ("pretrained", "model", "path", "engine")]
        return next((value for value in named if isinstance(value, str)), None)
    match = _NAME.search(arguments or "")
    return match[1] if match else None


def _stated(whole: Results) -> dict[str, object]:
    config = whole.config
    return {
        name: value
        for name, value in {
            "dtype": config.model_dtype,
            "batch size": config.batch_size,
            "limit": config.limit,
            "generation": config.gen_kwargs,
            "transformers": whole.transformers_version,
            "chat template": whole.chat_template_sha,
            "system instruction": whole.system_instruction_sha,
            "few-shot as turns": whole.fewshot_as_multiturn,
        }.items()
        if value is not None
    }
