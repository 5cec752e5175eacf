"""Models x harnesses x suites, from runs."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import Imported, RunPart, RunResult, Trial
from bench_loop.scoring.matrix import (
    AgainstRaw,
    Cell,
    CostRow,
    Matrix,
    Recovery,
    Refusal,
    matrix_of,
)
from bench_loop.scoring.paired import compare_runs
from tests.scoring.make_matrix import arm_run, arm_trials, asked_trial, passing, request
from tests.scoring.make_trials import HASH


def cell(matrix: Matrix, harness: str, suite: str = "loop", model: str = "tiny") -> Cell:
    (found,) = (
        one
        for (row, column, name), one in matrix.cells.items()
        if (row.model_id, column.name, name) == (model, harness, suite)
    )
    return found


def pair(matrix: Matrix, harness: str = "opencode", model: str = "tiny") -> AgainstRaw:
    (found,) = (
        one
        for (row, column), one in matrix.against_raw.items()
        if (row.model_id, column.name) == (model, harness)
    )
    return found


def cost_row(matrix: Matrix, harness: str = "opencode") -> CostRow:
    (found,) = (row for row in matrix.costs if row.harness.name == harness)
    return found


def half(task: int, trial: int) -> Outcome:
    return "pass" if task % 2 else "fail"


# Rows and columns


def test_rows_columns_and_suites_stand_in_the_order_of_the_runs_and_raw_first() -> None:
    matrix = matrix_of(
        [
            arm_run(passing(), "hermes", model="big"),
            arm_run([*passing(suite="agent"), *passing()], model="tiny"),
            arm_run(passing(), "aider", model="big"),
        ]
    )
    assert [model.model_id for model in matrix.models] == ["big", "tiny"]
    assert [harness.name for harness in matrix.harnesses] == ["raw", "hermes", "aider"]
    assert matrix.suites == ("loop", "agent")
    assert len(matrix.cells) == 2 * 3 * 2


def test_a_model_is_known_by_its_weights() -> None:
    digest, other = "sha256:" + "7" * 64, "sha256:" + "8" * 64
    matrix = matrix_of(
        [
            arm_run(passing(), model="tiny", subject={"weights_digest": digest}),
            arm_run(passing(), "aider", model="other", subject={"weights_digest": digest}),
            arm_run(passing(), "hermes", model="tiny", subject={"weights_digest": None}),
            arm_run(passing(), "goose", model="tiny", subject={"weights_digest": other}),
        ]
    )
    assert [model.weights_digest for model in matrix.models] == [digest, other]
    assert {column.name for row, column in matrix.arms if row == matrix.models[0]} == {
        "raw",
        "aider",
        "hermes",
    }


def test_another_version_of_a_harness_is_another_column() -> None:
    runs = [
        arm_run(passing(), "aider", subject={"harness_version": version}) for version in ("1", "2")
    ]
    told = matrix_of(
        runs, configuration_of=lambda run: "custom" if run.subject.harness_version == "2" else None
    )
    assert [(one.version, one.configuration) for one in told.harnesses] == [
        ("1", None),
        ("2", "custom"),
    ]


def test_an_imported_run_and_one_of_speed_alone_are_in_no_cell() -> None:
    stated = Imported(
        format="lm_eval",
        tool="another",
        file_name="a.json",
        file_hash=HASH,
        at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    imported = arm_run(passing(), "aider").model_copy(update={"imported": stated})
    timed = arm_run(passing(), "goose").model_copy(update={"suites": ()})
    matrix = matrix_of([arm_run(passing()), imported, timed])
    assert [harness.name for harness in matrix.harnesses] == ["raw"]
    assert matrix.left_out == (imported.run_id, timed.run_id)


def test_of_no_run_there_is_an_empty_matrix() -> None:
    matrix = matrix_of([])
    assert (matrix.models, matrix.cells, matrix.costs, matrix.variance) == ((), {}, (), None)


# Cells


def test_a_cell_has_its_score_with_interval_tasks_and_trials() -> None:
    found = cell(matrix_of([arm_run(arm_trials(half))]), "raw")
    assert (found.state, found.reason) == ("measured", None)
    assert found.score is not None
    # Wilson, 6 of 12.
    assert (found.score.value, found.score.n) == (50.0, 12)
    assert (found.score.low, found.score.high) == pytest.approx((25.38, 74.62), abs=0.01)
    assert found.pass_cubed is not None
    assert found.pass_cubed.value == 50.0
    assert (found.task_count, found.planned_count, found.trial_count) == (12, 12, 36)


def test_pass_cubed_is_not_the_score() -> None:
    trials = arm_trials(lambda task, trial: "pass" if trial > 1 else "fail")
    found = cell(matrix_of([arm_run(trials)]), "raw")
    assert found.score is not None
    assert found.pass_cubed is not None
    assert (found.score.value, found.pass_cubed.value) == (pytest.approx(200 / 3), 0.0)


def apart(tasks: int = 12, suite: str = "toolcall") -> list[Trial]:
    why = "it takes no tools but its own"
    return arm_trials(
        lambda task, trial: "not_applicable", tasks=tasks, suite=suite, requests=(), message=why
    )


def test_a_suite_that_is_not_applicable_says_why_and_counts_neither_for_nor_against() -> None:
    raw = arm_run([*arm_trials(half), *passing(suite="toolcall")])
    with_it = matrix_of([raw, arm_run([*arm_trials(half), *apart()], "opencode")])
    found = cell(with_it, "opencode", "toolcall")
    assert (found.state, found.reason) == ("not_applicable", "it takes no tools but its own")
    assert (found.score, found.trial_count, found.not_applicable_count) == (None, 0, 36)
    assert pair(with_it).left_out == {"toolcall": "Not applicable: it takes no tools but its own"}
    alone = matrix_of([arm_run(arm_trials(half)), arm_run(arm_trials(half), "opencode")])
    assert pair(with_it).quality == pair(alone).quality
    assert pair(with_it).costs == pair(alone).costs
    assert cost_row(with_it) == cost_row(alone)


def test_a_window_that_is_too_small_is_told_whether_refused_or_forced() -> None:
    refusal = Refusal("tiny", None, "hermes", "context_window", "hermes needs 64,000 tokens")
    other = Refusal("tiny", None, "goose", "tool_calls", "the server refuses tools")
    matrix = matrix_of(
        [arm_run(passing()), arm_run(passing(), "openclaw", forced=("context_window",))],
        refusals=[refusal, other],
    )
    refused, forced = cell(matrix, "hermes"), cell(matrix, "openclaw")
    assert (refused.state, refused.reason) == ("window_too_small", "hermes needs 64,000 tokens")
    assert (refused.score, refused.run_id) == (None, None)
    assert (forced.state, forced.forced) == ("window_too_small", ("context_window",))
    assert forced.score is not None
    assert cell(matrix, "goose").state == "not_applicable"


def test_a_refusal_of_one_model_is_none_of_another() -> None:
    refusal = Refusal("big", None, "hermes", "context_window", "too small")
    found = cell(matrix_of([arm_run(passing())], refusals=[refusal]), "hermes")
    assert (found.state, found.reason) == ("not_run", "Nobody ran it.")


@pytest.mark.parametrize(
    ("trials", "reason"),
    [
        (
            [*passing(11), asked_trial("t11", "infrastructure_error")],
            "1 trial met an infrastructure error.",
        ),
        ([*passing(12)][:-5], "5 of 12 tasks have fewer than 3 trials."),
    ],
)
def test_a_cell_that_lacks_trials_is_incomplete(trials: list[Trial], reason: str) -> None:
    found = cell(matrix_of([arm_run(trials)]), "raw")
    assert (found.state, found.reason) == ("incomplete", reason)
    assert found.score is not None
    assert found.score.value == 100.0


def test_a_cell_that_lacks_tasks_is_incomplete() -> None:
    run = arm_run(passing(12))
    cut = run.model_copy(update={"trials": tuple(passing(9))})
    assert cell(matrix_of([cut]), "raw").reason == "9 of 12 tasks were run."
    bare = run.model_copy(update={"trials": ()})
    assert cell(matrix_of([bare]), "raw").state == "not_run"


def test_a_complete_run_goes_before_a_later_one_that_is_not() -> None:
    complete = arm_run(passing(), started_at="2026-01-02T03:04:05Z")
    later = arm_run(
        arm_trials(half),
        run_id="20260103T030405Z-abcdefghij",
        started_at="2026-01-03T03:04:05Z",
        status="incomplete",
        status_reason="stopped",
    )
    assert cell(matrix_of([later, complete]), "raw").run_id == complete.run_id
    done = later.model_copy(update={"status": "complete", "status_reason": None})
    assert cell(matrix_of([complete, done]), "raw").run_id == done.run_id


def test_two_runs_of_one_id_are_two_runs() -> None:
    one, other = arm_run(passing()), arm_run(arm_trials(half), "opencode")
    other = other.model_copy(update={"run_id": one.run_id})
    matrix = matrix_of([one, other])
    scores = [cell(matrix, harness).score for harness in ("raw", "opencode")]
    assert [score.value for score in scores if score] == [100.0, 50.0]


# Against raw


def test_the_difference_is_that_of_two_compared_runs() -> None:
    raw = arm_run([*arm_trials(half), *arm_trials(half, suite="agent")])
    harness = arm_run([*passing(), *arm_trials(half, suite="agent")], "opencode")
    found = pair(matrix_of([raw, harness]))
    expected = compare_runs(raw, harness, may_harness_differ=True)
    assert found.quality == expected.quality
    assert tuple(found.suites.values()) == expected.suites
    assert found.suites["loop"].verdict == found.verdict == "better"
    assert found.suites["agent"].difference == 0.0
    assert found.is_one_matrix


def test_other_settings_are_a_reason_and_no_difference() -> None:
    raw = arm_run(passing(), settings={"trials": 1})
    found = pair(matrix_of([raw, arm_run(passing(), "opencode")]))
    assert found.reasons == ("They differ in number of trials: 1 against 3.",)
    assert (found.quality, found.suites, found.costs) == (None, {}, None)
    assert found.verdict == "not comparable"


def test_raw_of_the_same_matrix_goes_before_a_later_raw() -> None:
    own = arm_run(arm_trials(half))
    later = arm_run(
        passing(),
        matrix_id=None,
        run_id="20260109T030405Z-abcdefghij",
        started_at="2026-01-09T03:04:05Z",
    )
    found = pair(matrix_of([own, later, arm_run(passing(), "opencode")]))
    assert (found.raw_run_id, found.is_one_matrix) == (own.run_id, True)


def test_a_model_without_raw_is_against_nothing() -> None:
    matrix = matrix_of([arm_run(passing(), model="big"), arm_run(passing(), "opencode")])
    assert matrix.against_raw == {}
    assert cost_row(matrix).wall_s is None
    assert cost_row(matrix).model_count == 1


def test_an_arm_of_harness_errors_is_worse_and_has_no_overhead() -> None:
    crashed = arm_run(arm_trials(lambda task, trial: "harness_error"), "opencode")
    found = pair(matrix_of([arm_run(passing()), crashed]))
    assert found.quality is not None
    assert (found.quality.difference, found.verdict) == (-100.0, "worse")
    assert found.costs is not None
    assert (found.costs.both_judged.warm, found.costs.both_pass.warm) == (None, None)


def test_no_pass_at_all_and_one_trial_are_told_without_a_verdict() -> None:
    failing = arm_trials(lambda task, trial: "fail")
    found = pair(matrix_of([arm_run(failing), arm_run(failing, "opencode")]))
    assert found.verdict == "floor or ceiling"
    assert found.costs is not None
    assert found.costs.both_pass.warm is None
    assert found.costs.both_judged.warm is not None
    single = [asked_trial()]
    found = pair(matrix_of([arm_run(single), arm_run(single, "opencode")]))
    assert found.quality is not None
    assert (found.quality.low, found.quality.high) == (-100.0, 100.0)


def test_identical_arms_differ_in_nothing_and_cost_nothing() -> None:
    trials = arm_trials(half, requests=[request(700)])
    matrix = matrix_of([arm_run(trials), arm_run(trials, "opencode")])
    row = cost_row(matrix)
    assert row.quality is not None
    assert row.quality.value == 0.0
    added = (row.wall_s, row.wall_judged_s, row.first_prompt_added, row.prompt_added)
    assert [one.value for one in added if one] == [0.0] * 4
    ratios = (row.wall_ratio, row.wall_judged_ratio, row.first_prompt_ratio, row.prompt_ratio)
    assert [one.value for one in ratios if one] == [1.0] * 4


def test_a_resumed_matrix_is_the_matrix() -> None:
    trials = arm_trials(half, requests=[request(700)])
    runs = [arm_run(trials), arm_run(trials, "opencode")]
    part = {"started_at": runs[0].started_at, "finished_at": runs[0].finished_at, "runtime_s": 1.0}
    parts = (RunPart(**part, block=1), RunPart(**part, block=3, after="pause", is_cut_off=True))
    resumed = [
        run.model_copy(update={"parts": parts, "trials": tuple(reversed(run.trials))})
        for run in runs
    ]
    assert matrix_of(resumed) == matrix_of(runs)


# Over models


def model_runs(model: str, added_s: float) -> list[RunResult]:
    raw = arm_trials(half, seconds=2.0, requests=[request(100)])
    harness = arm_trials(half, seconds=2.0 + added_s, requests=[request(4100)] * 2)
    return [arm_run(raw, model=model), arm_run(harness, "opencode", model=model)]


def test_costs_are_medians_over_the_models() -> None:
    runs = [
        run for n, added in enumerate((1.0, 9.0, 3.0, 4.0, 2.0, 5.0, 8.0))
        for run in model_runs(f"m{n}", added)
    ]  # fmt: skip
    recovery = Recovery({"http_500": True, "stall": False, "tool_error": None})
    matrix = matrix_of(runs, recoveries={("opencode", "1.0"): recovery})
    row = cost_row(matrix)
    assert row.wall_s is not None
    # Seven models: from the least to the most.
    assert (row.wall_s.value, row.wall_s.low, row.wall_s.high, row.wall_s.n) == (
        pytest.approx(4.0), pytest.approx(1.0), pytest.approx(9.0), 7,
    )  # fmt: skip
    assert row.first_prompt_ratio is not None
    assert row.first_prompt_ratio.value == pytest.approx(41.0)
    assert row.prompt_added is not None
    assert row.prompt_added.value == 8100.0
    assert row.requests is not None
    assert row.requests.value == 2.0
    assert row.cold_s is None
    assert row.recovery == recovery
    assert (recovery.recovered, recovery.tried) == (1, 2)
    raw = cost_row(matrix, "raw")
    assert (raw.quality, raw.wall_s, raw.recovery) == (None, None, None)
    assert raw.requests is not None


# Variance


def full_matrix(models: int, harnesses: Sequence[str], **settings: Any) -> list[RunResult]:
    draw = random.Random(5)

    def outcome(task: int, trial: int) -> Outcome:
        return "pass" if draw.random() < 0.5 else "fail"

    return [
        arm_run(arm_trials(outcome), harness, model=f"m{model}", **settings)
        for model in range(models)
        for harness in harnesses
    ]


def test_the_variance_is_of_the_largest_complete_block_which_is_named() -> None:
    runs = full_matrix(4, ("raw", "aider", "opencode"))
    runs.append(arm_run(passing(5), "hermes", model="m0"))
    found = matrix_of(runs).variance
    assert found is not None
    assert [model.model_id for model in found.models] == ["m0", "m1", "m2", "m3"]
    assert [harness.name for harness in found.harnesses] == ["raw", "aider", "opencode"]
    assert (len(found.tasks), found.trial_count) == (12, 4 * 3 * 12 * 3)
    assert not found.table.is_descriptive
    assert sum(part.share.value for part in found.table.parts) == pytest.approx(100.0)


def test_a_small_matrix_is_only_described() -> None:
    found = matrix_of(full_matrix(2, ("raw", "aider"))).variance
    assert found is not None
    assert found.table.is_descriptive


def test_one_arm_has_no_block() -> None:
    assert matrix_of([arm_run(passing())]).variance is None


def test_a_run_with_other_settings_is_not_in_the_block() -> None:
    runs = full_matrix(3, ("raw", "aider", "opencode"))
    wider = {"context_window": 99_999}
    others = [
        arm_run(passing(), name, model="m9", settings=wider, subject={"context": None})
        for name in ("raw", "aider", "opencode")
    ]
    found = matrix_of([*runs, *others]).variance
    assert found is not None
    assert found.other_settings == tuple(one.run_id for one in others)
    assert len(found.models) == 3


# Speed


def test_a_hundred_runs_take_less_than_two_seconds() -> None:
    draw = random.Random(6)

    def outcome(task: int, trial: int) -> Outcome:
        return "pass" if draw.random() < 0.6 else "fail"

    harnesses = ("raw", "aider", "goose", "hermes", "openclaw")
    runs = [
        arm_run(arm_trials(outcome, requests=[request(900)] * 4), harness, model=f"m{model:02}")
        for model in range(20)
        for harness in harnesses
    ]
    began = time.process_time()
    matrix = matrix_of(runs)
    assert time.process_time() - began < 2
    assert len(matrix.against_raw) == 80


def test_many_runs_of_one_arm_are_held_against_many_of_raw_without_delay() -> None:
    """Every pair of them may be the one that says most: 10,000 of 200 uploads of one model."""
    raw, aider = (arm_run(arm_trials(half, tasks=200), name) for name in ("raw", "aider"))
    runs = [one.model_copy() for one in (raw, aider) for _ in range(100)]
    began = time.process_time()
    assert pair(matrix_of(runs), "aider").quality is not None
    assert time.process_time() - began < 1


def test_every_figure_of_the_cost_table_is_told_of_a_full_matrix() -> None:
    cold = [
        one.model_copy(update={"is_cold": one.task_id.endswith("t00")})
        for one in arm_trials(half, requests=[request(10)], tool_calls=())
    ]
    matrix = matrix_of([arm_run(cold), arm_run(cold, "opencode")])
    row = cost_row(matrix)
    missing = {one.name for one in fields(row) if getattr(row, one.name) is None}
    assert missing == {"malformed", "useless", "recovery"}
