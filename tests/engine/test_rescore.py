"""A stored run is judged again: what changed shows, and the run keeps what it was made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.rescore import rescore
from bench_loop.report.rescoring import rescore_json
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult, Trial
from bench_loop.result.store import from_bytes, to_bytes
from tests.site.make_result import make_result

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
TASK_ID = "reasonmath.label-sheets"


def math_run(**changes: Any) -> RunResult:
    """A run of reasonmath in which every answer is right, and judged so."""
    return make_result(suites=["reasonmath"]).model_copy(update=changes)


def with_trial(result: RunResult, **changes: Any) -> RunResult:
    """`result` with one trial, of TASK_ID, changed."""

    def change(trial: Trial) -> Trial:
        return trial.model_copy(update=changes) if trial.task_id == TASK_ID else trial

    changed = result.model_copy(update={"trials": tuple(map(change, result.trials))})
    return changed.model_copy(update={"fingerprint": fingerprint(changed)})


def with_stale_pack(result: RunResult) -> RunResult:
    suites = tuple(
        suite.model_copy(update={"pack_hash": "sha256:" + "0" * 64}) for suite in result.suites
    )
    return result.model_copy(update={"suites": suites})


MISJUDGED = {
    "outcome": "fail",
    "score": 0.0,
    "reason": "no_answer",
    "message": "None.",
    "answer": None,
}


def test_a_run_that_is_judged_as_before_stays_the_very_same() -> None:
    result = math_run()
    found = rescore(result)
    assert not found.is_changed
    assert found.after is result


@pytest.mark.parametrize("profile", ["smoke", "quick", "core"])
def test_a_whole_profile_with_speed_is_scored_as_it_was(profile: str) -> None:
    assert not rescore(make_result(profile=profile)).is_changed


def test_a_verdict_that_was_wrong_is_put_right() -> None:
    found = rescore(with_trial(math_run(), **MISJUDGED), NOW)
    (change,) = found.trials
    assert (change.before.task_id, change.before.reason) == (TASK_ID, "no_answer")
    assert (change.after.outcome, change.after.reason) == ("pass", None)
    trial = next(trial for trial in found.after.trials if trial.task_id == TASK_ID)
    assert (trial.outcome, trial.score, trial.answer, trial.message) == ("pass", 1.0, "96", None)


def test_scores_follow_from_the_new_verdicts() -> None:
    result = make_result(suites=["reasonmath"], write=lambda task: "I do not know.")
    lied = with_trial(result, outcome="pass", score=1.0, reason=None, message=None)
    lied = lied.model_copy(update={"suites": math_run().suites})
    after = rescore(lied, NOW).after
    assert (after.suites[0].pass_count, after.suites[0].score) == (0, 0.0)


def test_what_was_judged_again_says_so_and_names_the_first_fingerprint() -> None:
    result = with_trial(math_run(), **MISJUDGED)
    once = rescore(result, NOW).after
    assert once.rescored is not None
    assert (once.rescored.first_fingerprint, once.rescored.at) == (result.fingerprint, NOW)
    assert once.fingerprint == fingerprint(once) != result.fingerprint
    twice = rescore(with_trial(once, **MISJUDGED), NOW).after
    assert twice.rescored is not None
    assert twice.rescored.first_fingerprint == result.fingerprint


def test_ids_times_outputs_and_timings_are_kept() -> None:
    result = with_trial(math_run(signature={"key": "x"}), **MISJUDGED)
    after = rescore(result, NOW).after
    kept = ("run_id", "benchmark_version", "started_at", "subject", "machine", "settings")
    assert [getattr(after, name) for name in kept] == [getattr(result, name) for name in kept]
    for old, new in zip(result.trials, after.trials, strict=True):
        assert (old.output, old.latency_s, old.tokens) == (new.output, new.latency_s, new.tokens)
    assert after.signature is None


def test_the_file_that_comes_of_it_can_be_read() -> None:
    after = rescore(with_trial(math_run(), **MISJUDGED), NOW).after
    assert from_bytes(to_bytes(after), "a.json") == after


def test_another_wording_of_the_sentence_is_no_change() -> None:
    result = make_result(suites=["reasonmath"], write=lambda task: "ANSWER: 7")
    assert not rescore(with_trial(result, message="Another sentence.")).trials


def test_a_changed_pack_is_told_and_leaves_the_run_as_it_was() -> None:
    result = with_stale_pack(with_trial(math_run(), **MISJUDGED))
    found = rescore(result)
    (suite,) = found.suites
    assert (suite.is_stale, suite.not_judged) == (True, 0)
    assert [change.is_stale for change in found.trials] == [True]
    assert found.after.trials == result.trials


def test_a_suite_that_is_not_here_is_told() -> None:
    result = math_run()
    foreign = result.suites[0].model_copy(update={"suite": "poetry"})
    trials = tuple(trial.model_copy(update={"suite": "poetry"}) for trial in result.trials)
    found = rescore(result.model_copy(update={"suites": (foreign,), "trials": trials}))
    (suite,) = found.suites
    assert (suite.current_hash, suite.not_judged) == (None, len(trials))
    assert found.after.trials == trials


def test_an_answer_to_another_prompt_is_not_judged_again() -> None:
    result = with_trial(math_run(), **MISJUDGED, prompt_hash="sha256:" + "1" * 64)
    found = rescore(result)
    assert (found.trials, found.suites[0].not_judged) == ((), 1)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("harness_error", "harness_failed"),
        ("infrastructure_error", "server_failed"),
        ("fail", "engine_crashed"),
    ],
)
def test_an_ending_without_output_stays(outcome: str, reason: str) -> None:
    result = with_trial(math_run(), outcome=outcome, reason=reason, output=None, score=0.0)
    found = rescore(result)
    assert (found.trials, found.suites[0].not_judged) == ((), 0)


def test_a_cut_answer_stays_cut() -> None:
    def cut(task: BenchmarkTask) -> str:
        return task.reference

    result = make_result(suites=["reasonmath"], write=cut)
    trial = {"outcome": "truncated", "score": 0.0, "reason": "answer_budget", "answer": None}
    assert not rescore(with_trial(result, **trial, finish_reason="length")).trials


def test_another_scoring_version_is_a_change_of_its_own() -> None:
    found = rescore(math_run(scoring_version="0.9"))
    assert found.is_changed
    assert found.trials == ()
    assert rescore_json(found)["scoring_version"]["before"] == "0.9"


def test_an_incomplete_run_gets_no_quality_score() -> None:
    result = make_result(profile="smoke")
    aggregates = result.aggregates.model_copy(update={"quality_score": None})
    short = result.model_copy(update={"trials": result.trials[:-1], "aggregates": aggregates})
    assert rescore(short).after.aggregates.quality_score is None
