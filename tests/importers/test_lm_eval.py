"""Results of lm-evaluation-harness: tasks as suites, intervals, counts, samples."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench_loop.errors import ResultError
from bench_loop.importers import import_file
from bench_loop.importers.building import Wishes
from bench_loop.result.records import RunResult, SuiteResult
from bench_loop.scoring.intervals import wilson

FILES = Path(__file__).parent / "files"
NEW = FILES / "results_2026-03-02T18-40-11.json"
OLD = FILES / "lm-eval-old.json"
SAMPLES = FILES / "samples_arc_easy_2026-03-02T18-40-11.jsonl"


def imported(file: Path, **wishes: Any) -> RunResult:
    (result,) = import_file(file, Wishes(**wishes))
    return result


def suites(result: RunResult) -> dict[str, SuiteResult]:
    return {suite.suite: suite for suite in result.suites}


def changed(folder: Path, change: dict[str, Any]) -> Path:
    document = json.loads(NEW.read_text())
    for task, metrics in change.items():
        document["results"][task] |= metrics
    file = folder / "results_changed.json"
    file.write_text(json.dumps(document))
    return file


def test_every_metric_that_is_a_share_is_a_suite() -> None:
    found = suites(imported(NEW))
    assert list(found) == [
        "arc_easy/acc",
        "arc_easy/acc_norm",
        "gsm8k/exact_match,strict-match",
        "gsm8k/exact_match,flexible-extract",
        "truthfulqa_mc2",
    ]
    assert found["arc_easy/acc"].score == pytest.approx(78.0)
    assert found["arc_easy/acc"].version == "1.0, 0-shot"


def test_the_interval_is_wilson_where_the_right_items_are_known() -> None:
    arc = suites(imported(NEW))["arc_easy/acc"]
    low, high = wilson(312, 400)
    assert (arc.task_count, arc.pass_count) == (400, 312)
    assert arc.score_interval == pytest.approx((100 * low, 100 * high))


def test_a_mean_of_partial_credit_has_no_count_and_the_interval_of_its_error() -> None:
    truthful = suites(imported(NEW))["truthfulqa_mc2"]
    assert truthful.pass_count is None
    assert truthful.score_interval == pytest.approx(
        (45.12345 - 1.959964 * 1.41, 45.12345 + 1.959964 * 1.41)
    )


def test_what_is_no_share_is_kept_as_stated() -> None:
    result = imported(NEW)
    assert result.imported is not None
    assert result.imported.stated["wikitext word_perplexity,none"] == "14.2"


def test_model_and_versions_are_read_and_arguments_are_not_kept() -> None:
    result = imported(NEW)
    assert result.subject.model_id == "Qwen/Qwen2.5-0.5B-Instruct"
    assert result.subject.harness_version == "0.4.9"
    assert result.total_runtime_s == 1230.5
    assert "secret" not in result.model_dump_json()


def test_an_old_file_has_no_counts() -> None:
    result = imported(OLD)
    found = suites(result)
    assert result.subject.model_id == "EleutherAI/pythia-160m"
    assert found["hellaswag/acc_norm"].task_count is None
    assert found["hellaswag/acc_norm"].score == pytest.approx(52.0)
    assert result.subject.harness_version is None


def test_samples_that_agree_leave_no_finding() -> None:
    result = imported(NEW, samples=(SAMPLES,))
    assert result.imported is not None
    assert result.imported.findings == ()


def test_samples_that_disagree_are_a_finding(tmp_path: Path) -> None:
    file = changed(tmp_path, {"arc_easy": {"acc,none": 0.9, "acc_stderr,none": "N/A"}})
    result = imported(file, samples=(SAMPLES,))
    assert result.imported is not None
    (finding,) = result.imported.findings
    assert finding == "arc_easy acc: it claims 0.9, and its 400 samples give 0.78."


def test_an_error_that_does_not_follow_is_a_finding(tmp_path: Path) -> None:
    result = imported(changed(tmp_path, {"arc_easy": {"acc_stderr,none": 0.001}}))
    assert result.imported is not None
    assert "standard error of 0.001" in result.imported.findings[0]


def test_samples_of_another_task_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "samples_mmlu_2026.jsonl"
    shutil.copy(SAMPLES, other)
    with pytest.raises(ResultError, match="belongs to no task"):
        imported(NEW, samples=(other,))


@pytest.mark.parametrize("value", [1.7, -0.1, float("nan"), 1e308, "0.5", True, None])
def test_a_share_that_is_none_is_named(tmp_path: Path, value: object) -> None:
    with pytest.raises(ResultError) as refused:
        imported(changed(tmp_path, {"arc_easy": {"acc,none": value}}))
    assert refused.value.field == "results.arc_easy.acc,none"
    assert refused.value.remedy is not None


def test_a_file_without_a_model_needs_its_name(tmp_path: Path) -> None:
    document = json.loads(OLD.read_text())
    document["config"]["model_args"] = "dtype=float16"
    file = tmp_path / "results_none.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ResultError) as refused:
        imported(file)
    assert refused.value.remedy == "Name it with --model."
    assert imported(file, model="pythia-160m").subject.model_id == "pythia-160m"


def test_more_tasks_than_a_result_holds_are_refused(tmp_path: Path) -> None:
    document = json.loads(OLD.read_text())
    document["results"] = {f"task{n}": {"acc": 0.5} for n in range(101)}
    file = tmp_path / "results_many.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ResultError, match="101 scores"):
        imported(file)
