"""A matrix as text: what stands in a field, why, and what may be said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_loop.report.matrix import SOURCE_WORDS, matrix_view
from bench_loop.report.matrix_means import all_means
from bench_loop.report.matrix_records import CostLine, HeatCell
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.harness_costs import Added, AddedTime
from bench_loop.scoring.matrix import Cell, Matrix, MatrixVariance, Recovery, Task
from bench_loop.scoring.paired import Verdict
from bench_loop.scoring.variance import Part, Source, VarianceTable
from tests.look import matrix_samples
from tests.look.matrix_parts import (
    MODEL,
    RAW,
    SUITE,
    arm,
    cost_row,
    costs,
    difference,
    harness,
    matrix,
    one_pair,
    pair,
    score,
)


def lede(made: Matrix) -> str:
    return "".join(span.text for span in matrix_view(made).lede)


def change(made: Matrix) -> HeatCell:
    found = matrix_view(made).change
    assert found is not None
    return found.rows[0].suites[0][0]


def last_line(made: Matrix) -> CostLine:
    return matrix_view(made).costs.lines[-1]


# --- Fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (0.0, "change-0"),
        (2.9, "change-0"),
        (3.0, "change-plus-1"),
        (8.0, "change-plus-2"),
        (-14.0, "change-minus-3"),
    ],
)
def test_a_change_takes_its_colour_at_3_8_and_14_points(value: float, kind: str) -> None:
    found = difference(value, value - 5, value + 5)
    assert change(one_pair(pair(found))).kind == kind


def test_a_change_stands_with_its_interval_and_says_whether_it_excludes_zero() -> None:
    sure = change(one_pair(pair(difference(10.0, 2.0, 18.0))))
    assert (sure.text, sure.below, sure.is_sure) == ("+10.0", "+2 to +18", True)
    assert not change(one_pair(pair(difference(10.0, -2.0, 22.0)))).is_sure
    # Four tasks that all went one way: the interval leaves zero out, and chance does so too often.
    assert not change(one_pair(pair(difference(33.0, 2.0, 64.0, "floor or ceiling")))).is_sure
    assert "better, 6 of 12 tasks came out differently" in sure.title


@pytest.mark.parametrize(
    ("value", "kind"), [(19.9, "score-0"), (20.0, "score-1"), (65.0, "score-4"), (80.0, "score-5")]
)
def test_a_score_takes_its_colour_by_its_step(value: float, kind: str) -> None:
    view = matrix_view(one_pair(cell=score(value)))
    assert view.scores.rows[0].suites[0][1].kind == kind


@pytest.mark.parametrize(
    ("cell", "text", "spoken", "kind"),
    [
        (Cell("not_applicable", "It has no tools.", run_id="h"), "n/a", "not applicable", "absent"),
        (Cell("window_too_small", "It needs 64K."), "win", "window too small", "absent"),
        (Cell("not_run", "Nobody ran it."), "·", "not run", "not-run"),
        (Cell("incomplete", "The server left.", run_id="h"), "*", "incomplete", "not-run"),
    ],
)
def test_absence_is_a_word_with_its_reason_and_never_a_number(
    cell: Cell, text: str, spoken: str, kind: str
) -> None:
    view = matrix_view(one_pair(cell=cell))
    assert view.change is not None
    for found in (view.change.rows[0].suites[0][0], view.scores.rows[0].suites[0][1]):
        assert (found.text, found.below, found.kind) == (text, "", kind)
        assert found.spoken == f"{spoken}: {(cell.reason or '').removesuffix('.')}"


def test_what_nobody_ran_needs_no_reason_and_everything_else_has_one_below() -> None:
    never = matrix_view(one_pair(cell=Cell("not_run", "Nobody ran it.")))
    assert never.whys == ()
    apart = matrix_view(one_pair(cell=Cell("not_applicable", "It has no tools.", run_id="h")))
    assert [(why.sign, why.where, why.reason) for why in apart.whys] == [
        ("n/a", "aider", "It has no tools")
    ]


def test_a_score_that_is_not_whole_has_a_mark_and_its_reason() -> None:
    cell = replace(score(), state="incomplete", reason="3 of 12 tasks were run.")
    view = matrix_view(one_pair(pair(difference()), cell))
    found = view.scores.rows[0].suites[0][1]
    assert (found.text, found.mark) == ("50", "*")
    assert "3 of 12 tasks were run" in found.title
    assert change(one_pair(pair(difference()), cell)).mark == "*"
    assert ("*", "3 of 12 tasks were run") in {(why.sign, why.reason) for why in view.whys}


def test_a_censored_score_says_what_its_interval_is() -> None:
    view = matrix_view(one_pair(cell=replace(score(), is_censored=True)))
    assert "all wrong to all right" in view.scores.rows[0].suites[0][1].title


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (pair(reasons=["The windows differ."]), "The windows differ."),
        (pair(left_out={SUITE: "No task is common."}), "No task is common."),
    ],
)
def test_runs_that_are_not_comparable_are_a_dash_that_says_why(found: object, reason: str) -> None:
    made = one_pair(found)  # type: ignore[arg-type]
    cell = change(made)
    assert (cell.kind, cell.text) == ("dash", "–")
    assert cell.spoken == f"not comparable: {reason}"
    assert ("–", reason) in {(why.sign, why.reason) for why in matrix_view(made).whys}


def test_without_a_run_in_raw_there_is_no_change() -> None:
    cell = change(one_pair(raw=Cell("not_run", "Nobody ran it.")))
    assert cell.spoken == "not comparable: Raw has no score there: not run."


def test_raw_alone_has_scores_and_nothing_to_change() -> None:
    view = matrix_view(matrix({(MODEL, RAW, SUITE): score()}))
    assert view.change is None
    assert len(view.scores.heads) == 1


# --- Names ----------------------------------------------------------------------------------------


def test_a_configuration_of_ones_own_is_marked_wherever_it_stands() -> None:
    own = harness(configuration="custom")
    view = matrix_view(one_pair(pair(difference()), of=own))
    assert view.change is not None
    assert view.change.heads[0].mark == "custom"
    assert view.costs.lines[-1].head.mark == "custom"
    assert [why.where for why in view.whys if why.sign == "custom"] == ["aider 0.86.2"]
    assert lede(one_pair(pair(difference()), of=own)).startswith("aider (custom) is better")


def test_two_versions_of_a_harness_are_told_apart() -> None:
    cells = {(MODEL, one, SUITE): score() for one in (RAW, harness(), harness(version="0.87.0"))}
    heads = matrix_view(matrix(cells)).scores.heads
    assert [head.is_named_alone for head in heads] == [True, False, False]


def test_two_models_of_one_name_show_a_piece_of_their_weights() -> None:
    other = replace(MODEL, weights_digest="sha256:" + "c3" * 32)
    rows = matrix_view(matrix({(one, RAW, SUITE): score() for one in (MODEL, other)})).scores.rows
    assert [row.model.note for row in rows] == ["a1a1a1a1", "c3c3c3c3"]
    thinking = replace(MODEL, thinking=True)
    (row,) = matrix_view(matrix({(thinking, RAW, SUITE): score()})).scores.rows
    assert row.model.note == "thinking"


def test_hostile_names_and_reasons_are_made_printable() -> None:
    evil = "a\x00\u202eb\n" + "x" * 900
    made = matrix(
        {
            (replace(MODEL, model_id=evil, quantization=evil), RAW, evil): score(),
            (replace(MODEL, model_id=evil, quantization=evil), harness(evil, evil), evil): Cell(
                "not_applicable", evil, run_id="h"
            ),
        }
    )
    text = repr(matrix_view(made))
    assert "\\x00" not in text.replace("\\\\x00", "")
    assert "\\u202e" not in text.replace("\\\\u202e", "")
    assert "x" * 500 not in text


# --- Sentences ------------------------------------------------------------------------------------


def test_few_tasks_are_called_too_few() -> None:
    made = one_pair(pair(difference(40.0, 10.0, 70.0, tasks=3)))
    assert lede(made) == "3 tasks are too few to tell what aider gains or loses against raw."


def test_a_sure_difference_is_named_with_its_interval() -> None:
    assert lede(one_pair(pair(difference()))) == (
        "aider is better than raw with qwen3:8b +10.0 (+2 to +18)."
    )


@pytest.mark.parametrize("verdict", ["too close to call", "no worse", "equal", "floor or ceiling"])
def test_of_what_is_not_sure_only_the_verdict_is_said(verdict: Verdict) -> None:
    made = one_pair(pair(difference(1.0, -8.0, 10.0, verdict)))
    assert lede(made) == (
        f"aider against raw: +1.0 (−8 to +10) points of quality, {verdict} on 12 tasks."
    )


def test_no_difference_in_any_pair_is_not_said_to_be_none() -> None:
    others = [replace(MODEL, model_id=name, weights_digest=None) for name in ("a", "b")]
    cells = {(one, of, SUITE): score() for one in others for of in (RAW, harness())}
    pairs = {(one, harness()): pair(difference(1, -8, 10, "too close to call")) for one in others}
    assert lede(matrix(cells, pairs)) == (
        "No harness is told apart from raw in quality with any model:"
        " 2 pairs, none of them better or worse."
    )


def test_among_many_pairs_one_that_looks_better_may_be_so_by_chance() -> None:
    others = [replace(MODEL, model_id=f"m{n}", weights_digest=None) for n in range(10)]
    cells = {(one, of, SUITE): score() for one in others for of in (RAW, harness())}
    unsure = replace(difference(1, -8, 10, "too close to call"), p_value=0.5)
    looks = replace(difference(), p_value=0.03)
    pairs = {(one, harness()): pair(unsure) for one in others}
    made = matrix(cells, {**pairs, (others[0], harness()): pair(looks)})
    assert lede(made) == (
        "No harness is told apart from raw in quality with any model: 10 pairs, none of them"
        " surely better or worse (one looks better or worse alone, too little to be sure among"
        " so many)."
    )
    surely = replace(difference(), p_value=0.001)
    made = matrix(cells, {**pairs, (others[0], harness()): pair(surely)})
    assert lede(made) == (
        "aider is better than raw with m0 +10.0 (+2 to +18);"
        " the other 9 pairs are not told apart from raw."
    )


def test_two_versions_of_a_harness_are_told_apart_in_the_answer_too() -> None:
    one, other = harness(), harness(version="0.87.0", configuration="custom")
    found = {
        (MODEL, one): pair(difference(), of_costs=costs(Estimate(2.0, 1.0, 3.0, 12))),
        (MODEL, other): pair(difference(), of_costs=costs(Estimate(9.0, 8.0, 10.0, 12))),
    }
    made = matrix({(MODEL, of, SUITE): score() for of in (RAW, one, other)}, found)
    said = lede(made)
    assert "aider 0.86.2 is better" in said
    assert "aider 0.87.0 (custom) is better" in said
    assert "s (aider 0.87.0 (custom))" in said
    assert change(made).title.startswith("qwen3:8b Q4_K_M in aider 0.86.2,")


def test_two_configurations_of_one_version_show_a_piece_of_their_hash() -> None:
    own = harness(configuration="custom")
    other = replace(own, config_hash="sha256:" + "c3" * 32)
    cells = {(MODEL, one, SUITE): score() for one in (RAW, own, other)}
    heads = matrix_view(matrix(cells)).scores.heads
    assert [head.version for head in heads[1:]] == ["0.86.2 b2b2b2b2", "0.86.2 c3c3c3c3"]


def test_seconds_of_tasks_that_both_pass_are_not_mixed_with_others() -> None:
    goose, ten = harness("goose", "1"), Added(Estimate(10.0, 9.0, 11.0, 12), None)
    both = costs(Estimate(2.0, 1.0, 3.0, 12))
    only_judged = replace(costs(), both_judged=AddedTime(cold=None, warm=ten))
    found = {
        (MODEL, harness()): pair(difference(), of_costs=both),
        (MODEL, goose): pair(difference(), of_costs=only_judged),
    }
    made = matrix({(MODEL, of, SUITE): score() for of in (RAW, harness(), goose)}, found)
    assert "They add 2.0 (1.0–3.0) s to a warm task that both pass." in lede(made)


def test_medians_of_other_numbers_of_models_say_so() -> None:
    other, goose = replace(MODEL, model_id="b", weights_digest=None), harness("goose", "1")
    cells = {(one, of, SUITE): score() for one in (MODEL, other) for of in (RAW, harness(), goose)}
    rows = [
        cost_row(harness(), wall_s=Estimate(2.0, None, None, 2)),
        cost_row(goose, wall_s=Estimate(9.0, None, None, 1)),
    ]
    assert lede(matrix(cells, rows=[cost_row(RAW), *rows])).endswith(
        "In the median over models they add 2 (aider, 2 models) to 9 s (goose, 1 model)"
        " to a warm task that both pass."
    )
    rows[1] = cost_row(goose, wall_s=Estimate(9.0, None, None, 2))
    assert "In the median of 2 models they add 2 (aider) to 9 s" in lede(
        matrix(cells, rows=[cost_row(RAW), *rows])
    )


def test_times_of_runs_that_took_no_turns_are_not_in_the_answer() -> None:
    of_costs = costs(Estimate(7.3, 6.9, 7.7, 12))
    assert " s to a warm task" in lede(one_pair(pair(difference(), of_costs=of_costs)))
    apart = pair(difference(), of_costs=of_costs, is_one_matrix=False)
    assert " s to a warm task" not in lede(one_pair(apart))


def test_what_was_compared_on_some_suites_only_is_said_of_these() -> None:
    made = matrix(
        {
            (MODEL, RAW, SUITE): score(),
            (MODEL, RAW, "agent"): score(),
            (MODEL, harness(), SUITE): score(),
            (MODEL, harness(), "agent"): Cell("not_applicable", "It has no tools.", run_id="h"),
        },
        {(MODEL, harness()): pair(difference(), left_out={"agent": "It has no tools."})},
    )
    assert lede(made).startswith("aider is better than raw on loop_code_fix with qwen3:8b")


def test_what_cannot_be_compared_is_said_with_its_reason() -> None:
    made = one_pair(pair(reasons=["The windows differ."]))
    assert lede(made) == "Nothing is compared with raw: the windows differ."
    assert "no model was run both" in lede(one_pair(raw=Cell("not_run", "Nobody ran it.")))
    assert lede(matrix({(MODEL, RAW, SUITE): Cell("not_run")})) == "Nothing was run yet."


def test_costs_of_one_model_stand_with_their_own_intervals() -> None:
    seconds, ratio = Estimate(7.3, 6.9, 7.7, 12), Estimate(1.8, 1.6, 2.0, 12)
    made = one_pair(pair(difference(), of_costs=costs(seconds, ratio)))
    assert lede(made).endswith(
        "aider adds 7.3 (6.9–7.7) s to a warm task that both pass"
        " and sends 1.80× (1.60–2.00) the prompt tokens of raw."
    )


# --- Costs ----------------------------------------------------------------------------------------


def test_raw_is_the_baseline_and_has_its_own_figures() -> None:
    first = matrix_view(one_pair(pair(difference()))).costs.lines[0]
    assert (first.head.name, first.quality, first.quality_absence) == ("raw", None, "baseline")


def test_of_one_model_quality_has_its_verdict_and_plot() -> None:
    line = last_line(one_pair(pair(difference())))
    assert line.word is not None
    assert line.plot is not None
    assert (line.word.text, line.plot.is_sure, line.n) == ("better", True, "12 tasks")


def test_medians_of_few_models_have_no_whisker_and_say_of_how_many() -> None:
    other = replace(MODEL, model_id="b", weights_digest=None)
    cells = {(one, of, SUITE): score() for one in (MODEL, other) for of in (RAW, harness())}
    quality, requests = Estimate(4.0, None, None, 2), Estimate(7.5, None, None, 1)
    row = cost_row(harness(), model_count=2, quality=quality, requests=requests)
    view = matrix_view(matrix(cells, rows=[cost_row(RAW, model_count=2), row]))
    line = view.costs.lines[-1]
    assert line.plot is not None
    assert (line.plot.whisker, line.n) == (None, "2 models")
    assert line.cost[-1].below == ("n 1",)
    assert view.each is not None


def test_unknown_costs_are_dashes_with_a_reason() -> None:
    cells = [*last_line(one_pair()).cost, *last_line(one_pair()).conduct]
    assert {cell.value for cell in cells if cell.is_absent} == {"–"}
    assert all(cell.title for cell in cells if cell.is_absent)


def test_a_percentage_stands_with_its_interval() -> None:
    figures = arm(malformed=Estimate(4.2, 1.0, 17.0, 12))
    made = replace(one_pair(), arms={(MODEL, harness()): figures})
    cell = last_line(made).conduct[0]
    assert (cell.value, cell.below) == ("4", ("1–17",))


def test_recovered_faults_are_counted_of_those_that_found_a_place() -> None:
    recovery = Recovery({"http_500": True, "stall": False, "unknown_tool": None})
    made = replace(one_pair(), costs=(cost_row(RAW), cost_row(harness(), recovery)))
    cell = last_line(made).conduct[-1]
    assert cell.value == "1 of 2"
    assert cell.title == "http 500: recovered, stall: did not, unknown tool: no place for it"


def test_the_standard_configurations_faults_say_nothing_of_a_custom_one() -> None:
    own = harness(configuration="custom")
    recovery = Recovery({"http_500": True})
    made = replace(one_pair(of=own), costs=(cost_row(RAW), cost_row(own, recovery)))
    line = last_line(made)
    assert (line.conduct[-1].value, line.cost[3].value) == ("–", "–")
    assert last_line(one_pair()).cost[3].value != "–"


def test_why_times_say_nothing_is_told() -> None:
    found = pair(difference(), of_costs=costs(None, None, "The engines differ."))
    whys = matrix_view(one_pair(found)).whys
    assert [(why.where, why.reason) for why in whys] == [
        ("aider; wall time", "The engines differ.")
    ]


def test_what_the_server_failed_is_told_of_each_harness() -> None:
    made = replace(one_pair(), arms={(MODEL, harness()): arm(infrastructure_count=3)})
    (notice,) = matrix_view(made).notices
    assert notice.text.startswith("3 trials left out, since the server failed (aider 3).")


def test_how_much_a_limit_cut_is_told_of_each_harness() -> None:
    few, many = (arm(truncated=Estimate(share, 0.0, 50.0, 12)) for share in (1.0, 31.0))
    made = replace(one_pair(), arms={(MODEL, RAW): few, (MODEL, harness()): many})
    (notice,) = matrix_view(made).notices
    assert "limit of tokens, turns, requests or time (aider 31\u202f%)." in notice.text


def test_arms_of_other_tasks_are_not_shown_as_if_they_were_alike() -> None:
    assert matrix_view(one_pair()).notices == ()
    apart = Cell("not_applicable", "It takes no tools.", run_id="h")
    cells = {
        (MODEL, RAW, SUITE): score(),
        (MODEL, harness(), SUITE): score(),
        (MODEL, RAW, "toolcall"): score(),
        (MODEL, harness(), "toolcall"): apart,
    }
    made = matrix(
        cells, arms={(MODEL, RAW): arm(task_count=24), (MODEL, harness()): arm(task_count=12)}
    )
    (notice,) = matrix_view(made).notices
    assert notice.text.startswith(
        "Not all harnesses were scored on the same tasks (raw 24 tasks, aider 12 tasks)."
    )


def test_pairs_that_did_not_take_turns_are_counted() -> None:
    (notice,) = matrix_view(one_pair(pair(difference(), is_one_matrix=False))).notices
    assert notice.text.startswith("1 pair of 1 did not take turns on one server")


# --- Variance -------------------------------------------------------------------------------------


HARNESSES = (RAW, harness(), harness("goose", "1"))


def with_block(variance: MatrixVariance) -> Matrix:
    return matrix({(MODEL, one, SUITE): score() for one in HARNESSES}, variance=variance)


def block(sources: dict[Source, float], *, is_descriptive: bool, models: int = 3) -> MatrixVariance:
    return MatrixVariance(
        models=tuple(replace(MODEL, model_id=str(number)) for number in range(models)),
        harnesses=HARNESSES,
        tasks=tuple(
            Task(SUITE, f"t{n}", "sha256:" + "e5" * 32, "sha256:" + "d4" * 32) for n in range(12)
        ),
        trial_count=324,
        other_settings=(),
        table=VarianceTable(
            is_descriptive,
            tuple(
                Part(source, None, Estimate(share, None, None, 12))
                for source, share in sources.items()
            ),
        ),
    )


def test_shares_of_sums_of_squares_are_called_descriptive() -> None:
    made = with_block(block({"model": 60, "rest": 40}, is_descriptive=True))
    view = matrix_view(made).variance
    assert view.title == "Sums of squares of these trials"
    assert "estimate nothing" in view.note
    assert "lies between these models" not in lede(made)


def test_components_of_variance_are_said() -> None:
    shares: dict[Source, float] = {"model": 61, "harness": 6, "rest": 33}
    made = with_block(block(shares, is_descriptive=False))
    assert lede(made).endswith(
        "Of what makes single trials differ, 61\u202f% lies between these models"
        " and 6\u202f% between these harnesses."
    )
    view = matrix_view(made).variance
    assert "nothing of other models or harnesses" in view.note
    assert view.basis == "3 models × 3 harnesses × 12 tasks, 324 trials"
    assert [row.figure.value for row in view.rows] == ["61", "6", "33"]


def test_of_one_model_nothing_is_said_to_come_from_models() -> None:
    shares: dict[Source, float] = {"model": 0, "harness": 6, "model x task": 0, "task": 94}
    variance = block(shares, is_descriptive=True, models=1)
    rows = matrix_view(with_block(variance)).variance.rows
    assert [row.source for row in rows] == ["harness", "task"]


def test_without_a_block_the_reason_stands_in_its_place() -> None:
    view = matrix_view(one_pair()).variance
    assert view.rows == ()
    assert view.note.startswith("No block of two models or harnesses")


# --- Meanings -------------------------------------------------------------------------------------


def test_every_figure_has_a_sentence_of_its_own() -> None:
    view = matrix_view(matrix_samples.large())
    assert view.change is not None
    columns = (view.quality_column, *view.cost_columns, *view.conduct_columns)
    told = [view.change.means, view.scores.means, *(column.means for column in columns)]
    told += [row.means for row in view.variance.rows]
    assert all(means.endswith(".") and len(means) > 30 for means in told)
    assert len(set(told)) == len(told)
    assert view.variance.rows
    assert set(told) <= {means for _, means in all_means(SOURCE_WORDS)}


# --- The whole ------------------------------------------------------------------------------------


def test_a_simulated_matrix_fills_every_field() -> None:
    view = matrix_view(matrix_samples.large())
    assert view.change is not None
    for table in (view.change, view.scores):
        fields = [cell for row in table.rows for suite in row.suites for cell in suite]
        assert len(fields) == 5 * 3 * len(table.heads)
        assert all(cell.text and cell.title for cell in fields)
    signs = {why.sign for why in view.whys}
    assert signs == {"n/a", "win", "custom"}
